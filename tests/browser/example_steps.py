"""Every page and state that people see, and how a browser gets there."""

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import (
    ExamplePage,
    Steps,
    at,
    clicked,
    each,
    filled,
    followed,
    outdated,
    press,
    pressed,
    seen,
)
from tests.browser.example_respondents import RESPONDENT
from tests.browser.example_texts import NEWCOMER, PASSWORD
from tests.followups.example_follow_ups import FOLLOW_UPS
from webapp.pages.public.docs import DOCUMENTS

NEW = "/connections/tokens/new"
REFUSED = seen(".field__error")
WHY = filled("Why? (optional)", "Shorter, please: three questions at most.")


def signed_in(email: str, password: str) -> Steps:
    return each(
        at("/login"), filled("E-mail", email), filled("Password", password), pressed("Sign in")
    )


def new_creator(path: str) -> Steps:
    """A page of somebody who has nothing yet; its address as of `at`."""
    arrived = lambda page, _data: page.wait_for_url("**/drafts")  # noqa: E731
    return each(signed_in(NEWCOMER, PASSWORD), arrived, at(path))


def editing(part: str) -> Steps:
    """The review page with one part open."""
    saved = seen("button:text-is('Save')")
    return each(at("{data.rota}"), followed(f"Edit {part}"), saved)


def signed_out(page: Page, data: ExampleData) -> None:
    """The session has ended while an editor was open."""
    editing("goal")(page, data)
    page.context.clear_cookies()
    press(page, "Save")
    page.get_by_text("You are signed out.").wait_for()


def results_open(page: Page, data: ExampleData) -> None:
    """The results with their details open."""
    page.goto(data.results)
    for fold in page.locator(".overview summary").all():
        fold.click()


def tried(answer: str) -> Steps:
    """What follows from an answer to the first question of a draft that is tried."""

    def show(page: Page, data: ExampleData) -> None:
        page.goto(f"{data.rota}/try")
        page.locator("textarea").fill(answer)
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()

    return show


def ran(script: str) -> Steps:
    return lambda page, _data: page.evaluate(script)


refused_title = each(editing("title"), filled("Title", "How " * 40), pressed("Save"), REFUSED)
conflicting = each(  # a title written on the page of an older revision
    *(editing("title"), outdated("#title [name=revision]")),
    *(filled("Title", "How a rota comes about"), pressed("Save")),
    seen("button:text-is('Keep mine')"),
)
refused_settings = each(
    *(at("{data.unfinished}"), clicked("#settings summary")),
    *(lambda page, _data: page.get_by_role("radio", name="Smart").check(),),
    seen("#settings-context"),
)
moved = each(  # a draft that no other page shows, after a change that can be undone
    at("{data.german}"),
    pressed("Move question 1 down", exact=False),
    seen("button:text-is('Undo')"),
)
newer_revision = each(  # the page of an older revision with the notice of a newer one
    *(at("{data.rota}"), outdated("input[name=have]")),
    *(ran("htmx.trigger(document.body, 'app:poll')"), seen("a:text('Show the changes')")),
)
returning = each(at("{data.rota}"), followed("Send back"), WHY)
returned_unread = each(  # on a page that shows an older revision
    *(at("{data.rota}/return/edit"), WHY, outdated(), pressed("Send back")),
    seen("button:text('Send back revision 3')"),
)
changed_meanwhile = each(  # Publish now, on a page that shows an older revision
    *(at("{data.rota}/confirm"), outdated(), clicked("#confirm-button button")),
    lambda page, _data: page.wait_for_load_state(),
)
refused_website = each(  # a form that one website may show, and an address that is none
    at("{data.empty}/share"),
    *(filled("Allow embedding", "https://www.fernhill.example/about"), pressed("Save"), REFUSED),
)
opened_menu = each(at("/drafts"), clicked(".list-row__menu summary"))
results_filters = each(at("{data.results}"), clicked("text='Filters'"))
erasing = each(at("/forms/trash"), followed("Erase now"), seen("button:text('Erase it for good')"))
results_person = each(
    at("{data.results}/people"), followed("Sam Okafor"), seen("text=All responses")
)
results_follow_ups_person = each(
    at("{data.followed}/people"), followed("Sam Okafor"), seen("text=All responses")
)


delivery_open = each(  # headers and answers of the last two tries are shown
    *(at("{data.delivery}"), clicked(".attempt summary >> nth=0")),
    clicked(".attempt summary >> nth=1"),
)
delivery_turned_away = each(at("{data.delivery_turned_away}"), clicked(".attempt summary"))
wrong_password = each(signed_in("ann@fernhill.example", "not my password"), REFUSED)
refused_password = each(
    *(at("/account"), filled("Current password", "not my password")),
    *(filled("New password", "another four plain words"), pressed("Change password"), REFUSED),
)
short_password = each(
    *(at("{data.invite}"), filled("E-mail", "linus@fernhill.example")),
    *(filled("Password", "aaaaaaaaaaaaa"), pressed("Create account"), REFUSED),
)
token_refused = each(
    at(NEW), filled("Days until it ends", "ninety"), pressed("Make the token"), REFUSED
)
token_made = each(
    *(at(NEW), filled("What it is for", "A script on my laptop"), pressed("Make the token")),
    lambda page, _data: page.get_by_label("Agent token").wait_for(),
)


PUBLIC = [
    ExamplePage("sign-in", at("/login")),
    ExamplePage("sign-in-wrong", wrong_password, refused=422),
    ExamplePage("join", at("{data.invite}")),
    ExamplePage("join-refused", short_password, refused=422),
    ExamplePage("docs", at("/docs")),
    *(ExamplePage(f"docs-{each['name']}", at(f"/docs/{each['name']}")) for each in DOCUMENTS),
    ExamplePage("about", at("/about")),
    ExamplePage("privacy", at("/privacy")),
    ExamplePage("account-deleted", at("/account/deleted")),
    ExamplePage("inbox-empty", new_creator("/drafts")),
    ExamplePage("forms-empty", new_creator("/forms")),
    ExamplePage("consent-refused", new_creator("{data.consent}&prompt=none"), refused=400),
    ExamplePage("join-gone", at("/join/used-up"), refused=410),
]
CREATOR = [
    ExamplePage(name, show, signed_in=True, refused=refused)
    for name, show, refused in [
        ("inbox", at("/drafts"), 0),
        ("review", at("{data.rota}"), 0),
        ("review-question", editing("question 2"), 0),
        ("review-title-refused", refused_title, 422),
        ("review-title-conflict", conflicting, 409),
        ("review-settings-refused", refused_settings, 422),
        ("review-signed-out", signed_out, 401),
        ("review-confirmed", at("{data.goodbye}"), 0),
        ("review-undo", moved, 0),
        ("review-news", newer_revision, 0),
        ("review-return", returning, 0),
        ("review-returned", at("{data.returned}"), 0),
        ("return-outdated", returned_unread, 409),
        ("history", at("{data.rota}/history"), 0),
        ("try", at("{data.rota}/try"), 0),
        ("try-follow-up", tried("It was bad"), 0),
        ("try-refused", tried(""), 422),
        ("new", at("/drafts/new"), 0),
        ("tidy", at("/drafts/tidy"), 0),
        ("inbox-menu", opened_menu, 0),
        ("confirm", at("{data.rota}/confirm"), 0),
        ("confirm-incomplete", at("{data.unfinished}/confirm"), 0),
        ("confirm-stale", changed_meanwhile, 409),
        ("share", at("{data.share}"), 0),
        ("share-website-refused", refused_website, 422),
        ("forms", at("/forms"), 0),
        ("results", at("{data.results}"), 0),
        ("results-open", results_open, 0),
        ("results-filters", results_filters, 0),
        ("results-not-found", at("{data.results}?q=nowhere&from=yesterday"), 0),
        ("results-people", at("{data.results}/people"), 0),
        ("results-person", results_person, 0),
        ("results-older", at("{data.results}/questions/1"), 0),
        ("results-empty", at("{data.empty}"), 0),
        ("results-deleted", at("{data.deleted}/people?deleted=1"), 0),
        ("results-delete-automated", at("{data.results}/automated/delete"), 0),
        ("form-delete", at("{data.results}/delete"), 0),
        ("trash", at("/forms/trash"), 0),
        ("form-erase", erasing, 0),
        ("results-settings", at("{data.results}/settings"), 0),
        ("consent", at("{data.consent}"), 0),
        (
            "consent-no-document",
            at("/oauth/authorize?client_id=https://a.example:8443/c.json"),
            400,
        ),
        ("connections", at("/connections"), 0),
        ("deliveries", at("/deliveries"), 0),
        ("deliveries-test-failed", at("{data.tested}&outcome=timeout"), 0),
        ("delivery", delivery_open, 0),
        ("delivery-waiting", at("{data.delivery_waiting}"), 0),
        ("delivery-turned-away", delivery_turned_away, 0),
        ("account", at("/account"), 0),
        ("account-refused", refused_password, 422),
        ("account-delete", at("/account/delete"), 0),
        ("account-activity", at("/account/activity"), 0),
        ("no-draft", at("/drafts/nothing-here"), 404),
    ]
]

TOKENS = [
    ExamplePage("token-new", at(NEW), signed_in=True),
    ExamplePage("token-refused", token_refused, signed_in=True, refused=422),
    ExamplePage("token-made", token_made, signed_in=True),
]

SPOKEN = [
    ExamplePage("question-spoken", at("{data.speak}")),
    ExamplePage("results-spoken", at("{data.spoken}"), signed_in=True),
    ExamplePage("results-settings-spoken", at("{data.spoken}/settings"), signed_in=True),
    ExamplePage("form-voice", at("{data.empty}/voice"), signed_in=True),
]

FOLLOWED = [
    ExamplePage("results-follow-ups", at("{data.followed}"), signed_in=True),
    ExamplePage("results-follow-ups-person", results_follow_ups_person, signed_in=True),
]

ALL = RESPONDENT + PUBLIC + CREATOR + TOKENS + SPOKEN + FOLLOWED + FOLLOW_UPS
