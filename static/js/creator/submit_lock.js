// A form at work takes no second press, and its button says so when that takes a while.
const SAID_AFTER_MS = 300;
const release = new Map();

document.addEventListener("submit", begin, true);
// the answer is there: what it triggers may send the form again
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => end(detail.elt));
document.addEventListener("htmx:afterRequest", ({ detail }) => end(detail.elt));
// the page came back out of the browser's memory
addEventListener("pageshow", () => [...release.keys()].forEach(end));

function begin(event) {
  const form = event.target;
  const button = event.submitter ?? form.querySelector("[data-busy]");
  if (!button?.dataset.busy) return;
  if (release.has(form)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  const words = button.textContent;
  const timer = setTimeout(() => say(form, button), SAID_AFTER_MS);
  release.set(form, () => {
    clearTimeout(timer);
    form.removeAttribute("aria-busy");
    button.removeAttribute("aria-disabled");
    button.textContent = words;
  });
}

function say(form, button) {
  form.setAttribute("aria-busy", "true");
  button.setAttribute("aria-disabled", "true");
  button.textContent = button.dataset.busy;
}

function end(form) {
  release.get(form)?.();
  release.delete(form);
}
