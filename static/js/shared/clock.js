// Moments in the reader's own time zone; without scripts they are marked as UTC.
// the rest of the page writes numbers with these digits in every language
const DIGITS = { numberingSystem: "latn" };
const FORM = { day: "numeric", month: "long", hour: "numeric", minute: "2-digit", ...DIGITS };

// that of the page, in the reader's regional variant
function language() {
  const { lang } = document.documentElement;
  return navigator.languages.find((own) => own.split("-")[0] === lang) ?? lang;
}

function localise(part) {
  for (const time of part.querySelectorAll("time[data-clock]")) {
    const year = time.dataset.clock || undefined;
    time.textContent = new Date(time.dateTime).toLocaleString(language(), { ...FORM, year });
  }
}

document.addEventListener("htmx:afterSettle", ({ detail }) => localise(detail.elt));
localise(document);
