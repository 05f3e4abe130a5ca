"""Ways through the recorder. Each passes states that the others do not, and stops where it says
something new; by no word of a language, so that they lead through every translation.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Page, Route, expect

from tests.browser.respondent.voice.steps import UPLOADS, SpokenLink, runs
from webapp.base.vocabulary import TranscriptState

# no microphone before `allow()`; `stream` is the one that the page has then
HELD = """{
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    await new Promise((done) => { window.allow = done; });
    return (window.stream = await ask(wanted));
  };
}"""
SILENT = """navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  const out = context.createMediaStreamDestination();
  const tone = new OscillatorNode(context);
  tone.connect(new GainNode(context, { gain: 0 })).connect(out);
  tone.start();
  return out.stream;
}"""
REFUSED = """(name) => {
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", name); };
}"""
REFUSALS = {
    "denied": "NotAllowedError",
    "missing": "NotFoundError",
    "busy": "NotReadableError",
    "failed": "UnknownError",
}


def do(page: Page, action: str) -> None:
    """Press Enter on the button, which has the focus or gets it."""
    button = page.locator(f"[data-do={action}]")
    if not button.evaluate("(it) => it === document.activeElement"):
        button.focus()
    page.keyboard.press("Enter")


def told(page: Page, name: str) -> str:
    """Wait until the recorder says the text of that name."""
    line = page.locator(f"[data-status] [data-text={name}]")
    expect(line).to_be_visible(timeout=15_000)
    return name


class HeldUploads:
    """Uploads that wait until they are answered, with 503 if the server does not get them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._held: list[Route] = []
        page.route(UPLOADS, lambda route: self._held.append(route))

    def fail(self) -> None:
        while not self._held:
            self._page.wait_for_timeout(50)
        # nobody tries again while the page is looked at
        self._held.pop().fulfill(status=503, headers={"Retry-After": "600"})

    def let_through(self) -> None:
        self._page.unroute(UPLOADS)


def from_first_to_last(page: Page, _link: SpokenLink) -> Iterator[str]:
    yield "ready"
    do(page, "record")
    runs(page, 2)
    expect(page.locator("[data-do=stop]")).to_be_focused()
    yield told(page, "recording")
    do(page, "pause")
    yield told(page, "paused")
    do(page, "discard")
    yield told(page, "discarding")
    do(page, "keep")
    uploads = HeldUploads(page)
    do(page, "stop")
    yield told(page, "sending")
    page.reload()
    yield told(page, "recovered")
    uploads.let_through()
    do(page, "send")
    told(page, "sent")
    expect(page.locator("[data-do=play]")).to_be_focused()
    yield "sent"


def undelivered(page: Page, link: SpokenLink) -> Iterator[str]:
    uploads = HeldUploads(page)
    page.clock.install()
    page.locator("#answer").fill("Typed")
    do(page, "record")
    runs(page)
    do(page, "stop")
    uploads.fail()
    yield told(page, "unsent")
    page.locator("[type=submit].btn--main").click()
    yield told(page, "waiting")
    page.clock.fast_forward(5000)
    uploads.fail()
    yield told(page, "stuck")
    uploads.let_through()
    page.reload()
    do(page, "send")
    told(page, "sent")
    done = {"transcript_state": TranscriptState.DONE, "transcript": "Mira did", "next_at": None}
    link.set_recordings(**done)  # beside typed words, they offer themselves
    page.locator("[data-words]").wait_for()
    yield "sent"
    do(page, "use")
    yield told(page, "heard")


def too_long(page: Page, _link: SpokenLink) -> Iterator[str]:
    HeldUploads(page)
    page.clock.install()
    do(page, "record")
    runs(page)
    page.clock.fast_forward("08:00")
    yield told(page, "nearly")
    page.clock.fast_forward("02:00")
    yield told(page, "full")


def cut_off(page: Page, _link: SpokenLink) -> Iterator[str]:
    do(page, "record")
    yield told(page, "asking")
    page.evaluate("allow()")
    runs(page)
    page.evaluate("stream.getTracks()[0].dispatchEvent(new Event('mute'))")
    yield told(page, "held")
    do(page, "resume")
    told(page, "recording")
    page.evaluate("stream.getTracks()[0].dispatchEvent(new Event('ended'))")
    yield told(page, "interrupted")


def silent(page: Page, link: SpokenLink) -> Iterator[str]:
    do(page, "record")
    yield told(page, "silent")
    do(page, "stop")
    yield told(page, "nothing")
    assert link.recordings() == []


def refused(page: Page, _link: SpokenLink) -> Iterator[str]:
    for name, error in REFUSALS.items():
        page.evaluate(REFUSED, error)
        do(page, "record")
        yield told(page, name)


def unable(page: Page, _link: SpokenLink) -> Iterator[str]:
    line = page.locator("[data-status] [data-text]:visible")
    yield told(page, line.get_attribute("data-text") or "")


@dataclass(frozen=True)
class Walk:
    """`texts` names what is said at its stops; `script` runs before those of the page."""

    name: str
    steps: Callable[[Page, SpokenLink], Iterator[str]]
    texts: tuple[str, ...]
    script: str = ""
    refused: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name


USUAL = ("ready", "recording", "paused", "discarding", "sending", "recovered", "sent")
UNDELIVERED = ("unsent", "waiting", "stuck", "sent", "heard")
WALKS = [
    Walk("usual", from_first_to_last, USUAL),
    Walk("undelivered", undelivered, UNDELIVERED, refused=(503,)),
    Walk("too long", too_long, ("nearly", "full")),
    Walk("cut off", cut_off, ("asking", "held", "interrupted"), script=HELD),
    Walk("silent", silent, ("silent", "nothing"), script=SILENT),
    Walk("refused", refused, tuple(REFUSALS)),
    Walk("no recorder", unable, ("unsupported",), script="delete window.MediaRecorder"),
]
