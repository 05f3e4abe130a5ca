// After Continue the textarea of the next question gets the focus, with the caret at the end, if
// there is a hardware keyboard. A touch screen would cover the question with its own: there the focus
// stays on the heading. The question and error messages are kept in the viewport.
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
