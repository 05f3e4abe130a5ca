// A button that copies the value of the field it names, and says so.
function reveal(part) {
  for (const button of part.querySelectorAll("[data-copies]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copies);
  const status = document.getElementById(button.dataset.says);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    status.textContent = button.dataset.done;
  } catch {
    status.textContent = button.dataset.failed;
  }
});

document.addEventListener("htmx:afterSettle", ({ detail }) => reveal(detail.elt));
reveal(document);
