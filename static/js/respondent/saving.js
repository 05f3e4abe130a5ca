// Shows that a request takes longer than SHOWN_AFTER_MS; one without a response times out.
const SHOWN_AFTER_MS = 300;
const TIMEOUT_MS = 20000;

let timer;

function setStatus(text) {
  const line = document.querySelector("[data-saving]");
  if (line) line.textContent = text ?? line.dataset.saving;
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.timeout = TIMEOUT_MS;
});
document.addEventListener("htmx:beforeRequest", () => {
  clearTimeout(timer);
  timer = setTimeout(setStatus, SHOWN_AFTER_MS);
});
document.addEventListener("htmx:afterRequest", () => {
  clearTimeout(timer);
  setStatus("");
});
