"""Every word that a respondent reads is there in every language, with nothing left open."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from webapp.web.languages import DOMAIN, ENGLISH, FOLDER, LANGUAGES, read_catalog

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


def test_every_message_is_translated(catalog: Catalog) -> None:
    assert [each.id for each in messages(catalog) if not all(texts(each.string))] == []
    assert [each.id for each in messages(catalog) if each.fuzzy] == []


def test_babel_finds_nothing_wrong(catalog: Catalog) -> None:
    assert [
        (each.id, problem) for each in messages(catalog) for problem in each.check(catalog)
    ] == []


def test_placeholders_are_the_same(catalog: Catalog) -> None:
    for message in messages(catalog):
        wanted = set(PLACE.findall(texts(message.id)[0]))
        for text in texts(message.string):
            free = {COUNT} if message.pluralizable else set()
            assert wanted - free <= set(PLACE.findall(text)) <= wanted, text


def test_punctuation_at_the_end_is_the_same(catalog: Catalog) -> None:
    """A full stop that got lost, or blanks that stick out, show that something was cut."""
    for message in messages(catalog):
        for said, source in zip(texts(message.string), [texts(message.id)[-1]] * 6, strict=False):
            assert said.strip() == said or source.strip(",") != source.strip(), said
            assert said.endswith(".") == source.endswith("."), said


@pytest.mark.parametrize("language", LANGUAGES, ids=str)
def test_there_is_a_catalog_for_each_language_but_english(language: tuple[str, ...]) -> None:
    assert (language in [ENGLISH]) == (read_catalog(language[2]).info() == {})


def test_no_compiled_catalog_is_needed_or_kept() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "webapp/translations"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()

    assert {Path(name).suffix for name in listed} == {".po"}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "لا أسئلة"),
        (1, "سؤال واحد"),
        (2, "سؤالان"),
        (3, "3 أسئلة"),
        (11, "11 سؤالًا"),
        (100, "100 سؤال"),
        (103, "103 أسئلة"),
    ],
)
def test_arabic_has_six_plural_forms(number: int, said: str) -> None:
    found = read_catalog("ar").ungettext("%(num)s question", "%(num)s questions", number)

    assert found % {"num": number} == said
