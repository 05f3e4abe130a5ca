// The second click of a double click may reach a page that the first one brought: it submits nothing.
document.addEventListener(
  "click",
  (event) => event.detail > 1 && event.target.closest("button[type=submit]") && event.preventDefault(),
  true,
);
