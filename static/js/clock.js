// Moments in the reader's own time zone; without scripts they are in UTC and say so.
// the rest of the page writes numbers with these digits in every language
const DIGITS = "-u-nu-latn";
const FORM = { day: "numeric", month: "long", hour: "numeric", minute: "2-digit" };

function localise(part) {
  for (const time of part.querySelectorAll("time[data-clock]")) {
    const language = document.documentElement.lang + DIGITS;
    time.textContent = new Date(time.dateTime).toLocaleString(language, FORM);
  }
}

document.addEventListener("htmx:afterSettle", ({ detail }) => localise(detail.elt));
localise(document);
