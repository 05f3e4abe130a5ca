// After a swap the focus goes to the [autofocus] of the new part; where it has none, to its heading.
document.addEventListener("htmx:afterSettle", (event) => {
  if (document.activeElement !== document.body) return;
  const part = event.detail.elt;
  const next = part.querySelector("[autofocus]") ?? part.querySelector("h1, h2, h3");
  if (!next) return;
  if (next.tabIndex < 0 && !next.hasAttribute("tabindex")) next.tabIndex = -1;
  next.focus();
});
