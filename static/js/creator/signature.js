// Pressing the button of a decision signs its line: the time appears next to the name while the form
// is sent.
import { localise } from "../shared/clock.js";

document.addEventListener("submit", ({ target }) => {
  const time = target.querySelector("[data-signature] time");
  if (!time) return;
  time.dateTime = new Date().toISOString();
  localise(target);
  target.dataset.signed = "";
});
// the page was restored from the back/forward cache, unsigned
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-signed]")) delete form.dataset.signed;
});
