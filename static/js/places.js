// Where the browser's Back and reload lead. A first question shown at the start of the link gets its
// own address, so that Back finds it. A browser that refuses cookies keeps one address, and the
// session in its history entry, so that a reload goes on.
const form = document.querySelector("form[data-keeps]");
const session = form?.elements.session.value;
const start = location.pathname.match(/^\/r\/[^/]+/)?.[0];

if (navigator.cookieEnabled) {
  const first = form && location.pathname === start;
  if (first) history.replaceState(history.state, "", form.getAttribute("action"));
} else if (history.state?.session && history.state.session !== session) {
  const values = { session: history.state.session };
  addEventListener("load", () =>
    htmx.ajax("POST", `${start}/resume`, { target: "#main", values }),
  );
}

document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  if (navigator.cookieEnabled) return;
  detail.history.type = "replace";
  detail.history.path = location.pathname;
});

document.addEventListener("htmx:afterSettle", () => {
  const field = document.querySelector("#main input[name=session]");
  if (navigator.cookieEnabled || !field) return;
  history.replaceState({ htmx: true, session: field.value }, "");
});
