// Announces a change of the recorder's state, for screen readers too, but not a running clock. The
// recorder's template holds the texts by name.
export function say(part, name, time = "") {
  const text = part.querySelector("template").content.querySelector(`[data-text=${name}]`);
  const line = text.cloneNode(true);
  for (const part of line.childNodes) {
    if (!part.children?.length) part.textContent = part.textContent.replace("{time}", time);
  }
  const status = part.querySelector("[data-status]");
  if (status.textContent !== line.textContent) status.replaceChildren(line);
}

// the sheet is folded if a form asks only for a recording
export function unfoldSheet(part) {
  const folded = part.closest("form").querySelector("#answer").closest("details");
  if (folded) folded.open = true;
}
