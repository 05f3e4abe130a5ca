"""What every page shares: its headers, its errors, and what it makes a browser fetch."""

import gzip
import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.web.assets import asset

TEMPLATES = sorted(Path("templates").rglob("*.html"))
OTHER_SITES_CODE = re.compile(r"{% set frame_code %}.*?{% endset %}", re.DOTALL)
INLINE_CODE = re.compile(
    r"""\sstyle=|\son[a-z]+=|hx-on|["']js:|javascript:|<script(?![^>]*\ssrc=)|<style"""
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self' blob:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def address(app: Flask, name: str) -> str:
    with app.test_request_context():
        return asset(name)


def test_a_page_carries_the_strict_policy_and_is_not_kept(client: FlaskClient) -> None:
    headers = client.get("/nothing-here").headers

    assert headers["Content-Security-Policy"] == POLICY
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "private, no-store"
    assert "microphone=()" in headers["Permissions-Policy"]


@pytest.mark.settings(public_url="https://askback.example")
def test_https_is_promised_where_it_is_used(client: FlaskClient) -> None:
    headers = client.get("/nothing-here", base_url="https://askback.example").headers

    assert headers["Strict-Transport-Security"] == "max-age=63072000; includeSubDomains"


def test_an_unknown_address_gets_a_styled_page_or_for_htmx_a_note(client: FlaskClient) -> None:
    page = client.get("/nothing-here")
    note = client.get("/nothing-here", headers={"HX-Request": "true"})

    assert (page.status_code, note.status_code) == (404, 404)
    assert "<h1" in page.text
    assert "css/app.css" in page.text
    assert "<html" not in note.text
    assert 'role="alert"' in note.text
    assert "HX-Request" in note.headers["Vary"]


def test_static_files_are_immutable_and_sent_compressed(app: Flask, client: FlaskClient) -> None:
    where = address(app, "css/app.css")

    packed = client.get(where, headers={"Accept-Encoding": "gzip, br"})
    plain = client.get(where, headers={"Accept-Encoding": "gzip;q=0"})

    assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (plain.mimetype, plain.text[:2]) == ("text/css", "/*")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.data) == plain.data


@pytest.mark.parametrize(
    "name", ["../pyproject.toml", "css/missing.css", "css/shared/note.css", ""]
)
def test_only_known_static_files_are_served(client: FlaskClient, name: str) -> None:
    assert client.get(f"/static/v/000000000000/{name}").status_code == 404


def test_no_template_needs_inline_code() -> None:
    texts = {str(each): OTHER_SITES_CODE.sub("", each.read_text()) for each in TEMPLATES}
    found = {name: INLINE_CODE.findall(text) for name, text in texts.items()}

    assert found
    assert {name: code for name, code in found.items() if code} == {}
