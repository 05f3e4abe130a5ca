// Addresses and history entries for the browser's Back and reload. A question shown at the form's link, or by a POST to
// another address, gets its own address, so that Back and reload find it. Without cookies the address stays the same,
// and the history entry holds the session, so that a reload continues. The same applies in an iframe of
// another website, which has no cookies and adds no entry to the history of the embedding page.
const framed = window !== window.top;
const remembers = !framed && takesCookies();
const start = location.pathname.match(/^\/r\/[^/]+/)?.[0];

if (remembers) nameShown();
// after a change of language the page has the address of a POST, which cannot be reloaded
if (!remembers && start && !/^\/r\/[^/]+(\/q\/\d+(\/f\/\d+)?|\/check|\/done|\/sent)?$/.test(location.pathname)) {
  const session = document.querySelector("input[name=session]")?.value;
  const query = new URLSearchParams(location.search);
  query.set("lang", document.documentElement.lang);
  history.replaceState({ htmx: true, session }, "", `${start}?${query}`);
} else if (!remembers && history.state?.session) {
  const values = { session: history.state.session, lang: document.documentElement.lang };
  addEventListener("load", () =>
    htmx.ajax("POST", `${start}/resume${framed ? "?embed=1" : ""}`, { target: "#main", values }),
  );
}

function nameShown() {
  const own = document.querySelector("#main form[data-draft-field]")?.getAttribute("action");
  if (start && own && own !== location.pathname) history.replaceState(history.state, "", own);
}

function takesCookies() {
  // navigator.cookieEnabled is true even if the settings of the site block cookies
  const probe = `askback_probe=1; SameSite=Lax; Path=${location.pathname}`;
  try {
    document.cookie = probe;
    const taken = document.cookie.includes("askback_probe=1");
    document.cookie = `${probe}; Max-Age=0`;
    return taken;
  } catch {
    return false; // a frame without an origin
  }
}

document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  if (remembers) return;
  detail.history.type = "replace";
  detail.history.path = location.pathname + location.search;
});

document.addEventListener("htmx:afterSettle", () => {
  const field = document.querySelector("#main input[name=session]");
  if (remembers) nameShown();
  if (remembers || !field) return;
  history.replaceState({ htmx: true, session: field.value }, "");
});
