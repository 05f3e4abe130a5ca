// Polling elements send their request on `app:poll` while the page is visible, and some also on
// `app:poll-hidden`, to update the tab title. A line above the page reports a missing response; the
// next response removes it.
const EVERY_MS = 4000; // a decision page must show a change within five seconds
const HIDDEN_EVERY_MS = 60000;
const line = document.getElementById("unrefreshed");
const failing = new Set();
let goodAt = new Date();

function poll() {
  if (navigator.onLine) document.body.dispatchEvent(new Event("app:poll"));
  else failed("network");
}

function failed(what) {
  failing.add(what);
  if (line.childElementCount) return;
  const message = document.getElementById("unrefreshed-message").content.cloneNode(true);
  const text = message.querySelector("span");
  const time = goodAt.toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
  text.textContent = text.textContent.replace("{time}", time);
  line.append(message);
}

function worked(what) {
  failing.delete("network");
  failing.delete(what);
  if (failing.size) return;
  goodAt = new Date();
  line.replaceChildren();
}

// the page reports the error, so htmx need not log it
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt.matches("[data-quiet]")) detail.isError = false;
});

document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
  if (!elt.matches("[data-quiet]")) return;
  if (xhr.status >= 200 && xhr.status < 400) worked(elt.id);
  else failed(elt.id);
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-refresh]")) poll();
});

addEventListener("offline", () => failed("network"));
addEventListener("online", poll);
setInterval(() => document.hidden || poll(), EVERY_MS);
setInterval(() => {
  if (document.hidden && navigator.onLine) document.body.dispatchEvent(new Event("app:poll-hidden"));
}, HIDDEN_EVERY_MS);
