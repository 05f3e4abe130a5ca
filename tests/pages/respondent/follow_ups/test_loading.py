"""What the first decision of a process finds loaded, where a model is asked."""

import subprocess
import sys

import jinja2
import pytest
from flask import Flask

from tests.command import ROOT
from tests.pages.respondent.follow_ups.test_models import (  # noqa: F401 (fixtures)
    ANSWER,
    form,
    model,
    respondent,
    scripted_post,
    settings,
    told,
)
from tests.pages.respondent_client import Respondent
from webapp.base.config import Settings
from webapp.pages.errors import load_pages
from webapp.pages.respondent import follow_ups

FIRST_DECISION = """
import sys
from webapp.follow_ups import rules
from webapp.follow_ups.rules import Exchange, Thread
from webapp.base.vocabulary import FollowUpMode

rules.load()
known = set(sys.modules)
for asked, answer in (("Wie war es?", "Es war langsam"), ("¿Qué tal?", "No sé"), ("كيف؟", "بطيء")):
    rules.decide(Thread(FollowUpMode.SMART, (Exchange(asked, answer),), (asked,)))
print(sorted(set(sys.modules) - known))
"""


def test_the_first_decision_finds_the_words_of_all_languages_loaded() -> None:
    command = [sys.executable, "-c", FIRST_DECISION]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout == "[]\n", ran.stderr


def test_no_template_is_compiled_while_people_wait(
    app: Flask,
    settings: Settings,  # noqa: F811
    respondent: Respondent,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    templates = app.jinja_env.cache
    assert templates is not None
    templates.clear()
    monkeypatch.setattr(app.jinja_env, "bytecode_cache", None)
    load_pages(app)
    follow_ups.load(app, settings)
    compiled: list[str | None] = []
    compile_ = jinja2.Environment.compile

    def noting(
        self: jinja2.Environment, source: str, name: str | None = None, *rest: str
    ) -> object:
        compiled.append(name)
        return compile_(self, source, name, *rest)

    monkeypatch.setattr(jinja2.Environment, "compile", noting)
    scripted_post(respondent, "/q/1", answer=ANSWER)
    page = scripted_post(respondent, "/q/1/next")

    assert "Follow-up to question 1" in page.text
    assert compiled == []
