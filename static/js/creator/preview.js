// The preview follows what is typed, and stays at its question when something else is saved.
const preview = () => document.getElementById("preview");

function follow(field) {
  const page = preview();
  const shown = page?.querySelector(`[data-shown="${field.dataset.shows}"]`);
  const question = field.closest("[data-question]");
  if (!shown || (question && question.dataset.question !== page.dataset.question)) return;
  shown.textContent = field.value;
  shown.hidden = !field.value;
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-shows]")) follow(target);
});

// with several open editors, show the question of the focused one
document.addEventListener("focusin", ({ target }) => {
  const row = target.closest(".editor") && target.closest("[data-question]");
  const page = preview();
  if (!page || !row?.dataset.question || row.dataset.question === page.dataset.question) return;
  const place = [...row.parentElement.querySelectorAll("li:not(.q--new)")].indexOf(row) + 1;
  const path = `${location.pathname}/preview?preview=${place}`;
  htmx.ajax("GET", path, { source: page, target: page, swap: "outerHTML" });
});

document.addEventListener("htmx:afterSettle", () => {
  for (const field of document.querySelectorAll(".editor [data-shows]")) follow(field);
});

document.addEventListener("htmx:configRequest", ({ detail }) => {
  const page = preview();
  const brings = detail.verb === "post" || detail.path.endsWith("/now");
  if (page && brings) detail.parameters.preview = page.dataset.asked;
});
