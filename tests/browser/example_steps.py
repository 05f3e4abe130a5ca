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


def saving(page: Page, data: ExampleData) -> None:
    """A save while the server is slow."""
    editing("goal")(page, data)
    page.route("**/goal", lambda route: None)
    press(page, "Save")
    page.get_by_role("button", name="Saving…").wait_for()


def signed_out(page: Page, data: ExampleData) -> None:
    """The session has ended while an editor was open."""
    editing("goal")(page, data)
    page.context.clear_cookies()
    press(page, "Save")
    page.get_by_text("You are signed out.").wait_for()


def muted(page: Page, _data: ExampleData) -> None:
    """The inbox with an agent that is muted, from now on."""
    page.goto("/drafts")
    mute = page.get_by_role("button", name="Mute for a day Codex on the build machine")
    menu = page.locator(".list-row__menu", has_text="Mute for a day Codex on the build machine")
    if menu.count():
        menu.first.locator("summary").click()
        mute.first.click()
    page.get_by_role("button", name="Unmute Codex on the build machine").wait_for()


def results_open(page: Page, data: ExampleData) -> None:
    """The results with their details open."""
    page.goto(data.results)
    for fold in page.locator(".overview summary").all():
        fold.click()


def results_new_answers(page: Page, data: ExampleData) -> None:
    """A page that was drawn an hour ago."""
    page.goto(data.results)
    page.locator("#new-answers").evaluate(
        "note => { note.setAttribute('hx-get', note.getAttribute('hx-get')"
        ".replace(/since=(\\d+)/, (_, stamp) => `since=${stamp - 3600000}`)); htmx.process(note) }"
    )
    page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
    page.get_by_role("link", name="new answers").wait_for()


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


def key(name: str) -> Steps:
    return lambda page, _data: page.keyboard.press(name)


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
refused_number = each(
    *(at("{data.rota}"), clicked("#settings summary")),
    *(filled("Maximum questions per person", "abc"), key("Tab"), seen("[aria-invalid=true]")),
)
leaving = each(  # by Escape, after something was written
    *(editing("goal"), filled("Goal", "Half a thought"), key("Escape")),
    seen("button:text-is('Keep writing')"),
)
without_network = each(
    at("/drafts"), ran("dispatchEvent(new Event('offline'))"), seen("text=Can’t update right now.")
)
removing = each(at("{data.rota}"), followed("Remove question 1"), seen("button:text-is('Remove')"))
moved = each(  # a draft that no other page shows, after a change that can be undone
    at("{data.german}"),
    pressed("Move question 1 down", exact=False),
    seen("button:text-is('Undo')"),
)
newer_revision = each(  # the page of an older revision with the notice of a newer one
    *(at("{data.rota}"), outdated("input[name=have]")),
    *(ran("htmx.trigger(document.body, 'app:poll')"), seen("a:text('Show the changes')")),
)
begun = each(at("/drafts/new"), pressed("Begin"), seen("label:text('Title')"))
discarded = each(begun, pressed("Discard"), seen("button:text-is('Undo')"))
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


def results_automated(page: Page, data: ExampleData) -> None:
    """The person whose answers look automated."""
    page.goto(f"{data.results}/people")
    flagged = page.locator(".person").filter(has_text="Looks automated")
    flagged.get_by_role("link", name="Anonymous").click()
    page.get_by_text("This response may be automated.").wait_for()


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
token_revoked = each(
    *(token_made, at("/connections")),
    clicked("button:has-text('A script on my laptop')"),
    seen("text=Revoked:"),
)


def just_returned(page: Page, data: ExampleData) -> None:
    page.goto(f"/drafts?returned={data.returned.rpartition('/')[2]}")


PUBLIC = [
    ExamplePage("sign-in", at("/login")),
    ExamplePage("sign-in-wrong", wrong_password, refused=422),
    ExamplePage("join", at("{data.invite}")),
    ExamplePage("join-refused", short_password, refused=422),
    ExamplePage("docs", at("/docs")),
    *(ExamplePage(f"docs-{known.name}", at(f"/docs/{known.name}")) for known in DOCUMENTS),
    ExamplePage("about", at("/about")),
    ExamplePage("privacy", at("/privacy")),
    ExamplePage("account-deleted", at("/account/deleted")),
    ExamplePage("inbox-empty", new_creator("/drafts")),
    ExamplePage("forms-empty", new_creator("/forms")),
    ExamplePage("connections-empty", new_creator("/connections")),
    ExamplePage("deliveries-empty", new_creator("/deliveries")),
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
        ("review-number-refused", refused_number, 422),
        ("review-saving", saving, 0),
        ("review-leaving", leaving, 0),
        ("review-signed-out", signed_out, 401),
        ("inbox-unrefreshed", without_network, 0),
        ("review-context", editing("private context"), 0),
        ("review-remove", removing, 0),
        ("review-confirmed", at("{data.goodbye}"), 0),
        ("review-undo", moved, 0),
        ("review-news", newer_revision, 0),
        ("review-return", returning, 0),
        ("review-returned", at("{data.returned}"), 0),
        ("return", at("{data.german}/return/edit"), 0),
        ("return-outdated", returned_unread, 409),
        ("inbox-returned", just_returned, 0),
        ("history", at("{data.rota}/history"), 0),
        ("history-returned", at("{data.returned}/history"), 0),
        ("confirm-returned", at("{data.returned}/confirm"), 0),
        ("try", at("{data.rota}/try"), 0),
        ("try-follow-up", tried("It was bad"), 0),
        ("try-refused", tried(""), 422),
        ("inbox-discarded", discarded, 0),
        ("inbox-muted", muted, 0),
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
        ("results-found", at("{data.results}?q=rota&sent=1&from=2020-01-01"), 0),
        ("results-not-found", at("{data.results}?q=nowhere&from=yesterday"), 0),
        ("results-people", at("{data.results}/people"), 0),
        ("results-person", results_person, 0),
        ("results-automated", results_automated, 0),
        ("results-new-answers", results_new_answers, 0),
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
        ("deliveries-found", at("/deliveries?state=failed"), 0),
        ("deliveries-older", at("/deliveries?before=9999999999999-dlv_f"), 0),
        ("deliveries-not-found", at("/deliveries?host=nowhere.example:443"), 0),
        ("deliveries-tested", at("{data.tested}&outcome=arrived"), 0),
        ("deliveries-test-failed", at("{data.tested}&outcome=timeout"), 0),
        ("delivery", delivery_open, 0),
        ("delivery-again", at("{data.delivery}?again=1"), 0),
        ("delivery-waiting", at("{data.delivery_waiting}"), 0),
        ("delivery-called-off", at("{data.delivery_called_off}"), 0),
        ("delivery-turned-away", delivery_turned_away, 0),
        ("delivery-arrived", at("{data.delivery_arrived}"), 0),
        ("account", at("/account"), 0),
        ("account-saved", at("/account?saved=password"), 0),
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
    ExamplePage("token-revoked", token_revoked, signed_in=True),
]

SPOKEN = [
    ExamplePage("question-spoken", at("{data.speak}")),
    ExamplePage("results-spoken", at("{data.spoken}"), signed_in=True),
    ExamplePage("results-settings-spoken", at("{data.spoken}/settings"), signed_in=True),
    ExamplePage("form-voice", at("{data.empty}/voice"), signed_in=True),
]

FOLLOWED = [
    ExamplePage("results-follow-ups", at("{data.followed}"), signed_in=True),
    ExamplePage("results-follow-ups-found", at("{data.followed}?followups=1"), signed_in=True),
    ExamplePage("results-follow-ups-people", at("{data.followed}/people"), signed_in=True),
    ExamplePage("results-follow-ups-person", results_follow_ups_person, signed_in=True),
]

ALL = RESPONDENT + PUBLIC + CREATOR + TOKENS + SPOKEN + FOLLOWED + FOLLOW_UPS
