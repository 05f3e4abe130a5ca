"""Every page and state that people see, and how a browser gets there in the example installation.

A scene changes nothing that another scene shows: answers are given in sessions of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.browser.example_data import Cafe
from tests.browser.example_texts import ANSWERS, NEWCOMER, PASSWORD
from webapp.pages.public.docs import DOCUMENTS

Steps = Callable[[Page, Cafe], Any]


@dataclass(frozen=True)
class Scene:
    """`refused` is the status of a page that says no on purpose."""

    name: str
    show: Steps
    signed_in: bool = False
    refused: int = 0

    def __str__(self) -> str:
        return self.name


def at(path: str) -> Steps:
    """A page of a fixed address, or of one named by an attribute of the café in braces."""
    return lambda page, cafe: page.goto(path.format(cafe=cafe))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


# --- respondents ---


def give(page: Page, text: str) -> None:
    """Answer the question on the page and wait for what comes next."""
    before = page.title()
    page.locator("#answer").fill(text)
    press(page, "Continue")
    page.wait_for_function("before => document.title !== before", arg=before)


def second_question(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    give(page, ANSWERS[0][1])


def typed(page: Page, cafe: Cafe) -> None:
    second_question(page, cafe)
    page.locator("#answer").fill(ANSWERS[0][2])


def empty_answer(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    press(page, "Continue")
    page.locator("#answer-error").wait_for()


def all_answers(page: Page, cafe: Cafe) -> None:
    typed(page, cafe)
    press(page, "Continue")
    page.get_by_text("Question 3 of 3").wait_for()
    press(page, "Skip this question")
    page.get_by_label("Your name").wait_for()


def dark_chosen(page: Page, cafe: Cafe) -> None:
    """The colours chosen by hand, and the choice open."""
    page.goto(cafe.asks)
    page.locator("summary", has_text="Colours").click()
    press(page, "Dark")
    page.locator("html[data-theme=dark]").wait_for()
    page.locator("summary", has_text="Colours").click()


def nothing_answered(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.asks)
    for number in (1, 2, 3):
        page.get_by_text(f"Question {number} of 3").wait_for()
        press(page, "Skip this question")
    page.get_by_role("button", name="Send to Ann").click()
    page.locator(".note--alarm").wait_for()


def sent(page: Page, cafe: Cafe) -> None:
    all_answers(page, cafe)
    page.get_by_label("Your name").fill("Sam Okafor")
    page.get_by_role("button", name="Send to Ann").click()
    page.get_by_text("Nothing more is asked of you").wait_for()


def read_again(page: Page, cafe: Cafe) -> None:
    sent(page, cafe)
    press(page, "See what I sent")
    page.get_by_text("This is what you sent.").wait_for()


def deleting(page: Page, cafe: Cafe) -> None:
    sent(page, cafe)
    press(page, "Delete my answers")
    page.get_by_text("Delete all your answers?").wait_for()


def elsewhere(page: Page, cafe: Cafe) -> None:
    typed(page, cafe)
    press(page, "Finish on another device")
    page.locator("#link").wait_for()


def arriving(page: Page, cafe: Cafe) -> None:
    """The page behind the link; who opens it has no session of their own yet."""
    elsewhere(page, cafe)
    page.goto(page.locator("#link").input_value())


def brought_back(page: Page, cafe: Cafe) -> None:
    typed(page, cafe)
    page.reload()
    page.get_by_text("Your unsent words are back.").wait_for()


def not_saved(page: Page, cafe: Cafe) -> None:
    typed(page, cafe)
    page.route("**/q/2", lambda route: route.fulfill(status=429, headers={"Retry-After": "99"}))
    press(page, "Continue")
    page.locator(".note--alarm").wait_for()


def deleted(page: Page, cafe: Cafe) -> None:
    deleting(page, cafe)
    press(page, "Yes, delete my answers")
    page.get_by_text("Delete all your answers?").wait_for(state="detached")


def in_arabic(page: Page, cafe: Cafe) -> None:
    """The first question, with all languages to choose from."""
    page.goto(f"{cafe.asks}?lang=ar")
    page.locator(".languages summary").first.click()
    page.get_by_role("button", name="Deutsch").wait_for()


def in_german(page: Page, cafe: Cafe) -> None:
    """The page with the most words, in the language with the longest."""
    page.goto(f"{cafe.asks}?lang=de")
    for number in (1, 2, 3):
        page.get_by_text(f"Frage {number} von 3").wait_for()
        press(page, "Diese Frage überspringen")
    page.get_by_label("Ihr Name").wait_for()


RESPONDENT = [
    Scene("question", at("{cafe.asks}")),
    Scene("question-typed", typed),
    Scene("question-second", second_question),
    Scene("question-empty", empty_answer, refused=422),
    Scene("question-brought-back", brought_back),
    Scene("question-not-saved", not_saved, refused=429),
    Scene("elsewhere", elsewhere),
    Scene("arrival", arriving),
    Scene("link-used-up", at("{cafe.asks}/continue/nothing-is-here-nothing-is-here"), refused=410),
    Scene("question-dark-chosen", dark_chosen),
    Scene("check", all_answers),
    Scene("check-empty", nothing_answered, refused=422),
    Scene("thanks", sent),
    Scene("sent", read_again),
    Scene("withdrawal", deleting),
    Scene("withdrawn", deleted),
    Scene("question-ar", in_arabic),
    Scene("check-de", in_german),
    Scene("closed", at("{cafe.closed}"), refused=410),
    Scene("already-answered", at("{cafe.answered}"), refused=410),
    Scene("no-form", at("/r/nothing-is-here-nothing-is-here"), refused=404),
]

# --- creators ---


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def editing(part: str) -> Steps:
    """The review page with one part open."""

    def show(page: Page, cafe: Cafe) -> None:
        page.goto(cafe.rota)
        follow(page, f"Edit {part}")
        page.get_by_role("button", name="Save", exact=True).wait_for()

    return show


def refused_title(page: Page, cafe: Cafe) -> None:
    editing("title")(page, cafe)
    page.get_by_label("Title").fill("How " * 40)
    press(page, "Save")
    page.locator(".field__error").wait_for()


def conflicting(page: Page, cafe: Cafe) -> None:
    """A title written on the page of an older revision."""
    editing("title")(page, cafe)
    page.locator("#title [name=revision]").evaluate("field => { field.value = 1 }")
    page.get_by_label("Title").fill("How a rota comes about")
    press(page, "Save")
    page.get_by_role("button", name="Keep mine").wait_for()


def refused_settings(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.unfinished)
    page.get_by_role("radio", name="Smart").check()
    page.locator("#settings .field__error").wait_for()


def refused_number(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.rota)
    page.get_by_label("Questions in all, at most").fill("abc")
    page.keyboard.press("Tab")
    page.locator("[aria-invalid=true]").wait_for()


def saving(page: Page, cafe: Cafe) -> None:
    """The server takes its time."""
    editing("goal")(page, cafe)
    page.route("**/goal", lambda route: None)
    press(page, "Save")
    page.get_by_role("button", name="Saving…").wait_for()


def signed_out(page: Page, cafe: Cafe) -> None:
    """The session ended while somebody was writing."""
    editing("goal")(page, cafe)
    page.context.clear_cookies()
    press(page, "Save")
    page.get_by_text("You are signed out.").wait_for()


def without_network(page: Page, _cafe: Cafe) -> None:
    page.goto("/drafts")
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.get_by_text("Could not refresh.").wait_for()


def removing(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.rota)
    follow(page, "Remove question 1")
    page.get_by_role("button", name="Remove", exact=True).wait_for()


def moved(page: Page, cafe: Cafe) -> None:
    """A draft of no other scene, after a change that can be undone."""
    page.goto(cafe.german)
    page.get_by_role("button", name="Move question 1 down").click()
    page.get_by_role("button", name="Undo").wait_for()


def told(page: Page, cafe: Cafe) -> None:
    """The page of an older revision hears of the newer one."""
    page.goto(cafe.rota)
    page.locator("input[name=have]").evaluate("field => { field.value = 1 }")
    page.evaluate("htmx.trigger(document.body, 'app:tick')")
    page.get_by_role("link", name="Show the changes").wait_for()


def begun(page: Page, _cafe: Cafe) -> None:
    page.goto("/drafts/new")
    press(page, "Begin")
    page.get_by_label("Title").wait_for()


def put_away(page: Page, cafe: Cafe) -> None:
    """A new draft, discarded at once."""
    begun(page, cafe)
    follow(page, "Discard draft")
    press(page, "Discard it")
    page.get_by_role("button", name="Undo").wait_for()


def changed_meanwhile(page: Page, cafe: Cafe) -> None:
    """Publish now, on a page that shows an older revision."""
    page.goto(f"{cafe.rota}/confirm")
    page.locator("input[name=revision]").first.evaluate("field => { field.value = 1 }")
    press(page, "Publish now")
    page.wait_for_load_state()


def refused_website(page: Page, cafe: Cafe) -> None:
    """A form that one website may show, and an address that is none."""
    page.goto(f"{cafe.empty}/share")
    page.get_by_label("Websites that").fill("https://www.fernhill.example/about")
    press(page, "Save")
    page.locator(".field__error").wait_for()


def results_open(page: Page, cafe: Cafe) -> None:
    """The results with every fold open."""
    page.goto(cafe.results)
    for fold in page.locator("summary").all():
        fold.click()


def erasing(page: Page, _cafe: Cafe) -> None:
    page.goto("/forms/trash")
    page.get_by_role("link", name="Erase now").click()
    page.get_by_role("button", name="Erase it for good").wait_for()


def results_person(page: Page, cafe: Cafe) -> None:
    page.goto(f"{cafe.results}/people")
    page.get_by_role("link", name="Sam Okafor").first.click()
    page.get_by_text("Everybody who answered").wait_for()


def results_automated(page: Page, cafe: Cafe) -> None:
    """The person whose answers look automated."""
    page.goto(f"{cafe.results}/people")
    flagged = page.locator(".person").filter(has_text="Looks automated")
    flagged.get_by_role("link", name="No name").click()
    page.get_by_text("This may be the work of a program.").wait_for()


def results_news(page: Page, cafe: Cafe) -> None:
    """A page that was drawn before anybody answered."""
    page.goto(cafe.results)
    page.evaluate(
        "document.getElementById('news').setAttribute('hx-get', "
        "document.getElementById('news').getAttribute('hx-get').replace(/since=\\d+/, 'since=1'))"
    )
    page.evaluate("htmx.process(document.getElementById('news'))")
    page.evaluate("document.body.dispatchEvent(new Event('app:tick'))")
    page.get_by_role("link", name="new answers").wait_for()


def wrong_password(page: Page, _cafe: Cafe) -> None:
    page.goto("/login")
    page.get_by_label("E-mail").fill("ann@fernhill.example")
    page.get_by_label("Password").fill("not my password")
    press(page, "Sign in")
    page.locator(".field__error").wait_for()


def refused_password(page: Page, _cafe: Cafe) -> None:
    page.goto("/account")
    page.get_by_label("Your password now").fill("not my password")
    page.get_by_label("New password").fill("another four plain words")
    press(page, "Change password")
    page.locator(".field__error").wait_for()


def short_password(page: Page, cafe: Cafe) -> None:
    page.goto(cafe.invite)
    page.get_by_label("E-mail").fill("linus@fernhill.example")
    page.get_by_label("Password").fill("aaaaaaaaaaaaa")
    press(page, "Make my account")
    page.locator(".field__error").wait_for()


def newcomer(path: str) -> Steps:
    """A page of somebody who has nothing yet; its address as of `at`."""

    def show(page: Page, cafe: Cafe) -> None:
        page.goto("/login")
        page.get_by_label("E-mail").fill(NEWCOMER)
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Sign in")
        page.wait_for_url("**/drafts")
        page.goto(path.format(cafe=cafe))

    return show


DOOR = [
    Scene("sign-in", at("/login")),
    Scene("sign-in-wrong", wrong_password, refused=422),
    Scene("join", at("{cafe.invite}")),
    Scene("join-refused", short_password, refused=422),
    Scene("docs", at("/docs")),
    *(Scene(f"docs-{known.name}", at(f"/docs/{known.name}")) for known in DOCUMENTS),
    Scene("privacy", at("/privacy")),
    Scene("account-deleted", at("/account/deleted")),
    Scene("inbox-empty", newcomer("/drafts")),
    Scene("forms-empty", newcomer("/forms")),
    Scene("connections-empty", newcomer("/connections")),
    Scene("consent-refused", newcomer("{cafe.consent}&prompt=none"), refused=400),
    Scene("join-gone", at("/join/used-up"), refused=410),
]
CREATOR = [
    Scene(name, show, signed_in=True, refused=refused)
    for name, show, refused in [
        ("inbox", at("/drafts"), 0),
        ("review", at("{cafe.rota}"), 0),
        ("review-question", editing("question 2"), 0),
        ("review-title-refused", refused_title, 422),
        ("review-title-conflict", conflicting, 409),
        ("review-settings-refused", refused_settings, 422),
        ("review-number-refused", refused_number, 422),
        ("review-saving", saving, 0),
        ("review-signed-out", signed_out, 401),
        ("inbox-unrefreshed", without_network, 0),
        ("review-context", editing("private context"), 0),
        ("review-remove", removing, 0),
        ("review-confirmed", at("{cafe.goodbye}"), 0),
        ("review-undo", moved, 0),
        ("review-news", told, 0),
        ("history", at("{cafe.rota}/history"), 0),
        ("inbox-discarded", put_away, 0),
        ("new", at("/drafts/new"), 0),
        ("tidy", at("/drafts/tidy"), 0),
        ("discard", at("{cafe.german}/discard"), 0),
        ("confirm", at("{cafe.rota}/confirm"), 0),
        ("confirm-incomplete", at("{cafe.unfinished}/confirm"), 0),
        ("confirm-stale", changed_meanwhile, 409),
        ("share", at("{cafe.share}"), 0),
        ("share-website-refused", refused_website, 422),
        ("forms", at("/forms"), 0),
        ("results", at("{cafe.results}"), 0),
        ("results-open", results_open, 0),
        ("results-found", at("{cafe.results}?q=rota&sent=1&from=2020-01-01"), 0),
        ("results-not-found", at("{cafe.results}?q=nowhere&from=yesterday"), 0),
        ("results-people", at("{cafe.results}/people"), 0),
        ("results-person", results_person, 0),
        ("results-automated", results_automated, 0),
        ("results-news", results_news, 0),
        ("results-older", at("{cafe.results}/questions/1"), 0),
        ("results-empty", at("{cafe.empty}"), 0),
        ("form-delete", at("{cafe.results}/delete"), 0),
        ("trash", at("/forms/trash"), 0),
        ("form-erase", erasing, 0),
        ("results-settings", at("{cafe.results}/settings"), 0),
        ("consent", at("{cafe.consent}"), 0),
        ("connections", at("/connections"), 0),
        ("account", at("/account"), 0),
        ("account-saved", at("/account?saved=password"), 0),
        ("account-refused", refused_password, 422),
        ("account-delete", at("/account/delete"), 0),
        ("account-activity", at("/account/activity"), 0),
        ("no-draft", at("/drafts/nothing-here"), 404),
    ]
]

ALL = RESPONDENT + DOOR + CREATOR
