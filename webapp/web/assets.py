"""Static files under immutable addresses: `/static/v/<build>/<name>`.

`<build>` is a hash over all of them, so a page, its styles and its scripts always match.
All files are read, bundled and compressed once in a process, when its first application is created.
"""

import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from flask import Flask, Response, abort, current_app, url_for

from webapp.web.request_kind import accepts_gzip

BUNDLES = {
    "css/app.css": (
        "shared/foundation",
        "shared/small_components",
        "shared/button",
        "shared/field",
        "shared/note",
        "respondent/layout",
        "shared/question",
        "respondent/summary",
        "shared/copy_link",
        "shared/languages",
        "shared/utilities",
    ),
    "css/recorder.css": ("shared/player", "respondent/recorder"),
    "css/creator.css": (
        "creator/layout",
        "creator/section",
        "creator/list_row",
        "creator/draft_group",
        "creator/review",
        "creator/words",
        "creator/prepared",
        "creator/changes",
        "creator/private_context",
        "creator/preview",
        "creator/signature",
        "creator/trial",
        "creator/share",
        "creator/results",
        "shared/player",
        "creator/public_layout",
        "creator/connect_guide",
        "creator/account",
        "creator/audit_event",
        "creator/deliveries_table",
        "creator/document",
    ),
}
# each includes the scripts that it imports, so that a page loads one file and not a chain of them
SCRIPTS = tuple(
    f"js/{name}.js" for name in ("respondent", "voice", "recorder", "player", "creator", "trial")
)
IMPORT = re.compile(rb'^import "\./(?P<name>[a-z_/]+)\.js";$', re.MULTILINE)
# within an imported script: names of scripts imported before it, and names for those after it
NAMED_IMPORT = re.compile(rb'^import \{[^}]*\} from "[^"]+";\n', re.MULTILINE)
EXPORT = re.compile(rb"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
# what people read in a script and browsers need not; no string of ours has several lines, or
# slashes after a space
READING_AIDS = re.compile(rb"^ *//.*\n| +// .*$|^ +", re.MULTILINE)
IMMUTABLE = "public, max-age=31536000, immutable"
COMPRESSED_FROM_BYTES = 512  # below, the gzip header costs more than compression saves


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file as it is sent; `packed` is its gzip form, None where that is not smaller."""

    body: bytes
    packed: bytes | None
    mimetype: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """All assets by name, and the hash of their contents."""

    build: str
    assets: dict[str, Asset]


def init_app(app: Flask, folder: Path) -> None:
    """Read the static files of `folder`, serve them, and give templates `asset(name)`."""
    app.extensions["assets"] = _shelf(folder)
    app.add_url_rule("/static/v/<build>/<path:name>", "asset", send_asset)
    app.jinja_env.globals["asset"] = asset


def asset(name: str) -> str:
    """The versioned address of a static file; KeyError for a name that does not exist."""
    shelf = _current()
    if name.partition("#")[0] not in shelf.assets:
        raise KeyError(name)
    return url_for("asset", build=shelf.build, name="") + name


def send_asset(build: str, name: str) -> Response:
    """One file, compressed if the browser accepts it; not cacheable under another build."""
    shelf = _current()
    found = shelf.assets.get(name)
    if found is None:
        abort(404)
    packed = found.packed if accepts_gzip() else None
    response = Response(packed or found.body, mimetype=found.mimetype)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = IMMUTABLE if build == shelf.build else "no-cache"
    return response


def _current() -> Shelf:
    shelf: Shelf = current_app.extensions["assets"]
    return shelf


@cache
def _shelf(folder: Path) -> Shelf:
    bodies = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "pictures" not in path.parts
    }
    for name, parts in BUNDLES.items():
        bodies[name] = b"\n".join(bodies[f"css/{part}.css"] for part in parts)
    for part in {part for parts in BUNDLES.values() for part in parts}:
        del bodies[f"css/{part}.css"]
    _join_scripts(bodies)
    bodies["js/htmx.js"] = files("js_lib_htmx").joinpath("static/htmx/htmx.min.js").read_bytes()
    digest = hashlib.sha256()
    for name, body in sorted(bodies.items()):
        digest.update(name.encode() + b"\0" + body)
    assets = {name: _asset(name, body) for name, body in bodies.items()}
    return Shelf(digest.hexdigest()[:12], assets)


def _join_scripts(bodies: dict[str, bytes]) -> None:
    """Replace each import by the script itself, in a block that scopes its names."""
    imported = set()
    for name in SCRIPTS:
        parts = [f"js/{part.decode()}.js" for part in IMPORT.findall(bodies[name])]
        blocks = iter([_block(bodies[part]) for part in parts])
        joined = IMPORT.sub(lambda _found, blocks=blocks: next(blocks), bodies[name])  # type: ignore[misc]
        bodies[name] = READING_AIDS.sub(b"", joined)
        imported.update(parts)
    for part in imported:
        del bodies[part]


def _block(body: bytes) -> bytes:
    """A script in a scope of its own; the scripts after it see the names that it exports."""
    names = b", ".join(EXPORT.findall(body))
    own = EXPORT.sub(b"", NAMED_IMPORT.sub(b"", body))
    if not names:
        return b"{\n" + own + b"}"
    return b"const { " + names + b" } = (() => {\n" + own + b"return { " + names + b" };\n})();"


def _asset(name: str, body: bytes) -> Asset:
    packed = gzip.compress(body, mtime=0)
    small = len(body) < COMPRESSED_FROM_BYTES or len(packed) >= len(body)
    mimetype = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(body, None if small else packed, mimetype)
