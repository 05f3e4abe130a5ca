"""Addresses as QR codes, for cameras."""

import segno
from markupsafe import Markup
from segno import QRCode

CODE_INK = "#10241c"


def code_of(address: str) -> QRCode:
    """The code of an address, readable with a seventh of it covered."""
    return segno.make(address, error="m", micro=False)


def drawn_code(address: str) -> Markup:
    """The code as SVG for a page, dark on white in both colour schemes."""
    svg = code_of(address).svg_inline(
        omitsize=True, border=2, dark=CODE_INK, svgclass=None, lineclass=None
    )
    return Markup(svg)  # noqa: S704  # drawn by segno from numbers, holds no text
