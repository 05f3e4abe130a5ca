// After Continue the next question is ready to be written to, where there is a keyboard for sure. A
// touch screen would cover the question with its own: there the focus stays on the question. The
// question stays in sight, and what was written is gone on with at its end. What was refused says why
// in sight, too.
const KEYBOARD = matchMedia("(pointer: fine)");

function write() {
  const focused = document.activeElement;
  const form = focused?.closest("form[data-draft-field=answer]");
  const box = form?.elements.answer;
  if (!box || (focused !== box && !(KEYBOARD.matches && focused.matches("h1")))) return;
  box.setSelectionRange(box.value.length, box.value.length);
  box.focus({ preventScroll: true });
}

function show(message) {
  const { top, bottom } = message.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) message.scrollIntoView();
}

document.addEventListener("htmx:afterSettle", () => {
  write();
  const message = document.querySelector("#main [role=alert]:not([hidden])");
  // htmx scrolls to the top of the page after this event
  if (message) requestAnimationFrame(() => show(message));
});
