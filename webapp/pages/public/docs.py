"""The public documentation: each document is a Markdown template, served as HTML and as text."""

import tomllib
from pathlib import Path

from flask import Blueprint, Response, current_app, render_template
from markupsafe import Markup

from api.wire.event_stream import OF_HOLDER
from webapp.base.config import VARIABLES, describe, settings
from webapp.base.errors import ErrorCode
from webapp.events import callbacks, subscriptions
from webapp.oauth import tokens
from webapp.records.content import draft_input
from webapp.web.wakeups import OF_ACCOUNT

HOUR = 3600

# the names, titles and summaries of the documents `templates/docs/<name>.md`
_FILE = Path(__file__).with_name("documents.toml")
DOCUMENTS: list[dict[str, str]] = tomllib.loads(_FILE.read_text("utf-8"))["document"]
INDEX = "index"
TITLES = {INDEX: "Documents"} | {each["name"]: each["title"] for each in DOCUMENTS}
NAMES = f"<any({', '.join(repr(each['name']) for each in DOCUMENTS)}):name>"

bp = Blueprint("docs", __name__)


@bp.get("/docs", defaults={"name": INDEX}, strict_slashes=False)
@bp.get(f"/docs/{NAMES}")
def show(name: str) -> str:
    """Show a document as a page."""
    return render_template("docs/document.html", name=name, titles=TITLES, body=_document(name)[1])


@bp.get(f"/docs/{INDEX}.md", defaults={"name": INDEX})
@bp.get(f"/docs/{NAMES}.md")
def show_text(name: str) -> Response:
    """Serve the Markdown text of a document, for programs."""
    return public_text(_document(name)[0])


@bp.get("/llms.txt")
def list_for_programs() -> Response:
    """List the documents with their addresses, in the format of llmstxt.org."""
    return public_text(render_template("docs/llms.txt", **_template_values()))


def public_text(body: str, max_age: int = HOUR) -> Response:
    """Return a text that anybody may cache for `max_age` seconds."""
    headers = {"Cache-Control": f"public, max-age={max_age}"}
    return Response(body, mimetype="text/plain", headers=headers)


def _document(name: str) -> tuple[str, Markup]:
    """Return a document as text and as HTML, rendered once per process from the settings."""
    documents: dict[str, tuple[str, Markup]] = current_app.extensions.setdefault("documents", {})
    if name not in documents:
        # imported late: it takes 50 ms, and many processes never serve a document
        from webapp.pages.public import markdown

        text = render_template(f"docs/{name}.md", **_template_values()) + "\n"
        documents[name] = text, markdown.render(text)
    return documents[name]


def _template_values() -> dict[str, object]:
    """Return the variables of all document templates; modules are for their constants."""
    config = settings()
    return {
        "origin": config.public_url,
        "api_url": config.api_url,
        "mcp_url": config.mcp_url,
        "with_events": config.mcp_events_enabled,
        "draft_input": draft_input,
        "tokens": tokens,
        "callbacks": callbacks,
        "subscriptions": subscriptions,
        "streams": OF_HOLDER,
        "waits": OF_ACCOUNT,
        "documents": DOCUMENTS,
        "error_codes": list(ErrorCode),
        "settings": _settings(),
    }


def _settings() -> list[tuple[str, list[dict[str, str]]]]:
    headings = {"LIMIT": "Limits", "MCP_EVENTS": "Events", "": "Server"}
    groups: dict[str, list[dict[str, str]]] = {"Server": []}
    for variable in VARIABLES:
        heading = next(title for begin, title in headings.items() if variable.startswith(begin))
        groups.setdefault(heading, []).append(describe(variable))
    return list(groups.items())
