"""What people's browsers make of a page: translators, in-app browsers, extensions. It is answered
to the end, without an error of a script.
"""

from playwright.sync_api import Page, expect
from sqlalchemy import select

from tests.browser.respondent.voice.steps import SpokenLink
from tests.browser.respondent_steps import press
from webapp.base.database import db
from webapp.records.responses.models import ResponseSession

# calls `change` for the parts of each page and of whatever is swapped into it
ON_PARTS = """
const watched = new MutationObserver((records) => {
  for (const { addedNodes } of records) for (const node of addedNodes) change(node);
});
watched.observe(document, { childList: true, subtree: true });
"""
TRANSLATOR = (
    """(() => {
  const LEFT = "script, style, textarea, title, font";
  function change(node) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = node.nodeType === Node.TEXT_NODE ? [node] : [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const parent = text.parentElement;
      if (!parent || !text.data.trim() || parent.closest(LEFT)) continue;
      const fonts = [document.createElement("font"), document.createElement("font")];
      fonts[1].textContent = `«${text.data}»`;
      for (const font of fonts) font.style.verticalAlign = "inherit";
      fonts[0].append(fonts[1]);
      text.replaceWith(fonts[0]);
    }
    document.documentElement.lang = "xx";
    document.documentElement.classList.add("translated-ltr");
  }
"""
    + ON_PARTS
    + "})()"
)
EXTENSION = (
    """(() => {
  const GONE = "[name=website], [data-saving], #draft-note, #character-count, [data-retry]";
  const ADDED = [["ext_id", "hidden"], ["ext_file", "file"], ["", "text"], ["form", "text"]];
  function change(node) {
    if (node.nodeType !== Node.ELEMENT_NODE || node.closest("[data-added]")) return;
    for (const form of document.forms) {
      if (form.dataset.seen) continue;
      form.dataset.seen = "1";
      for (const [name, type] of ADDED) {
        const added = Object.assign(document.createElement("input"), { name, type, hidden: true });
        added.dataset.added = "1";
        added.setAttribute("form-control", "x");
        form.prepend(added);
      }
      const box = form.querySelector("textarea");
      if (box) {
        const twin = box.cloneNode();
        twin.removeAttribute("id");
        Object.assign(twin, { hidden: true });
        twin.dataset.added = "1";
        box.dataset.gramm = "true";
        const around = document.createElement("ext-around");
        around.dataset.added = "1";
        box.replaceWith(around);
        around.append(box, twin);
      }
      for (const gone of form.querySelectorAll(GONE)) gone.remove();
    }
    for (const gone of node.querySelectorAll(".count")) gone.remove();
  }
"""
    + ON_PARTS
    + "})()"
)
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
  const get = () => { throw new DOMException("", "SecurityError"); };
  Object.defineProperty(window, name, { get, configurable: true });
}"""
BARE = """for (const name of ["mediaDevices", "permissions", "clipboard", "serviceWorker"]) {
  Object.defineProperty(navigator, name, { value: undefined, configurable: true });
}
delete window.MediaRecorder;
delete window.AudioContext;"""


def test_a_changed_page_is_answered_to_the_end(page: Page, link: SpokenLink) -> None:
    for script in (NO_STORAGE, BARE, EXTENSION, TRANSLATOR):
        page.add_init_script(script)
    page.goto(link.path)
    for number, words in enumerate(["Me", "It ran twice", "Nothing"], start=1):
        page.wait_for_url(f"**/q/{number}")
        page.locator("#answer").fill(words)
        press(page, "Continue")
    page.wait_for_url("**/check")
    press(page, "Back")
    page.wait_for_url("**/q/3")
    expect(page.locator("#answer")).to_have_value("Nothing")
    page.locator("#answer").fill("Nothing at all")
    press(page, "Continue")
    page.wait_for_url("**/check")
    page.locator("#name").fill("Robin")
    press(page, "Send to")
    page.wait_for_url("**/done")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")

    assert link.texts() == ["Me", "It ran twice", "Nothing at all"]
    with link.app.app_context():
        assert list(db.session.scalars(select(ResponseSession.responder_name))) == ["Robin"]
