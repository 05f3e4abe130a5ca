"""Serves static files under immutable addresses: `/static/v/<build>/<name>`.

`<build>` is a hash over all files, so a page, its styles and its scripts always match.
A process reads, bundles and compresses the files once, when it creates its first application.
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

FOLDERS = ("", "css", "js")  # files that pages load; subfolders have their imports
IMPORT = re.compile(rb'^@?import "\./(?P<name>[a-z_/]+\.(?:css|js))";$', re.MULTILINE)
# in an imported script: names from scripts before it, and names for scripts after it
NAMED_IMPORT = re.compile(rb'^import \{[^}]*\} from "[^"]+";\n', re.MULTILINE)
EXPORT = re.compile(rb"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
# comments and indentation, which browsers do not need; our strings have neither line breaks nor
# slashes after a space
READING_AIDS = re.compile(rb"^ *//.*\n| +// .*$|^ +", re.MULTILINE)
IMMUTABLE = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file as sent; `packed` is its gzip form, or None if that is not smaller."""

    body: bytes
    packed: bytes | None
    mimetype: str


def init_app(app: Flask, folder: Path) -> None:
    """Read the static files of `folder`, serve them, and give templates `asset(name)`."""
    app.extensions["assets"] = _build(folder)
    app.add_url_rule("/static/v/<build>/<path:name>", "asset", send_asset)
    app.jinja_env.globals["asset"] = asset


def asset(name: str) -> str:
    """Return the versioned address of a static file. Raises KeyError for an unknown name."""
    build, assets = current_app.extensions["assets"]
    if name.partition("#")[0] not in assets:
        raise KeyError(name)
    return url_for("asset", build=build, name="") + name


def send_asset(build: str, name: str) -> Response:
    """Send a file, compressed if the browser accepts that; not cacheable under another build."""
    ours, assets = current_app.extensions["assets"]
    found: Asset = assets.get(name) or abort(404)
    packed = found.packed if accepts_gzip() else None
    response = Response(packed or found.body, mimetype=found.mimetype)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = IMMUTABLE if build == ours else "no-cache"
    return response


@cache
def _build(folder: Path) -> tuple[str, dict[str, Asset]]:
    """Return the hash of all files, and the files by name."""
    paths = [path for name in FOLDERS for path in (folder / name).iterdir() if path.is_file()]
    bodies = {str(path.relative_to(folder)): _bundled(path) for path in paths}
    bodies["js/htmx.js"] = files("js_lib_htmx").joinpath("static/htmx/htmx.min.js").read_bytes()
    digest = hashlib.sha256()
    for name, body in sorted(bodies.items()):
        digest.update(name.encode() + b"\0" + body)
    return digest.hexdigest()[:12], {name: _asset(name, body) for name, body in bodies.items()}


def _bundled(path: Path) -> bytes:
    """Return the file with its imports included, so that a page loads no chain of files."""
    body = path.read_bytes()
    if path.suffix not in {".css", ".js"}:
        return body
    is_script = path.suffix == ".js"

    def imported(found: re.Match[bytes]) -> bytes:
        part = (path.parent / found["name"].decode()).read_bytes()
        return _block(part) if is_script else part

    joined = IMPORT.sub(imported, body)
    return READING_AIDS.sub(b"", joined) if is_script else joined


def _block(body: bytes) -> bytes:
    """Wrap a script in its own scope; later scripts see only the names that it exports."""
    names = b", ".join(EXPORT.findall(body))
    own = EXPORT.sub(b"", NAMED_IMPORT.sub(b"", body))
    if not names:
        return b"{\n" + own + b"}"
    return b"const { " + names + b" } = (() => {\n" + own + b"return { " + names + b" };\n})();"


def _asset(name: str, body: bytes) -> Asset:
    packed = gzip.compress(body, mtime=0)
    mimetype = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(body, packed if len(packed) < len(body) else None, mimetype)
