"""Checks whether the respondent may see a model's reply."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from webapp.base.text import TOGETHER, script_of
from webapp.follow_ups import conduct, messages
from webapp.follow_ups.leaks import leaks
from webapp.follow_ups.rules import Decision, Reason, Technique, Thread
from webapp.follow_ups.text import UNSPACED_LETTERS, folded, spaced, words
from webapp.records.content.model import PreparedFollowUp
from webapp.records.languages import PHRASED, recognise

SIMILARITY_MAX = 0.6
COMPARED_MAX_CHARS = 600  # a longer text cannot be similar to a question of 200 characters
RUN_WORDS = 7  # in a copied run
RUN_LETTERS = 11  # the same in unspaced scripts, at 1.7 letters a word
KNOWN_MAX_CHARS = 10_000  # of answers, and of questions; bounds the time

# Quotations with their marks. A straight or single mark inside a word is an apostrophe.
QUOTED = re.compile(
    r"“([^“”]*)”|„([^“”„]*)[“”]|«([^«»]*)»|»([^«»]*)«|‹([^‹›]*)›|›([^‹›]*)‹|\"([^\"]*)\""
    r"|「([^「」]*)」|『([^『』]*)』|《([^《》]*)》|〈([^〈〉]*)〉|〝([^〝〞〟]*)[〞〟]|＂([^＂]*)＂"
    r"|(?<!\w)['‘‚‛](?=\S)(.*?\S)['‘’](?!\w)"
)
QUOTATION_MARKS = re.compile("[“”„‟«»‹›\"「」『』《》〈〉〝〞〟＂‘‚‛]|(?<!\\w)['’](?=\\w)|,,|''|’’")


class Unusable(Exception):
    """A reply that must not be shown. It carries only the name of a check, never any text."""

    def __init__(self, check: str) -> None:
        super().__init__(check)
        self.outcome = check


def checked(reply: str, thread: Thread, brief: messages.Brief) -> Decision:
    """Return the question that the reply asks, or its stop; raises Unusable if a check fails.

    A prepared question was confirmed by the creator, so it is only checked for repetition.
    """
    parsed = messages.parse_reply(reply)
    if parsed is None:
        raise Unusable("reply")
    if chosen := _prepared(parsed, thread):
        if _words(chosen["text"]) in map(_words, thread.questions):
            raise Unusable("repeated")
        prepared = Technique.PREPARED, chosen["text"], chosen["prepared_by"]
        return Decision(Reason.CHOSEN_BY_MODEL, *prepared)
    if not parsed.question:
        if parsed.prepared:  # the number does not exist
            raise Unusable("reply")
        return Decision(Reason.STOPPED_BY_MODEL)
    for check, passes in _checks(_Written(parsed.question, thread, brief)):
        if not passes:
            raise Unusable(check)
    return Decision(Reason.CHOSEN_BY_MODEL, parsed.technique, parsed.question)


def _prepared(reply: messages.Reply, thread: Thread) -> PreparedFollowUp | None:
    """Return the prepared question by its number, or by its text, which the model may copy."""
    if 0 < reply.prepared <= len(thread.prepared):
        return thread.prepared[reply.prepared - 1]
    written = _words(reply.question)
    return next((each for each in thread.prepared if _words(each["text"]) == written), None)


def _words(text: str) -> list[str]:
    return words(folded(text))


class _Written:
    """A question that the model wrote, with the texts to compare it with.

    questions  every question that the respondent was or will be asked
    answers    the answers of the respondent, latest first
    """

    def __init__(self, question: str, thread: Thread, brief: messages.Brief) -> None:
        self.question, self.thread, self.brief = question, thread, brief
        self._exchanges = messages.seen(thread)
        asked = (*thread.questions, *(each.question for each in self._exchanges))
        self.questions = list(dict.fromkeys(text[: messages.SEEN_MAX_CHARS] for text in asked))
        answers = (each.answer for each in reversed(self._exchanges))
        self.answers = "\n".join(answers)[:KNOWN_MAX_CHARS]

    @property
    def asked_before(self) -> dict[str, str]:
        """Map earlier questions of a model to the answers that preceded them in this thread."""
        found, answers = dict.fromkeys(self.thread.written, ""), ""
        for each in self._exchanges:
            if each.question in found and not self.thread.corrected:
                found[each.question] = answers[:KNOWN_MAX_CHARS]
            answers = f"{each.answer}\n{answers}"
        return found

    @cached_property
    def words(self) -> list[str]:
        return _words(self.question)

    @cached_property
    def answered(self) -> list[str]:
        return _words(self.answers)


def _checks(written: _Written) -> Iterator[tuple[str, bool]]:
    """Yield each check and whether it passes, cheap checks first: they bound the cost of others."""
    question, asked = written.question, "\n".join(written.questions)
    yield "length", 0 < len(question) <= messages.QUESTION_MAX_CHARS
    yield "lines", len(question.splitlines()) == 1
    yield "characters", conduct.is_plain(question)
    scripts = _main_scripts("".join(written.questions))
    is_greek = "GREEK" in scripts
    yield "one_question", conduct.asks_one_question(question, is_greek=is_greek)
    yield "address", not conduct.has_address(question)
    yield "markup", not conduct.has_markup(question, is_greek=is_greek)
    yield "script", _is_of_the_script(written, scripts)
    languages = recognise(question), recognise(asked)
    expected = {_primary(written.thread.language), _primary(languages[1])}
    found = _primary(languages[0])
    yield "language", not found or expected == {""} or found in expected
    named = conduct.named(question)
    yield from ((kind, kind not in named) for kind in conduct.NEVER)
    # special categories pass only if the scripted question or the title names them
    shown = conduct.named(f"{written.thread.scripted.question}\n{written.brief.title}")
    known = shown | ({"health"} if conduct.NAMES_HEALTH in shown else set())
    yield "special_category", named.intersection(conduct.SPECIAL) <= known
    said = (written.brief.title, written.answers, *written.questions)
    yield "threats", not conduct.named_first(question, said)
    language = next((each for each in languages if each in PHRASED), "")
    yield "one_question", not language or not conduct.asks_twice(question, language)
    alike = max((similarity(question, each) for each in written.questions), default=0)
    yield "repeated", alike < SIMILARITY_MAX
    yield "copied", not _copies(written)
    yield "quotation", _quotes_the_answer(written)
    yield "leak", not _leaks(written)


def _main_scripts(asked: str) -> set[str]:
    """Return the main script of the questions, with the scripts that are written alongside it."""
    found = _scripts(asked[:KNOWN_MAX_CHARS])
    main = max(found, key=found.__getitem__, default="")
    allowed = {script for group in TOGETHER if main in group for script in group}
    return {main} | (allowed - {"LATIN"}) & found.keys()


def _scripts(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for char, times in Counter(text).items():
        if char.isalpha():
            found[script_of(char)] += times
    return found


def _is_of_the_script(written: _Written, scripts: set[str]) -> bool:
    """Return whether every word is in a script of the questions or copied from the respondent."""
    own = frozenset(words(written.answers.casefold()))
    worded = any(map(str.isalpha, written.question)) and scripts != {""}
    return worded and all(
        _scripts(word).keys() <= scripts or word.casefold() in own
        for word in words(written.question)
    )


def _primary(tag: str) -> str:
    """Return the language of a tag, without region and script."""
    return re.split("[-_]", tag)[0].lower()


def similarity(one: str, other: str) -> float:
    """Return the Sørensen–Dice coefficient of the words or letter pairs, whichever is higher.

    It takes linear time; a longest common subsequence takes quadratic time.
    """
    found = [_words(text[:COMPARED_MAX_CHARS]) for text in (one, other)]
    pairs = (Counter(map("".join, pairwise(spaced(each)))) for each in found)
    return max(_dice(*map(Counter, found)), _dice(*pairs))


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _copies(written: _Written) -> bool:
    """Return whether a run of the question's words or unspaced letters is the respondent's."""
    found, answered, letters = written.words, spaced(written.answered), "".join(written.answered)
    runs = (spaced(found[at : at + RUN_WORDS]) for at in range(len(found) - RUN_WORDS + 1))
    unspaced = (
        part[at : at + RUN_LETTERS]
        for part in UNSPACED_LETTERS.findall("".join(found))
        for at in range(len(part) - RUN_LETTERS + 1)
    )
    return any(run in answered for run in runs) or any(run in letters for run in unspaced)


def _is_answered(quoted: list[str], written: _Written) -> bool:
    text = "".join(quoted)
    if UNSPACED_LETTERS.fullmatch(text):
        return text in "".join(written.answered)
    return bool(quoted) and spaced(quoted) in spaced(written.answered)


def _quotes_the_answer(written: _Written) -> bool:
    """Return whether every quotation is a run of the respondent's own words."""
    quoted = [next(filter(None, groups), "") for groups in QUOTED.findall(written.question)]
    if QUOTATION_MARKS.search(QUOTED.sub(" ", written.question)):
        return False  # an unpaired mark
    return all(_is_answered(_words(text), written) for text in quoted)


def _leaks(written: _Written) -> bool:
    thread, brief = written.thread, written.brief
    by_model = frozenset(text[: messages.SEEN_MAX_CHARS] for text in thread.written)
    of_others = (each for each in written.questions if each not in by_model)
    shown = "\n".join((brief.title, *of_others, *thread.hints))
    return leaks(
        written.question,
        context=brief.private_context or "",
        goal=brief.goal or "",
        shown=shown[:KNOWN_MAX_CHARS],
        said=written.answers,
        before=written.asked_before,
    )
