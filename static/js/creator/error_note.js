// A refused or failed request is shown at the top of the page. Typed text stays where it is.
const slot = document.getElementById("error-note");

function show(...nodes) {
  slot.replaceChildren(...nodes);
  slot.hidden = false;
}

// a failed poll is repeated: it needs no note
const quiet = ({ requestConfig }) => requestConfig.elt.matches("[data-quiet]");

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (quiet(detail)) return;
  if (detail.shouldSwap) {
    slot.hidden = true;
    return;
  }
  if (detail.xhr.status < 400) return;
  detail.shouldSwap = true;
  detail.isError = false;
  detail.target = slot;
  detail.swapOverride = "innerHTML";
  slot.hidden = false;
});

// signed out: leaving for the sign-in page would lose the text of an open editor
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { xhr } = event.detail;
  if (xhr.status !== 401 || !document.querySelector(".editor")) return;
  event.preventDefault();
  if (!slot.querySelector("[data-signed-out]")) slot.innerHTML = xhr.responseText;
  slot.hidden = false;
});

document.addEventListener("htmx:sendError", ({ detail }) => {
  if (quiet(detail)) return;
  show(document.getElementById("unreachable").content.cloneNode(true));
});

// the creator has signed in again in another tab: this page takes over the new session's token
document.addEventListener("askback:token", ({ target, detail }) => {
  for (const field of document.querySelectorAll('input[name="csrf_token"]')) {
    field.value = detail.token;
  }
  if (target.matches(".editor, .options")) htmx.trigger(target, "submit");
});

// the message next to a setting marks it invalid; its field is not swapped, to keep typed text
document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  const message = detail.target;
  if (!message.matches(".field__message")) return;
  const isWrong = message.querySelector(".field__error") !== null;
  if (isWrong) message.scrollIntoView({ block: "nearest" });
  const field = document.getElementById(message.id.replace(/-message$/, ""));
  if (isWrong) field?.setAttribute("aria-invalid", "true");
  else field?.removeAttribute("aria-invalid");
});
