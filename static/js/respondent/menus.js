// Scrolls a menu that opens at the end of the page into view.
document.addEventListener("toggle", ({ target }) => target.open && target.scrollIntoView({ block: "nearest" }), true);
