// Says a change of state in the part of a page that records, for screen readers too. The texts have
// names, and stand in its template; a running clock is no such change.
export function say(part, name, time = "") {
  const text = part.querySelector("template").content.querySelector(`[data-text=${name}]`);
  const line = text.cloneNode(true);
  for (const part of line.childNodes) {
    if (!part.children?.length) part.textContent = part.textContent.replace("{time}", time);
  }
  const status = part.querySelector("[data-status]");
  if (status.textContent !== line.textContent) status.replaceChildren(line);
}

// where a form asks for a recording only, its sheet is folded away
export function unfoldSheet(part) {
  const folded = part.closest("form").querySelector("#answer").closest("details");
  if (folded) folded.open = true;
}
