// Buttons that reload the whole document, as for another language, submit without htmx.
document.addEventListener(
  "submit",
  (event) => event.submitter?.closest("[data-full-page]") && event.stopPropagation(),
  true,
);
