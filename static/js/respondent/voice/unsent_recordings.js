// Does for recordings what local_draft.js does for text: deletes them once an answer has them, notes
// them on the summary of all answers, and offers them for download if a form is closed.
import { forget, nameOf, namesWith, recall, remembered, rename } from "./recording_store.js";

let lastDraftKey;

async function settle(part) {
  for (const form of part.querySelectorAll("form[data-draft-field]")) {
    const { draftKey } = form.dataset;
    if (lastDraftKey === "new" && draftKey !== "new") await moveToSession(form);
    lastDraftKey = draftKey;
  }
  for (const { dataset } of part.querySelectorAll("[data-clear-drafts]")) {
    for (const name of await namesWith(dataset.clearDrafts)) await forget(name);
  }
  for (const note of part.querySelectorAll("[data-unsent-recording]")) {
    note.hidden = !(await recall(`askback:${note.dataset.unsentRecording}`));
  }
  part.querySelectorAll("[data-recover-recordings]").forEach(handBack);
}

async function moveToSession(form) {
  const [start] = form.getAttribute("action").match(/^\/r\/[^/]+\//);
  for (const name of await namesWith(`:new:${start}`)) {
    await rename(name, name.replace(":new:", `:${form.dataset.draftKey}:`));
  }
}

async function handBack(slot) {
  const link = slot.querySelector("a");
  const hasServer = document.querySelector("form[action*='/recordings/']");
  for (const name of await namesWith(slot.dataset.recoverRecordings)) {
    const { blob, sent } = (await recall(name)) ?? {};
    if (!blob || (sent && hasServer)) continue;
    const own = link.cloneNode(true);
    own.href = URL.createObjectURL(blob);
    own.hidden = false;
    link.before(own);
    slot.hidden = false;
  }
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig.elt.closest("form[data-draft-field]");
  if (!form || detail.xhr.status !== 200) return;
  const take = remembered(nameOf(form));
  if (take?.isLeft) return void (take.isLeft = false); // it stays at its question
  const action = form.getAttribute("action").split("?")[0];
  const path = detail.pathInfo.requestPath.split("?")[0];
  const claimed = form.querySelector("voice-recorder")?.dataset.claimed;
  if (path === action || (path === `${action}/skip` && claimed)) forget(nameOf(form));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => settle(detail.elt));
settle(document);
