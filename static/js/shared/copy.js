// A button that copies the value of the field it names. For a moment its label confirms the copy. The
// status element it names announces that to screen readers, and shows why nothing was copied.
const SHOWN_MS = 2000;
const shown = new WeakMap();

function reveal(part) {
  for (const button of part.querySelectorAll("[data-copy-from]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-from]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copyFrom);
  const status = document.getElementById(button.dataset.copyStatus);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    tell(button, status);
  } catch {
    status.classList.remove("visually-hidden");
    status.textContent = button.dataset.copyFailed;
  }
});

function tell(button, status) {
  clearTimeout(shown.get(button));
  status.classList.add("visually-hidden");
  status.textContent = button.dataset.copied;
  button.dataset.done = "";
  shown.set(button, setTimeout(() => {
    delete button.dataset.done;
    status.replaceChildren();
  }, SHOWN_MS));
}

document.addEventListener("htmx:afterSettle", ({ detail }) => reveal(detail.elt));
reveal(document);
