"""Every page and state that people see, and how a browser gets there."""

from playwright.sync_api import Page

from tests.browser.example_data import ExampleData
from tests.browser.example_pages import ExamplePage, Steps, at, press
from tests.browser.example_respondents import RESPONDENT
from tests.browser.example_texts import NEWCOMER, PASSWORD
from tests.followups.example_follow_ups import FOLLOW_UPS
from webapp.pages.public.docs import DOCUMENTS

NEW = "/connections/tokens/new"


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def editing(part: str) -> Steps:
    """The review page with one part open."""

    def show(page: Page, data: ExampleData) -> None:
        page.goto(data.rota)
        follow(page, f"Edit {part}")
        page.get_by_role("button", name="Save", exact=True).wait_for()

    return show


def refused_title(page: Page, data: ExampleData) -> None:
    editing("title")(page, data)
    page.get_by_label("Title").fill("How " * 40)
    press(page, "Save")
    page.locator(".field__error").wait_for()


def conflicting(page: Page, data: ExampleData) -> None:
    """A title written on the page of an older revision."""
    editing("title")(page, data)
    page.locator("#title [name=revision]").evaluate("field => { field.value = 1 }")
    page.get_by_label("Title").fill("How a rota comes about")
    press(page, "Save")
    page.get_by_role("button", name="Keep mine").wait_for()


def refused_settings(page: Page, data: ExampleData) -> None:
    page.goto(data.unfinished)
    page.locator("#settings summary").click()
    page.get_by_role("radio", name="Smart").check()
    page.locator("#settings-context").wait_for()


def refused_number(page: Page, data: ExampleData) -> None:
    page.goto(data.rota)
    page.locator("#settings summary").click()
    page.get_by_label("Maximum questions per person").fill("abc")
    page.keyboard.press("Tab")
    page.locator("[aria-invalid=true]").wait_for()


def saving(page: Page, data: ExampleData) -> None:
    """A save while the server is slow."""
    editing("goal")(page, data)
    page.route("**/goal", lambda route: None)
    press(page, "Save")
    page.get_by_role("button", name="Saving…").wait_for()


def leaving(page: Page, data: ExampleData) -> None:
    """Escape, after something was written."""
    editing("goal")(page, data)
    page.get_by_label("Goal").fill("Half a thought")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keep writing").wait_for()


def signed_out(page: Page, data: ExampleData) -> None:
    """The session has ended while an editor was open."""
    editing("goal")(page, data)
    page.context.clear_cookies()
    press(page, "Save")
    page.get_by_text("You are signed out.").wait_for()


def without_network(page: Page, _data: ExampleData) -> None:
    page.goto("/drafts")
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.get_by_text("Can’t update right now.").wait_for()


def removing(page: Page, data: ExampleData) -> None:
    page.goto(data.rota)
    follow(page, "Remove question 1")
    page.get_by_role("button", name="Remove", exact=True).wait_for()


def moved(page: Page, data: ExampleData) -> None:
    """A draft that no other page shows, after a change that can be undone."""
    page.goto(data.german)
    page.get_by_role("button", name="Move question 1 down").click()
    page.get_by_role("button", name="Undo").wait_for()


def newer_revision(page: Page, data: ExampleData) -> None:
    """The page of an older revision with the notice of a newer one."""
    page.goto(data.rota)
    page.locator("input[name=have]").evaluate("field => { field.value = 1 }")
    page.evaluate("htmx.trigger(document.body, 'app:poll')")
    page.get_by_role("link", name="Show the changes").wait_for()


def begun(page: Page, _data: ExampleData) -> None:
    page.goto("/drafts/new")
    press(page, "Begin")
    page.get_by_label("Title").wait_for()


def muted(page: Page, _data: ExampleData) -> None:
    """The inbox with an agent that is muted, from now on."""
    page.goto("/drafts")
    mute = page.get_by_role("button", name="Mute for a day Codex on the build machine")
    menu = page.locator(".list-row__menu", has_text="Mute for a day Codex on the build machine")
    if menu.count():
        menu.first.locator("summary").click()
        mute.first.click()
    page.get_by_role("button", name="Unmute Codex on the build machine").wait_for()


def discarded(page: Page, data: ExampleData) -> None:
    """A new draft, discarded at once."""
    begun(page, data)
    page.get_by_role("button", name="Discard", exact=True).click()
    page.get_by_role("button", name="Undo").wait_for()


def returning(page: Page, data: ExampleData) -> None:
    """The review page with a note that is being written."""
    page.goto(data.rota)
    follow(page, "Send back")
    page.get_by_label("Why? (optional)").fill("Shorter, please: three questions at most.")


def returned_unread(page: Page, data: ExampleData) -> None:
    """Send back, on a page that shows an older revision."""
    page.goto(f"{data.rota}/return/edit")
    page.get_by_label("Why? (optional)").fill("Shorter, please: three questions at most.")
    page.locator("input[name=revision]").first.evaluate("field => { field.value = 1 }")
    press(page, "Send back")
    page.get_by_role("button", name="Send back revision 3").wait_for()


def just_returned(page: Page, data: ExampleData) -> None:
    page.goto(f"/drafts?returned={data.returned.rpartition('/')[2]}")


def opened_menu(page: Page, data: ExampleData) -> None:
    page.goto("/drafts")
    page.locator(".list-row__menu summary").first.click()


def changed_meanwhile(page: Page, data: ExampleData) -> None:
    """Publish now, on a page that shows an older revision."""
    page.goto(f"{data.rota}/confirm")
    page.locator("input[name=revision]").first.evaluate("field => { field.value = 1 }")
    page.locator("#confirm-button button").click()
    page.wait_for_load_state()


def refused_website(page: Page, data: ExampleData) -> None:
    """A form that one website may show, and an address that is none."""
    page.goto(f"{data.empty}/share")
    page.get_by_label("Allow embedding").fill("https://www.fernhill.example/about")
    press(page, "Save")
    page.locator(".field__error").wait_for()


def results_open(page: Page, data: ExampleData) -> None:
    """The results with their details open."""
    page.goto(data.results)
    for fold in page.locator(".overview summary").all():
        fold.click()


def results_filters(page: Page, data: ExampleData) -> None:
    page.goto(data.results)
    page.get_by_text("Filters", exact=True).click()


def erasing(page: Page, _data: ExampleData) -> None:
    page.goto("/forms/trash")
    page.get_by_role("link", name="Erase now").click()
    page.get_by_role("button", name="Erase it for good").wait_for()


def results_person(page: Page, data: ExampleData) -> None:
    page.goto(f"{data.results}/people")
    page.get_by_role("link", name="Sam Okafor").first.click()
    page.get_by_text("All responses").wait_for()


def results_follow_ups_person(page: Page, data: ExampleData) -> None:
    page.goto(f"{data.followed}/people")
    page.get_by_role("link", name="Sam Okafor").click()
    page.get_by_text("All responses").wait_for()


def results_automated(page: Page, data: ExampleData) -> None:
    """The person whose answers look automated."""
    page.goto(f"{data.results}/people")
    flagged = page.locator(".person").filter(has_text="Looks automated")
    flagged.get_by_role("link", name="Anonymous").click()
    page.get_by_text("This response may be automated.").wait_for()


def results_new_answers(page: Page, data: ExampleData) -> None:
    """A page that was drawn an hour ago."""
    page.goto(data.results)
    page.locator("#new-answers").evaluate(
        "note => { note.setAttribute('hx-get', note.getAttribute('hx-get')"
        ".replace(/since=(\\d+)/, (_, stamp) => `since=${stamp - 3600000}`)); htmx.process(note) }"
    )
    page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
    page.get_by_role("link", name="new answers").wait_for()


def delivery_open(page: Page, data: ExampleData) -> None:
    """Headers and answers of the last two tries are shown."""
    page.goto(data.delivery)
    for number in (0, 1):
        page.locator(".attempt summary").nth(number).click()


def delivery_turned_away(page: Page, data: ExampleData) -> None:
    """The answer that came back means no good."""
    page.goto(data.delivery_turned_away)
    page.locator(".attempt summary").click()


def wrong_password(page: Page, _data: ExampleData) -> None:
    page.goto("/login")
    page.get_by_label("E-mail").fill("ann@fernhill.example")
    page.get_by_label("Password").fill("not my password")
    press(page, "Sign in")
    page.locator(".field__error").wait_for()


def refused_password(page: Page, _data: ExampleData) -> None:
    page.goto("/account")
    page.get_by_label("Current password").fill("not my password")
    page.get_by_label("New password").fill("another four plain words")
    press(page, "Change password")
    page.locator(".field__error").wait_for()


def short_password(page: Page, data: ExampleData) -> None:
    page.goto(data.invite)
    page.get_by_label("E-mail").fill("linus@fernhill.example")
    page.get_by_label("Password").fill("aaaaaaaaaaaaa")
    press(page, "Create account")
    page.locator(".field__error").wait_for()


def token_refused(page: Page, _data: ExampleData) -> None:
    page.goto(NEW)
    page.get_by_label("Days until it ends").fill("ninety")
    press(page, "Make the token")
    page.locator(".field__error").wait_for()


def token_made(page: Page, _data: ExampleData) -> None:
    page.goto(NEW)
    page.get_by_label("What it is for").fill("A script on my laptop")
    press(page, "Make the token")
    page.get_by_label("Agent token").wait_for()


def token_revoked(page: Page, data: ExampleData) -> None:
    token_made(page, data)
    page.goto("/connections")
    page.get_by_role("button", name="Revoke A script on my laptop").first.click()
    page.get_by_text("Revoked:").wait_for()


def tried(answer: str) -> Steps:
    """What follows from an answer to the first question of a draft that is tried."""

    def show(page: Page, data: ExampleData) -> None:
        page.goto(f"{data.rota}/try")
        page.locator("textarea").fill(answer)
        with page.expect_navigation():
            page.get_by_role("button", name="Continue").click()

    return show


def new_creator(path: str) -> Steps:
    """A page of somebody who has nothing yet; its address as of `at`."""

    def show(page: Page, data: ExampleData) -> None:
        page.goto("/login")
        page.get_by_label("E-mail").fill(NEWCOMER)
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Sign in")
        page.wait_for_url("**/drafts")
        page.goto(path.format(data=data))

    return show


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
