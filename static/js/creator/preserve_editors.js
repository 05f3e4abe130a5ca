// A swap never removes an open editor: a part that is being edited stays as it is. A question's
// editor moves to the question in the new list, a new question's to where it was begun.
const open = (part) => part.querySelectorAll(".q--open");

document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.matches(".editor")) detail.shouldSwap = false;
  else preserve(detail.target);
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.shouldSwap && detail.target.id === "questions") preserve(detail.target, detail.requestConfig.elt);
});

// removes editors before the swap, or htmx would disable their buttons
function preserve(list, asking) {
  if (list.id !== "questions") return;
  const kept = [...open(list)].filter((row) => !row.contains(asking));
  for (const row of kept) row.remove();
  if (kept.length) document.addEventListener("htmx:afterSettle", () => putBack(kept), { once: true });
}

function putBack(kept) {
  const list = document.getElementById("question-list");
  const rows = [...list.children];
  const identity = (row) => `${row.dataset.question} ${row.dataset.after ?? ""}`;
  for (const row of kept) {
    const same = rows.find((other) => identity(other) === identity(row));
    const before = rows.find((other) => other.dataset.question === row.dataset.after);
    if (same) same.replaceWith(row);
    else if (before) before.after(row);
    else list.append(row);
  }
}

// scroll a swapped-in editor into view, with its error
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const editor = detail.elt.matches?.(".editor, .q--open")
    ? detail.elt
    : detail.elt.querySelector?.(".editor, .q--open");
  editor?.scrollIntoView({ block: "nearest" });
  editor?.querySelector(".field__error, .note--alarm")?.scrollIntoView({ block: "nearest" });
});
