// A form cannot be submitted again while its request runs; after SHOWN_AFTER_MS its button shows it.
const SHOWN_AFTER_MS = 300;
const release = new Map();

document.addEventListener("submit", begin, true);
// once the response is here, the events it triggers may submit the form again
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => end(detail.elt));
document.addEventListener("htmx:afterRequest", ({ detail }) => end(detail.elt));
// the page was restored from the back/forward cache
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
  const label = button.textContent;
  const timer = setTimeout(() => showBusy(form, button), SHOWN_AFTER_MS);
  release.set(form, () => {
    clearTimeout(timer);
    form.removeAttribute("aria-busy");
    button.removeAttribute("aria-disabled");
    button.textContent = label;
  });
}

function showBusy(form, button) {
  form.setAttribute("aria-busy", "true");
  button.setAttribute("aria-disabled", "true");
  button.textContent = button.dataset.busy;
}

function end(form) {
  release.get(form)?.();
  release.delete(form);
}
