"""Names and redirect URIs of clients: which ones we accept, and how pages show them."""

import re
import tomllib
import unicodedata
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from webapp.base import config_readers
from webapp.base.text import JOINERS, TOGETHER, normalized, script_of

REDIRECT_URI_MAX_CHARS = 2000
CLIENT_NAME_MAX_CHARS = 80
_TEXT = Path(__file__).with_suffix(".toml").read_text("utf-8")
WORDS = {name: words.split() for name, words in tomllib.loads(_TEXT).items()}
MARKS_MAX = 2  # per letter; Arabic and Vietnamese need two
KEYCAP = "\u20e3"  # part of emoji such as 1️⃣
# Our name at the start, or after a word that claims the app is ours. After another name, ours only
# says where the app connects, as in "Claude Code (askback)".
OURS = re.compile("(?:^(?:[a-z] )*|\\b(?:the|by|from|of|team) ?)" + " ?".join("askback"))
LOOK_ALIKES = str.maketrans({like: of[0] for of in WORDS["look_alikes"] for like in of[1:]})
# A to Z squared, circled and as flags, which NFKD does not simplify
EMOJI_LETTERS = re.compile("[\U0001f150-\U0001f1ff]")
# whole words only, because "authenticator" and "unofficial" claim nothing
CLAIM = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(WORDS['claims'])})(?![^\W\d_])|[✓✔✅☑🗸🛡]")
# invisible letters: Hangul fillers
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")


def cleaned_name(name: object) -> str:
    """Return the name as one short line without control characters and direction overrides.

    Empty for anything that is not text.
    """
    if not isinstance(name, str):
        return ""
    kept = (char for char in name if char.isprintable() or char.isspace() or char in JOINERS)
    line = " ".join("".join(kept).split())
    return line[:CLIENT_NAME_MAX_CHARS].strip(" " + JOINERS)


def is_showable(name: str) -> bool:
    """Return False for a name that imitates another, claims trust or hides its text."""
    letters = {char for char in name if unicodedata.category(char).startswith("L")}
    hides = letters & BLANK_LETTERS or _has_stacked_marks(name) or EMOJI_LETTERS.search(name)
    scripts = {script_of(char) for char in normalized("NFKC", name) if char.isalpha()}
    of_one_writing = len(scripts) <= 1 or any(scripts <= together for together in TOGETHER)
    if not letters or hides or not of_one_writing:
        return False
    # reduce the name to its look: without case, accents, signs and other scripts
    folded = _words(name.replace("ß", "b")).translate(LOOK_ALIKES)
    if OURS.search(re.sub("[^a-z]+", " ", folded).strip()):
        return False
    return not any(CLAIM.search(words) for words in (_words(name), _words(name.casefold())))


def _has_stacked_marks(name: str) -> bool:
    marks = 0
    for char in normalized("NFC", name):
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if marks > MARKS_MAX or (unicodedata.category(char) == "Me" and char != KEYCAP):
            return True
    return False


def _words(name: str) -> str:
    """Return the name without case, accents and invisible characters, with camelCase split."""
    plain = normalized("NFKD", name)
    apart = re.sub("(?<=[a-z])(?=[A-Z])", " ", plain)
    return "".join(char for char in apart if unicodedata.category(char)[0] not in "MC").casefold()


LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
TAKEN = (
    "A redirect URI is https, http on a loopback address, or of a private scheme, as in "
    "com.example.app:/callback."
)
FAMILIES = re.compile(
    rf"(?:{'|'.join(WORDS['browsers'])})(?:mobile|http)?s?(?:[-+.].*)?"
    rf"|(?:{'|'.join(map(re.escape, WORDS['beginnings']))}).*"
)
PRINTABLE_ASCII = re.compile(r"[\x21-\x7e]+")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def redirect_problem(uri: object) -> str | None:
    """Return a sentence that says why this URI cannot be registered; None when it can."""
    if not isinstance(uri, str) or not PRINTABLE_ASCII.fullmatch(uri):
        return "A redirect URI has to be printable ASCII text."
    if len(uri) > REDIRECT_URI_MAX_CHARS:
        return f"A redirect URI is at most {REDIRECT_URI_MAX_CHARS} characters long."
    parts = _split(uri)
    if parts is None or not SCHEME.match(uri):
        return "A redirect URI has to be an absolute address."
    if "#" in uri or "@" in parts.netloc or any(char in uri for char in '\\"'):
        return "A redirect URI has no fragment, user name, quote or backslash."
    if parts.scheme == "https":
        return None if parts.hostname else "An https redirect URI needs a host."
    if parts.scheme == "http":
        return None if is_loopback(uri) else "An http redirect URI has to point at this computer."
    if parts.scheme in WORDS["schemes"] or FAMILIES.fullmatch(parts.scheme):
        return f"The scheme {parts.scheme} belongs to no single program."
    return "A scheme of one letter is the drive of a file." if len(parts.scheme) == 1 else None


def is_loopback(uri: str) -> bool:
    """Return whether only a program on the user's computer can receive this redirect."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS


def without_port(uri: str) -> str:
    """Return the URI without a port that a request may replace, so that matching URIs are equal."""
    parts = _split(uri)
    if parts is None or not is_loopback(uri):
        return uri
    host = config_readers.in_url(str(parts.hostname))
    if parts.netloc not in {host, f"{host}:{parts.port}"}:  # such as upper case
        return uri
    return parts._replace(netloc=host, path=parts.path or "/").geturl()


def stays_on_this_computer(uri: str) -> bool:
    """Return whether the URI has a private scheme or leads to the user's computer.

    https counts here, too, although only http redirects may change the port.
    """
    parts = _split(uri)
    if parts is None or parts.scheme not in {"http", "https"}:
        return parts is not None
    host = parts.hostname or ""
    return config_readers.is_loopback(host) or host.endswith(".localhost")


def redirect_host(uri: str) -> str:
    """Return how pages show the address: as its host, or as a program on this device.

    A scheme alone could look like a host or the name of an app.
    """
    return web_host(uri) or f"a program on this device ({urlsplit(uri).scheme}:)"


def web_host(uri: str) -> str | None:
    """Return the host of an http or https address; None for other schemes."""
    parts = urlsplit(uri)
    return parts.hostname if parts.scheme in {"http", "https"} else None


def _split(uri: str) -> SplitResult | None:
    """Return the parts of the URI; None if it or its port is malformed."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts
