"""Markdown rendered as HTML with the classes of our pages."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

RELATIVE_LINK = re.compile(r"([a-z-]+)\.md(#.*)?")
SECTION = re.compile(r'(<h2 id="([^"]*)".*?</h2>\n)(.*?)(?=<h2 |\Z)', re.DOTALL)
IN_SECTION = (
    r'<section class="doc__section" aria-labelledby="\2">\1'
    r'<div class="doc__text">\3</div></section>'
)


def render(source: str) -> Markup:
    """Render `source`, which is CommonMark with tables; HTML in it is shown as text.

    Headings get the same ids as on code hosts, and each h2 begins a section. A relative link, such
    as `settings.md#port`, leads to the page of that document. The text after the language of a
    code block is its caption and its accessible name.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    tokens = parser.parse(source)
    _link_to_pages(tokens)
    _set_heading_ids(tokens)
    markup = SECTION.sub(IN_SECTION, parser.renderer.render(tokens, parser.options, {}))
    return Markup(markup)  # noqa: S704 - the renderer has escaped it


def _link_to_pages(tokens: list[Token]) -> None:
    for part in (part for token in tokens for part in token.children or ()):
        found = part.type == "link_open" and RELATIVE_LINK.fullmatch(str(part.attrs["href"]))
        if found:
            name = "" if found[1] == "index" else f"/{found[1]}"
            part.attrs["href"] = f"/docs{name}{found[2] or ''}"


def _set_heading_ids(tokens: list[Token]) -> None:
    """Set the ids and classes of headings, and store in each table the heading above it."""
    words = ""
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            words = "".join(part.content for part in inline.children or ())
            token.attrs["id"] = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            _set_heading_attributes(token, inline)
        elif token.type == "table_open":
            token.meta["heading"] = words


def _set_heading_attributes(heading: Token, inline: Token) -> None:
    if heading.tag == "h1":
        heading.attrs |= {"class": "page__title", "tabindex": "-1"}
    elif heading.tag == "h2":
        heading.attrs["class"] = "section__label"
    else:
        link = Token("link_open", "a", 1, attrs={"href": f"#{heading.attrs['id']}"})
        inline.children = [link, *(inline.children or ()), Token("link_close", "a", -1)]


def _fence(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    caption = escape(tokens[at].info.partition(" ")[2])
    block = (
        f'<pre class="doc__code" tabindex="0" role="region" aria-label="{caption or "Example"}">'
        f"<code>{escape(tokens[at].content.removesuffix(chr(10)))}</code></pre>"
    )
    if not caption:
        return f"{block}\n"
    return f'<figure class="doc__figure"><figcaption>{caption}</figcaption>{block}</figure>\n'


def _table_open(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    label = escape(f"Table: {tokens[at].meta['heading']}")
    return f'<div class="doc__table" tabindex="0" role="region" aria-label="{label}"><table>\n'
