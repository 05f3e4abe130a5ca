// A view that takes longer than WAIT_MS to load is marked as current and busy meanwhile.
const WAIT_MS = 300;
const view = document.querySelector("[data-view]");
let timer;

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-views] a");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  timer = setTimeout(() => showBusy(link), WAIT_MS);
});

function showBusy(link) {
  for (const other of link.parentElement.children) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "page");
  view.setAttribute("aria-busy", "true");
}

// a page from the back/forward cache is outdated; keep it only for an open editor
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && !document.querySelector(".editor")) location.reload();
});
addEventListener("pagehide", () => clearTimeout(timer));
