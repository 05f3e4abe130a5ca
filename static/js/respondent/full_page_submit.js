// What is drawn anew as a whole document, as in another language, is asked for without htmx.
document.addEventListener(
  "submit",
  (event) => event.submitter?.hasAttribute("data-full-page") && event.stopPropagation(),
  true,
);
