// Moments in the reader's own time zone; without scripts they are in UTC and say so.
const FORM = { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" };

function localise(part) {
  for (const time of part.querySelectorAll("time[data-clock]")) {
    time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, FORM);
  }
}

document.addEventListener("htmx:afterSettle", ({ detail }) => localise(detail.elt));
localise(document);
