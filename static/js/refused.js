// What the server refuses, or what never reached it, is said at the top of the page. The words that
// were typed stay where they are.
const slot = document.getElementById("trouble");

function say(...nodes) {
  slot.replaceChildren(...nodes);
  slot.hidden = false;
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.shouldSwap) {
    slot.hidden = true;
    return;
  }
  if (detail.xhr.status < 400 || detail.elt.matches("[data-quiet]")) return;
  detail.shouldSwap = true;
  detail.isError = false;
  detail.target = slot;
  detail.swapOverride = "innerHTML";
  slot.hidden = false;
});

document.addEventListener("htmx:sendError", ({ detail }) => {
  if (detail.elt.matches("[data-quiet]")) return; // nobody asked for it, and it asks again
  say(document.getElementById("unreachable").content.cloneNode(true));
});
