// Parts of a page that wait for news ask at each tick, as long as somebody looks at the page. While
// they get no answer a line above the page says so: all that was shown stays, and the next answer
// takes the line away.
const EVERY_MS = 5000;
const line = document.getElementById("unrefreshed");
const failing = new Set();
let goodAt = new Date();

function tick() {
  if (navigator.onLine) document.body.dispatchEvent(new Event("app:tick"));
  else failed("network");
}

function failed(what) {
  failing.add(what);
  if (line.childElementCount) return;
  const words = document.getElementById("unrefreshed-words").content.cloneNode(true);
  const said = words.querySelector("span");
  const time = goodAt.toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
  said.textContent = said.textContent.replace("{time}", time);
  line.append(words);
}

function worked(what) {
  failing.delete("network");
  failing.delete(what);
  if (failing.size) return;
  goodAt = new Date();
  line.replaceChildren();
}

// no error for the console: it is told to whoever looks at the page
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt.matches("[data-quiet]")) detail.isError = false;
});

document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
  if (!elt.matches("[data-quiet]")) return;
  if (xhr.status >= 200 && xhr.status < 400) worked(elt.id);
  else failed(elt.id);
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-refreshes]")) tick();
});

addEventListener("offline", () => failed("network"));
addEventListener("online", tick);
setInterval(() => document.hidden || tick(), EVERY_MS);
