// A menu closes when the focus or a click goes elsewhere, and on Escape.
const open = () => document.querySelectorAll("[data-menu][open]");

function closeOthers(target) {
  for (const menu of open()) if (!menu.contains(target)) menu.open = false;
}

document.addEventListener("click", ({ target }) => closeOthers(target));
document.addEventListener("focusin", ({ target }) => closeOthers(target));
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    if (menu.contains(target)) menu.querySelector("summary").focus();
  }
});
