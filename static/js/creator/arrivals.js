// Rows that a poll adds to a list slide in; rows of the first page load do not.
const ROWS = ".list-row a[id], .agent[id]";
const shown = () => new Set([...document.querySelectorAll(ROWS)].map((row) => row.id));
let known = shown();

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const polled = detail.requestConfig.elt.matches("[data-quiet]");
  for (const row of document.querySelectorAll(ROWS))
    if (polled && !known.has(row.id)) row.closest("li").classList.add("arrived");
  known = shown();
});
