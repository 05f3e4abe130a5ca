// A request that failed is sent again with the same keys, so the server stores it once. The words
// stay in their box meanwhile. What the server refuses for good is shown above the form.
const WAITS = [2, 5, 15, 30];
const AGAIN = new Set([0, 408, 425, 429]);

let timer;
let tries = 0;
let sendAgain;

function failed({ detail }) {
  const { status } = detail.xhr;
  const slot = document.querySelector("[data-trouble]");
  if (!slot || !(AGAIN.has(status) || status >= 500)) return;
  const asked = Number(detail.xhr.getResponseHeader("Retry-After"));
  const seconds = Math.max(WAITS[Math.min(tries, WAITS.length - 1)], asked || 0);
  tries += 1;
  sendAgain = () => {
    clearTimeout(timer);
    sendAgain = undefined;
    const event = detail.elt.matches("form") ? "submit" : "click";
    if (detail.elt.isConnected) htmx.trigger(detail.elt, event);
  };
  timer = setTimeout(sendAgain, seconds * 1000);
  tell(slot, seconds);
}

function tell(slot, seconds) {
  const words = slot.querySelector("template").content.cloneNode(true);
  const line = words.querySelector("[data-words]");
  line.textContent = line.dataset.words.replace("{seconds}", seconds);
  slot.querySelector(".note")?.remove();
  slot.append(words);
  slot.hidden = false;
}

document.addEventListener("htmx:sendError", failed);
document.addEventListener("htmx:responseError", failed);
addEventListener("online", () => sendAgain?.());

document.addEventListener("htmx:beforeRequest", () => clearTimeout(timer));
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { status } = detail.xhr;
  if (detail.shouldSwap) tries = 0;
  const slot = document.querySelector("[data-refusal]");
  if (detail.shouldSwap || !slot || AGAIN.has(status) || status >= 500) return;
  detail.shouldSwap = true;
  detail.target = slot;
  slot.hidden = false;
  detail.swapOverride = "innerHTML";
});
