// Unsaved text in an open editor: the browser asks before it leaves the page.
const REFUSED = ".field__error, .note--alarm";

function isUnsaved(editor) {
  const fields = [...editor.querySelectorAll("textarea, input:not([type=hidden])")];
  const changed = fields.some((field) => field.value !== field.defaultValue);
  return changed || editor.querySelector(REFUSED) !== null;
}

addEventListener("beforeunload", (event) => {
  const refused = document.querySelector("#settings .field__error");
  const editors = [...document.querySelectorAll("form.editor")];
  if (refused || editors.some(isUnsaved)) event.preventDefault();
});
