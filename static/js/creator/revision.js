// After a save the other open forms and the look-out of the page go on from the new revision. Forms that were made
// from another revision keep theirs, so that the server still sees that they are outdated.
document.addEventListener("askback:saved", ({ detail }) => {
  for (const field of document.querySelectorAll('input[name="revision"], input[name="have"]')) {
    if (field.value === String(detail.from)) field.value = String(detail.to);
  }
});

// settings that waited for the private context are tried once more when it is there
document.addEventListener("askback:saved", ({ target }) => {
  const isRefused = document.querySelector("#settings .field__error");
  if (target.id !== "context" || !isRefused) return;
  const tryAgain = () => htmx.trigger(document.querySelector("#settings .options"), "submit");
  document.addEventListener("htmx:afterSettle", tryAgain, { once: true });
});
