// After a save the other open forms and the polling form continue from the new revision. Forms made
// from another revision keep theirs, so that the server detects that they are outdated.
document.addEventListener("askback:saved", ({ detail }) => {
  for (const field of document.querySelectorAll('input[name="revision"], input[name="have"]')) {
    if (field.value === String(detail.from)) field.value = String(detail.to);
  }
});

// refused settings that need the private context are submitted again once it is saved
document.addEventListener("askback:saved", ({ target }) => {
  const isRefused = document.querySelector("#settings-context");
  if (target.id !== "context" || !isRefused) return;
  const tryAgain = () => htmx.trigger(document.querySelector("#settings .options"), "submit");
  document.addEventListener("htmx:afterSettle", tryAgain, { once: true });
});

// A published form no longer changes: its controls become inert. Text in open editors
// stays, to be copied.
document.addEventListener("askback:published", () => {
  const parts = document.querySelectorAll(".review :is(.tool, .btn, .options, .bar), #decision, #confirm-button");
  const isLeft = (part) => part.closest("#revision-poll, .editor");
  for (const part of parts) if (!isLeft(part)) part.inert = true;
});
