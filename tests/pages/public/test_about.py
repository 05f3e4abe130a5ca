"""The page behind the wordmark of respondents: public, translated, without the database."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.creator_client import plain
from tests.pages.respondent_client import Respondent, heading, storage_away


def test_the_wordmark_of_respondents_leads_to_it_in_their_language(
    client: FlaskClient, respondent: Respondent
) -> None:
    page = client.get(f"/r/{respondent.share_token}?lang=fr")
    (address,) = re.findall(r'<a class="wordmark[^"]*" href="([^"]*)"', page.text)

    about = client.get(address)
    assert address == "/about?lang=fr"
    assert about.status_code == 200
    assert '<html lang="fr"' in about.text
    assert 'href="/privacy?lang=fr"' in about.text


def test_an_unknown_form_leads_to_no_sign_in(client: FlaskClient) -> None:
    page = client.get("/r/no-such-form")

    assert '<a class="btn" href="/about">About Askback</a>' in page.text
    assert 'href="/"' not in page.text


def test_it_says_who_reads_answers_and_leads_creators_to_the_sign_in(client: FlaskClient) -> None:
    page = client.get("/about")

    assert heading(page) == "About Askback"
    assert "the AI assistants they use can read each answer" in plain(page.text)
    assert 'href="/login"' in page.text


@pytest.mark.settings(operator_name="Fernhill & Sons", operator_contact="hello@fernhill.example")
def test_it_names_the_operator_without_cookie_and_database(app: Flask, client: FlaskClient) -> None:
    with storage_away(app):
        page = client.get("/about")

    assert "This server is run by Fernhill &amp; Sons." in page.text
    assert 'href="mailto:hello@fernhill.example"' in page.text
    assert "Set-Cookie" not in page.headers
