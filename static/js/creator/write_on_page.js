// A click on text opens its editor with the caret at the clicked place. Opened by its link, the
// editor has the caret at the end.
let clicked = null;

function letterAt(words, { clientX, clientY }) {
  const place = document.caretPositionFromPoint?.(clientX, clientY);
  const range = place ? null : document.caretRangeFromPoint?.(clientX, clientY);
  const node = place?.offsetNode ?? range?.startContainer;
  const isWord = node?.nodeType === Node.TEXT_NODE && words.contains(node);
  return isWord ? (place?.offset ?? range.startOffset) : words.textContent.length;
}

// not on document: there Safari on iOS sends only clicks on controls
document.querySelector("main").addEventListener("click", (event) => {
  const words = event.target.closest("[data-opens]");
  if (!words || !getSelection().isCollapsed) return;
  const link = (words.closest(".q") ?? words.parentElement).querySelector("[data-edit]:not([inert])");
  if (!link) return;
  clicked = { field: words.dataset.opens, letter: letterAt(words, event) };
  link.click();
});

// text typed before the editor arrives goes into it
let typed = null;

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (!detail.elt.matches("[data-quiet]")) typed = detail.elt.matches("[data-edit]") ? "" : null;
});

document.addEventListener("keydown", (event) => {
  const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (typed === null || !isLetter || event.target.matches("input, textarea, select")) return;
  event.preventDefault();
  typed += event.key;
});

// the editor does not arrive
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful) typed = clicked = null;
});

// a question whose tools are higher than its editor keeps its height, so that nothing below it
// moves
let height = 0;

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  height = detail.target.matches?.(".q") ? detail.target.getBoundingClientRect().height : 0;
});

document.addEventListener("htmx:afterSettle", ({ detail: { elt } }) => {
  const field = document.activeElement;
  if (!field.matches(":is(input, textarea)[autofocus]") || !elt.contains(field)) return;
  const form = field.form;
  for (const each of form.querySelectorAll("textarea")) {
    each.setSelectionRange(each.value.length, each.value.length);
  }
  if (elt.matches(".q--in-place") && elt.offsetHeight < height) elt.style.minBlockSize = `${height}px`;
  const asked = form.elements[clicked?.field ?? field.name] ?? field;
  asked.focus({ preventScroll: true });
  if (clicked) asked.setSelectionRange(clicked.letter, clicked.letter);
  if (typed) {
    asked.setRangeText(typed, asked.selectionStart, asked.selectionStart, "end");
    asked.dispatchEvent(new Event("input", { bubbles: true }));
  }
  typed = clicked = null;
});

// the invisible copy below the field gives it its size
document.addEventListener("input", ({ target }) => {
  if (!target.matches(".words__text")) return;
  if (target.matches("[data-one-line]") && /[\r\n]/.test(target.value)) {
    target.value = target.value.replace(/\s*[\r\n]+\s*/g, " ");
  }
  target.parentElement.dataset.words = target.value;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("[data-one-line]")) return;
  event.preventDefault();
  if (!event.ctrlKey && !event.metaKey) event.target.form.requestSubmit();
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-add]");
  if (!button) return;
  const places = button.form.querySelectorAll(`[data-added="${button.dataset.add}"][hidden]`);
  places[0].hidden = false;
  if (places.length === 1) button.remove();
  places[0].querySelector("textarea").focus();
});
