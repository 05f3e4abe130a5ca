"""Every word that a respondent reads is there in every language, with nothing left open."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from webapp.web.languages import DOMAIN, ENGLISH, FOLDER, LANGUAGES

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"%\(\w+\)s|\{\w+\}")
TRANSLATED = [language.locale for language in LANGUAGES if language is not ENGLISH]
# A number that a plural form may say in words, as Arabic does with one and two
COUNT = "%(num)s"


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What stands in the code and the templates now, as `make format` finds it."""
    file = tmp_path_factory.mktemp("words") / "words.pot"
    makefile = (ROOT / "Makefile").read_text()
    found = re.search(r"pybabel --quiet (extract .*?)--output-file", makefile, re.DOTALL)
    assert found
    options = found[1].replace("\\\n", " ").split()
    command = [sys.executable, "-m", "babel.messages.frontend", *options, "-o", str(file), "."]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with file.open("rb") as source:
        return read_po(source)


@pytest.fixture(params=TRANSLATED)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    file = FOLDER / request.param / "LC_MESSAGES" / f"{DOMAIN}.po"
    with file.open("rb") as source:
        return read_po(source, locale=request.param)


def messages(catalog: Catalog) -> list[Message]:
    return [message for message in catalog if message.id]


def texts(said: str | tuple[str, ...] | list[str]) -> list[str]:
    return [said] if isinstance(said, str) else list(said)


def test_catalogs_hold_exactly_the_messages_of_the_source(words: Catalog, catalog: Catalog) -> None:
    """`make format` brings new words into the catalogs."""
    assert {str(each.id) for each in messages(catalog)} == {
        str(each.id) for each in messages(words)
    }
    assert not catalog.obsolete


def test_every_message_is_translated_with_nothing_that_babel_finds_wrong(catalog: Catalog) -> None:
    found = messages(catalog)

    assert [each.id for each in found if each.fuzzy or not all(texts(each.string))] == []
    assert [(each.id, problem) for each in found for problem in each.check(catalog)] == []


def test_placeholders_are_the_same(catalog: Catalog) -> None:
    for message in messages(catalog):
        wanted = set(PLACE.findall(texts(message.id)[0]))
        for text in texts(message.string):
            free = {COUNT} if message.pluralizable else set()
            assert wanted - free <= set(PLACE.findall(text)) <= wanted, text
