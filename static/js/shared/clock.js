// Shows times and days in the reader's own time zone; without scripts they are in UTC.
// the rest of the page uses these digits in every language
const DIGITS = { numberingSystem: "latn" };
const DAY = { day: "numeric", month: "short", ...DIGITS };
const CLOCK = { ...DAY, hour: "2-digit", minute: "2-digit" };
const WHOLE = { dateStyle: "full", timeStyle: "long", ...DIGITS };

// the page's language, in the reader's regional variant; English always as on the server
function language() {
  const { lang } = document.documentElement;
  if (lang === "en") return "en-GB";
  return navigator.languages.find((own) => own.split("-")[0] === lang) ?? lang;
}

export function localise(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const { clock, day, ago } = time.dataset;
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString(language(), WHOLE);
    if (ago !== undefined) continue;
    const form = day === undefined ? CLOCK : DAY;
    time.textContent = at.toLocaleString(language(), { ...form, year: (clock ?? day) || undefined });
  }
}

document.addEventListener("htmx:afterSettle", ({ detail }) => localise(detail.elt));
localise(document);
