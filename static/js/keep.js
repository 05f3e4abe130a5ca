// Words not sent yet survive a reload: in this tab only, and until the server has them.
const PREFIX = "askback:";

function store(action) {
  try {
    return action(sessionStorage);
  } catch {
    return undefined; // a browser that keeps nothing
  }
}

const withoutQuery = (address) => address?.split("?")[0];
const place = (form) => PREFIX + form.getAttribute("action");
const keptField = (form) => form.elements[form.dataset.keeps];

function bringBack(part) {
  for (const form of part.querySelectorAll("form[data-keeps]")) {
    const field = keptField(form);
    const kept = store((box) => JSON.parse(box.getItem(place(form))));
    const fits = kept && (field.defaultValue === "" || field.defaultValue === kept.instead);
    if (fits && field.value === field.defaultValue) field.value = kept.text;
    form.querySelector("#kept")?.toggleAttribute("hidden", !store(() => true));
  }
  if (part.querySelector("[data-forgets]")) forget();
}

function forget() {
  store((box) => {
    const ours = Object.keys(box).filter((name) => name.startsWith(PREFIX));
    ours.forEach((name) => box.removeItem(name));
  });
}

document.addEventListener("input", ({ target }) => {
  const form = target.closest("form[data-keeps]");
  if (!form || target !== keptField(form)) return;
  const kept = JSON.stringify({ text: target.value, instead: target.defaultValue });
  store((box) => box.setItem(place(form), kept));
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig.elt.closest("form[data-keeps]");
  const action = withoutQuery(form?.getAttribute("action"));
  const saves = [action, `${action}/skip`];
  if (detail.xhr.status !== 200 || !saves.includes(withoutQuery(detail.pathInfo.requestPath))) return;
  store((box) => box.removeItem(place(form)));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => bringBack(detail.elt));
bringBack(document);
