// A failed request is sent again with the same keys, so the server stores it once. The text stays in
// its field meanwhile. A final refusal of the server is shown in the same place.
const WAITS = [2, 5, 15, 30];
const AGAIN = new Set([0, 408, 425, 429]);
const NOT_DONE = new Set([408, 425, 429, 503]);

let countdown;
let tries = 0;
let sendAgain;
let wasOnline = true;

const slotOf = (name) => document.querySelector(`[data-${name}]`);

// whether the server may have done what it was asked for
function isUnsure(xhr) {
  if (xhr.status === 0) return wasOnline;
  return !NOT_DONE.has(xhr.status) || xhr.getResponseHeader("Askback-Outcome") === "unknown";
}

function failed({ detail: { requestConfig, xhr } }) {
  const { elt } = requestConfig;
  const asked = Number(xhr.getResponseHeader("Retry-After"));
  const seconds = Math.max(WAITS[Math.min(tries, WAITS.length - 1)], asked || 0);
  tries += 1;
  sendAgain = () => {
    clearInterval(countdown);
    sendAgain = undefined;
    if (elt.isConnected) htmx.trigger(elt, elt.matches("form") ? "submit" : "click");
  };
  showCountdown(seconds, isUnsure(xhr));
  if (elt.matches("form")) renameMain(elt);
}

// the countdown is visible, but a screen reader announces it only once
function showCountdown(seconds, unsure) {
  const slot = slotOf("retry");
  const message = slot?.querySelector("template").content.cloneNode(true);
  const line = message?.querySelector("[data-message]");
  const text = unsure ? line?.dataset.unsure : line?.dataset.message;
  const render = () => {
    if (line) line.textContent = text.replace("{seconds}", seconds);
  };
  render();
  clearInterval(countdown);
  countdown = setInterval(() => {
    seconds -= 1;
    slot?.setAttribute("aria-live", "off");
    if (seconds > 0) render();
    else sendAgain();
  }, 1000);
  if (!slot) return;
  message.querySelector("[data-offline]").hidden = navigator.onLine;
  const safe = message.querySelector("[data-safe]");
  if (unsure) safe.textContent = safe.dataset.unsure;
  slot.removeAttribute("aria-live");
  slot.querySelector(".note")?.remove();
  slot.append(message);
  show(slot);
}

function show(slot) {
  slot.hidden = false;
  for (const part of [slot.parentElement.querySelector("[type=submit].btn--main"), slot]) {
    part?.scrollIntoView({ block: "nearest" });
  }
}

function renameMain(form) {
  const button = form.querySelector("[type=submit].btn--main");
  const { again } = slotOf("retry")?.dataset ?? {};
  if (button && again) button.textContent = again;
}

function showRefusal(detail) {
  const slot = slotOf("refusal");
  if (!slot) return;
  detail.shouldSwap = true;
  detail.target = slot;
  detail.swapOverride = "innerHTML";
  slot.hidden = false;
}

document.addEventListener("htmx:sendError", failed);
document.addEventListener("htmx:timeout", failed);
addEventListener("online", () => sendAgain?.());

document.addEventListener("htmx:beforeRequest", () => {
  clearInterval(countdown);
  wasOnline = navigator.onLine;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  const { status } = detail.xhr;
  if (detail.shouldSwap) tries = 0;
  if (detail.shouldSwap || status < 400) return;
  detail.isError = false; // the page shows the error, so htmx need not log it
  if (AGAIN.has(status) || status >= 500) failed(event);
  else showRefusal(detail);
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  const slot = target.closest("[data-refusal]");
  if (slot) show(slot);
});
