// Shows the number of waiting drafts before the title of the tab, and as a dot on its icon. A page
// whose title counts something else gets only the dot.
const icon = document.querySelector("link[rel=icon]");
const counted = () => document.getElementById("waiting-count")?.dataset.count ?? "0";
let shown = counted();

function show() {
  const count = counted();
  const title = document.title.startsWith(`(${shown}) `) ? document.title.slice(shown.length + 3) : document.title;
  shown = count;
  document.title = count === "0" || title.startsWith("(") ? title : `(${count}) ${title}`;
  const address = count === "0" ? icon.dataset.plain : icon.dataset.waiting;
  if (icon.getAttribute("href") !== address) icon.setAttribute("href", address);
}

document.addEventListener("htmx:afterSettle", show);
