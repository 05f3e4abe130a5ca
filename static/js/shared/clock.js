// Moments in the reader's own time zone, which without scripts are marked as UTC, and days of UTC.
// the rest of the page writes numbers with these digits in every language
const DIGITS = { numberingSystem: "latn" };
const DAY = { day: "numeric", month: "long", ...DIGITS };
const CLOCK = { ...DAY, hour: "numeric", minute: "2-digit" };

// that of the page, in the reader's regional variant
function language() {
  const { lang } = document.documentElement;
  return navigator.languages.find((own) => own.split("-")[0] === lang) ?? lang;
}

function localise(part) {
  for (const time of part.querySelectorAll("time[data-clock], time[data-day]")) {
    const { clock, day } = time.dataset;
    const form = day === undefined ? CLOCK : { ...DAY, timeZone: "UTC" };
    const year = (clock ?? day) || undefined;
    time.textContent = new Date(time.dateTime).toLocaleString(language(), { ...form, year });
  }
}

document.addEventListener("htmx:afterSettle", ({ detail }) => localise(detail.elt));
localise(document);
