// The response to a request of a page that has gone meanwhile changes nothing: who went on while a
// model was asked stays where they are.
document.addEventListener(
  "htmx:beforeSwap",
  (event) => {
    if (event.detail.requestConfig.elt.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
