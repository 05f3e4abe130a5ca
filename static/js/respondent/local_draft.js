// Words not sent yet stay in this browser, under the session and the question, until the server has
// them: they outlive a reload, Back, and a browser that dies. They are never sent from here. Inside
// another website they end with the tab, because nothing is remembered there.
const PREFIX = "askback:";
const KEPT_DAYS = 30;

function store(action) {
  try {
    return action(window === window.top ? localStorage : sessionStorage);
  } catch {
    return undefined; // a browser that keeps nothing, or is full
  }
}

let lastKeptAs;

const withoutQuery = (address) => address?.split("?")[0];
const keptField = (form) => form.elements[form.dataset.keeps];

function place(form) {
  return `${PREFIX}${form.dataset.keptAs}:${withoutQuery(form.getAttribute("action"))}`;
}

function names(part = "") {
  const all = store((box) => Object.keys(box)) ?? [];
  return all.filter((name) => name.startsWith(PREFIX) && name.includes(part));
}

function read(name) {
  return store((box) => JSON.parse(box.getItem(name)));
}

function forget(name) {
  store((box) => box.removeItem(name));
}

function bringBack(part) {
  for (const form of part.querySelectorAll("form[data-keeps]")) {
    if (lastKeptAs === "new") bringAlong(form);
    lastKeptAs = form.dataset.keptAs;
    const field = keptField(form);
    const kept = read(place(form));
    const fits = kept && (field.defaultValue === "" || field.defaultValue === kept.instead);
    const news = fits && kept.text !== field.defaultValue && field.value === field.defaultValue;
    if (news) field.value = kept.text;
    tell(form.querySelector("#kept"), news);
  }
  for (const { dataset } of part.querySelectorAll("[data-forgets]")) {
    names(dataset.forgets).forEach(forget);
  }
  for (const note of part.querySelectorAll("[data-unsent]")) {
    note.hidden = !read(PREFIX + note.dataset.unsent)?.text.trim();
  }
  part.querySelectorAll("[data-recovers]").forEach(recover);
}

// the first thing that is stored gives the session its name
function bringAlong(form) {
  const { keptAs } = form.dataset;
  if (keptAs === "new") return;
  const [start] = form.getAttribute("action").match(/^\/r\/[^/]+\//);
  for (const name of names(`${PREFIX}new:${start}`)) {
    store((box) => box.setItem(name.replace(":new:", `:${keptAs}:`), box.getItem(name)));
    forget(name);
  }
}

function tell(note, broughtBack) {
  if (!note) return;
  if (broughtBack) note.prepend(`${note.dataset.back} `);
  note.hidden = !store(() => true);
}

// on a page that takes no answers: what was being written when it closed
function recover(slot) {
  const texts = names(slot.dataset.recovers).map((name) => read(name)?.text);
  const words = texts.filter((text) => text?.trim());
  slot.querySelector("textarea").value = words.join("\n\n");
  slot.hidden = !words.length;
}

function tidy() {
  const oldest = Date.now() - KEPT_DAYS * 24 * 3600 * 1000;
  names().filter((name) => !(read(name)?.at > oldest)).forEach(forget);
}

document.addEventListener("input", ({ target }) => {
  const form = target.closest("form[data-keeps]");
  if (!form || target !== keptField(form)) return;
  const kept = { text: target.value, instead: target.defaultValue, at: Date.now() };
  if (kept.text === kept.instead) forget(place(form));
  else store((box) => box.setItem(place(form), JSON.stringify(kept)));
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig.elt.closest("form[data-keeps]");
  const action = withoutQuery(form?.getAttribute("action"));
  const path = withoutQuery(detail.pathInfo.requestPath);
  if (!form || detail.xhr.status !== 200) return;
  // unsent text outlives a skipped question: Skip may have been pressed by mistake
  const takenBack = path === `${action}/skip` && keptField(form).defaultValue !== "";
  if (path === action || takenBack) forget(place(form));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => bringBack(detail.elt));
tidy();
bringBack(document);
