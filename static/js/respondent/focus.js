// After Continue the textarea of the next question gets the focus, with the caret at the end, if
// there is a hardware keyboard. A touch screen would cover the question with its own: there the focus
// stays on the heading, and wherever a message comes before the textarea. Error messages, and the
// textarea where the bar of buttons covers it, are brought into view.
const KEYBOARD = matchMedia("(pointer: fine)");
const MESSAGE = "[role=alert]:not([hidden])";

function write() {
  const focused = document.activeElement;
  const form = focused?.closest("form[data-draft-field=answer]");
  const box = form?.querySelector("#answer");
  const moves = KEYBOARD.matches && focused?.matches("h1") && !form?.querySelector(MESSAGE);
  if (!box || (focused !== box && !moves)) return;
  box.setSelectionRange(box.value.length, box.value.length);
  box.focus({ preventScroll: true });
}

function show(message) {
  const { top, bottom } = message.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) message.scrollIntoView();
}

function uncover(box, message) {
  const bar = box.form.querySelector(".actions--main").getBoundingClientRect();
  const { top, bottom } = box.getBoundingClientRect();
  if (top <= bar.top - bar.height) return;
  // no further than that: the message, or the question, stays in view
  const most = Math.min(top, message?.getBoundingClientRect().top ?? top);
  scrollBy(0, Math.min(bottom - bar.top + 8, most)); // with its focus ring
}

document.addEventListener("htmx:afterSettle", () => {
  write();
  const message = document.querySelector(`#main ${MESSAGE}`);
  // htmx scrolls to the top of the page after this event
  const focused = document.activeElement;
  requestAnimationFrame(() => {
    if (message) show(message);
    if (focused.matches("form[data-draft-field=answer] textarea")) uncover(focused, message);
  });
});
