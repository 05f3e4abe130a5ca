// After Continue, with a hardware keyboard, the next question's textarea gets the focus, with the
// caret at the end. On a touch screen, whose keyboard would cover the question, and if a message
// precedes the textarea, the focus stays on the heading. Error messages, and a textarea that the bar
// of buttons covers, are scrolled into view.
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
  // scrolls only so far that the message or question stays in view
  const most = Math.min(top, message?.getBoundingClientRect().top ?? top);
  scrollBy(0, Math.min(bottom - bar.top + 8, most)); // includes the focus ring
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
