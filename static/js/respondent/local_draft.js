// Stores unsent text in this browser, by session and question, until the server has it: it survives
// a reload, Back and a crash of the browser. This file never sends it. In an iframe of another
// website it lasts as long as the tab (sessionStorage).
const PREFIX = "askback:";
const KEPT_DAYS = 30;

function store(action) {
  try {
    return action(window === window.top ? localStorage : sessionStorage);
  } catch {
    return undefined; // storage is blocked or full
  }
}

let lastDraftKey;

const withoutQuery = (address) => address?.split("?")[0];
const draftField = (form) => form.querySelector(`[name=${form.dataset.draftField}]`);

function storageKey(form) {
  return `${PREFIX}${form.dataset.draftKey}:${withoutQuery(form.getAttribute("action"))}`;
}

function keys(part = "") {
  const all = store((box) => Object.keys(box)) ?? [];
  return all.filter((name) => name.startsWith(PREFIX) && name.includes(part));
}

function read(name) {
  return store((box) => JSON.parse(box.getItem(name)));
}

function remove(name) {
  store((box) => box.removeItem(name));
}

function restore(part) {
  for (const form of part.querySelectorAll("form[data-draft-field]")) {
    if (lastDraftKey === "new") moveToSession(form);
    lastDraftKey = form.dataset.draftKey;
    const field = draftField(form);
    const kept = read(storageKey(form));
    const fits = kept && (field.defaultValue === "" || field.defaultValue === kept.instead);
    const restored = fits && kept.text !== field.defaultValue && field.value === field.defaultValue;
    if (restored) field.value = kept.text;
    showNote(form.querySelector("#draft-note"), restored);
  }
  for (const { dataset } of part.querySelectorAll("[data-clear-drafts]")) {
    keys(dataset.clearDrafts).forEach(remove);
  }
  for (const note of part.querySelectorAll("[data-unsent]")) {
    note.hidden = !read(PREFIX + note.dataset.unsent)?.text.trim();
  }
  part.querySelectorAll("[data-recover-drafts]").forEach(recover);
}

// the first stored answer creates the session and its key
function moveToSession(form) {
  const { draftKey } = form.dataset;
  if (draftKey === "new") return;
  const [start] = form.getAttribute("action").match(/^\/r\/[^/]+\//);
  for (const name of keys(`${PREFIX}new:${start}`)) {
    store((box) => box.setItem(name.replace(":new:", `:${draftKey}:`), box.getItem(name)));
    remove(name);
  }
}

function showNote(note, isRestored) {
  if (!note) return;
  if (isRestored) note.prepend(`${note.dataset.restored} `);
  note.hidden = !store(() => true);
}

// shows the unsent text on the page of a closed form
function recover(slot) {
  const texts = keys(slot.dataset.recoverDrafts).map((name) => read(name)?.text);
  const unsent = texts.filter((text) => text?.trim());
  slot.querySelector("textarea").value = unsent.join("\n\n");
  slot.hidden = !unsent.length;
}

function removeExpired() {
  const oldest = Date.now() - KEPT_DAYS * 24 * 3600 * 1000;
  keys().filter((name) => !(read(name)?.at > oldest)).forEach(remove);
}

document.addEventListener("input", ({ target }) => {
  const form = target.closest("form[data-draft-field]");
  if (!form || target !== draftField(form)) return;
  const kept = { text: target.value, instead: target.defaultValue, at: Date.now() };
  if (kept.text === kept.instead) remove(storageKey(form));
  else store((box) => box.setItem(storageKey(form), JSON.stringify(kept)));
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig.elt.closest("form[data-draft-field]");
  const action = withoutQuery(form?.getAttribute("action"));
  const path = withoutQuery(detail.pathInfo.requestPath);
  if (!form || detail.xhr.status !== 200) return;
  // a skipped question keeps its unsent text: Skip may have been pressed by mistake
  const dropped = detail.requestConfig.elt.hasAttribute("data-drop-draft");
  const takenBack = path === `${action}/skip` && draftField(form).defaultValue !== "";
  if (path === action || takenBack || dropped) remove(storageKey(form));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => restore(detail.elt));
removeExpired();
restore(document);
