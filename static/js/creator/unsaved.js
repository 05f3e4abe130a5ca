// Unsaved text in an open editor: the browser asks before the page is left, and Escape asks before
// the editor closes.
const REFUSED = ".field__error, .note--alarm";
const UNSAVED = `${REFUSED}, [data-unsaved]`;

function isChanged(editor) {
  const fields = [...editor.querySelectorAll("textarea, input:not([type=hidden])")];
  const chosen = [...editor.querySelectorAll("select")].map((field) => field.selectedOptions[0]);
  const begun = (option) => option.parentElement.querySelector("[selected]") ?? option.parentElement.options[0];
  return (
    fields.some((field) => field.value !== field.defaultValue) ||
    chosen.some((option) => option !== begun(option))
  );
}

const isUnsaved = (editor) => isChanged(editor) || editor.querySelector(UNSAVED);

// submitted forms, whose text no longer counts as unsaved
let sent = new WeakSet();

addEventListener("submit", ({ target, defaultPrevented }) => {
  if (!defaultPrevented && !target.matches("[hx-post]")) sent.add(target);
});
// the page was restored from the back/forward cache
addEventListener("pageshow", () => (sent = new WeakSet()));

addEventListener("beforeunload", (event) => {
  const refused = document.querySelector("#settings .field__error, #settings-context");
  const editors = [...document.querySelectorAll("form.editor")].filter((editor) => !sent.has(editor));
  if (refused || editors.some(isUnsaved)) event.preventDefault();
});

// the field that gets the focus back
let writing = null;

function ask(editor, isAsked) {
  editor.querySelector("[data-actions]").hidden = isAsked;
  editor.querySelector("[data-leave-question]").hidden = !isAsked;
  if (isAsked) editor.querySelector("[data-stay]").focus();
  else writing?.focus();
}

// runs before the shortcut that closes at once
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const editor = event.target.closest?.("form.editor");
  if (!editor?.querySelector("[data-leave-question]")) return;
  const isAsked = !editor.querySelector("[data-leave-question]").hidden;
  if (!isAsked && !isUnsaved(editor)) return;
  event.stopPropagation();
  event.preventDefault();
  if (!isAsked) writing = event.target;
  ask(editor, !isAsked);
}, true);

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-stay], [data-leave]");
  const editor = button?.closest("form.editor");
  if (!editor) return;
  ask(editor, false);
  if (button.matches("[data-leave]")) editor.querySelector("[data-cancel]").click();
});
