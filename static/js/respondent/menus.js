// A menu that opens at the end of the page is scrolled into view.
document.addEventListener("toggle", ({ target }) => target.open && target.scrollIntoView({ block: "nearest" }), true);
