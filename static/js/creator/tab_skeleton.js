// Another view that lets one wait is drawn in outline first, under its own name.
const WAIT_MS = 300;
const view = document.querySelector("[data-view]");
let timer;

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-views] a");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  timer = setTimeout(() => wait(link), WAIT_MS);
});

function wait(link) {
  for (const other of link.parentElement.children) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "page");
  view.setAttribute("aria-busy", "true");
}

addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
addEventListener("pagehide", () => clearTimeout(timer));
