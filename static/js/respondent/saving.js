// What takes longer than a moment says so; what never ends counts as failed.
const PATIENCE = 300;
const GIVEN_UP_AFTER = 20000;

let timer;

function say(text) {
  const line = document.querySelector("[data-saving]");
  if (line) line.textContent = text ?? line.dataset.saving;
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.timeout = GIVEN_UP_AFTER;
});
document.addEventListener("htmx:beforeRequest", () => {
  clearTimeout(timer);
  timer = setTimeout(say, PATIENCE);
});
document.addEventListener("htmx:afterRequest", () => {
  clearTimeout(timer);
  say("");
});
