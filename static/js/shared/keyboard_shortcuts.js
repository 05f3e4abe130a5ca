// Ctrl or Cmd with Enter saves the focused form; Escape follows its cancel link.
document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.("form[data-shortcuts]");
  if (!form || event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
  if (event.key === "Escape") form.querySelector("[data-cancel]")?.click();
});
