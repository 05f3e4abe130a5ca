// Parts of a page that wait for news ask at each tick, as long as somebody looks at the page.
const EVERY_MS = 5000;

setInterval(() => {
  if (!document.hidden && navigator.onLine) document.body.dispatchEvent(new Event("app:tick"));
}, EVERY_MS);
