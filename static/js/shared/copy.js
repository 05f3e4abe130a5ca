// A button that copies the value of the field it names, and reports that.
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
    status.textContent = button.dataset.copied;
  } catch {
    status.textContent = button.dataset.copyFailed;
  }
});

document.addEventListener("htmx:afterSettle", ({ detail }) => reveal(detail.elt));
reveal(document);
