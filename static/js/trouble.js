// A request that failed is sent again with the same keys, so the server stores it once. The words
// stay in their box meanwhile. What the server refuses for good is shown above the form.
const WAITS = [2, 5, 15, 30];
const AGAIN = new Set([0, 408, 425, 429]);

let timer;
let tries = 0;
let sendAgain;

function failed({ detail: { requestConfig, xhr } }) {
  const { elt } = requestConfig;
  const asked = Number(xhr.getResponseHeader("Retry-After"));
  const seconds = Math.max(WAITS[Math.min(tries, WAITS.length - 1)], asked || 0);
  tries += 1;
  sendAgain = () => {
    clearTimeout(timer);
    sendAgain = undefined;
    if (elt.isConnected) htmx.trigger(elt, elt.matches("form") ? "submit" : "click");
  };
  timer = setTimeout(sendAgain, seconds * 1000);
  tell(seconds);
}

function tell(seconds) {
  const slot = document.querySelector("[data-trouble]");
  if (!slot) return;
  const words = slot.querySelector("template").content.cloneNode(true);
  const line = words.querySelector("[data-words]");
  line.textContent = line.dataset.words.replace("{seconds}", seconds);
  slot.querySelector(".note")?.remove();
  slot.append(words);
  slot.hidden = false;
}

function refused(detail) {
  const slot = document.querySelector("[data-refusal]");
  if (!slot) return;
  detail.shouldSwap = true;
  detail.target = slot;
  detail.swapOverride = "innerHTML";
  slot.hidden = false;
}

document.addEventListener("htmx:sendError", failed);
document.addEventListener("htmx:timeout", failed);
addEventListener("online", () => sendAgain?.());

document.addEventListener("htmx:beforeRequest", () => clearTimeout(timer));
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  const { status } = detail.xhr;
  if (detail.shouldSwap) tries = 0;
  if (detail.shouldSwap || status < 400) return;
  detail.isError = false; // it is told on the page, so not on the console
  if (AGAIN.has(status) || status >= 500) failed(event);
  else refused(detail);
});
