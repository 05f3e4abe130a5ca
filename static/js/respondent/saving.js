// A request that takes longer than SHOWN_AFTER_MS says so; one without a response counts as failed.
const SHOWN_AFTER_MS = 300;
const TIMEOUT_MS = 20000;

let timer;

function say(text) {
  const line = document.querySelector("[data-saving]");
  if (line) line.textContent = text ?? line.dataset.saving;
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.timeout = TIMEOUT_MS;
});
document.addEventListener("htmx:beforeRequest", () => {
  clearTimeout(timer);
  timer = setTimeout(say, SHOWN_AFTER_MS);
});
document.addEventListener("htmx:afterRequest", () => {
  clearTimeout(timer);
  say("");
});
