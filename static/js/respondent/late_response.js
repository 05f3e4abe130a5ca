// Ignores responses to requests of a previous page: people who moved on while a model was asked stay
// where they are.
document.addEventListener(
  "htmx:beforeSwap",
  (event) => {
    if (event.detail.requestConfig.elt.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
