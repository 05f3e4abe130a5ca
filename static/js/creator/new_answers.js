// Answers that arrive are put above their list, or in the place of what they replace; not where
// somebody is reading or listening just then.
const isInUse = (part) =>
  part.contains(document.activeElement) || [...part.querySelectorAll("audio")].some((sound) => !sound.paused);

document.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment, target } }) => {
  for (const part of fragment.querySelectorAll("[data-key]")) {
    const before = target.querySelector(`[data-key="${CSS.escape(part.dataset.key)}"]`);
    if (!before) continue;
    if (isInUse(before)) part.remove();
    else before.replaceWith(part);
  }
});

// whoever has gone to the new answers need not be told of them again
document.addEventListener("click", ({ target }) => {
  const link = target.closest("[data-meet]");
  if (!link) return;
  link.parentElement.querySelector("[name=total]").value = 0;
  setTimeout(() => link.remove());
});
