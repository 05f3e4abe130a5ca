// The second click of a double click may hit the page that the first one loaded; it must not submit.
document.addEventListener(
  "click",
  (event) => event.detail > 1 && event.target.closest("button[type=submit]") && event.preventDefault(),
  true,
);
