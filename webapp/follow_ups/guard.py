"""What a model replied, if it may be shown to the respondent."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cached_property, partial

from webapp.base.text import TOGETHER, script_of
from webapp.follow_ups import conduct
from webapp.follow_ups.leaks import leak
from webapp.follow_ups.messages import QUESTION_MAX_CHARS, SEEN_MAX_CHARS, Reply, parse_reply, seen
from webapp.follow_ups.rules import Decision, Reason, Technique, Thread
from webapp.follow_ups.text_folding import UNSPACED_LETTERS, folded, spaced, words
from webapp.records.content.model import PreparedFollowUp
from webapp.records.languages import PHRASED, recognise

SIMILARITY_MAX = 0.6
COMPARED_MAX_CHARS = 600  # what is longer cannot be similar to a question of 200 characters
COPIED_WORDS_MAX = 6
COPIED_LETTERS_MAX = 10  # of scripts that do not space words: 1.7 letters make a word
KNOWN_MAX_CHARS = 10_000  # of the answers and of the questions, to bound the time

# Opening marks with what closes them. A straight or single one is an apostrophe inside words.
QUOTED = re.compile(
    r"“([^“”]*)”|„([^“”„]*)[“”]|«([^«»]*)»|»([^«»]*)«|‹([^‹›]*)›|›([^‹›]*)‹|\"([^\"]*)\""
    r"|「([^「」]*)」|『([^『』]*)』|《([^《》]*)》|〈([^〈〉]*)〉|〝([^〝〞〟]*)[〞〟]|＂([^＂]*)＂"
    r"|(?<!\w)['‘‚‛](?=\S)(.*?\S)['‘’](?!\w)"
)
QUOTATION_MARKS = re.compile("[“”„‟«»‹›\"「」『』《》〈〉〝〞〟＂‘‚‛]|(?<!\\w)['’](?=\\w)|,,|''|’’")


class Check(StrEnum):
    """What a reply failed."""

    REPLY = "reply"
    LENGTH = "length"
    LINES = "lines"
    CHARACTERS = "characters"
    ONE_QUESTION = "one_question"
    ADDRESS = "address"
    MARKUP = "markup"
    ABUSE = "abuse"
    SELF_HARM = "self_harm"
    SEXUAL = "sexual"
    THREATS = "threats"  # and promises
    SECRETS = "secrets"  # and contact data
    ORDERS = "orders"
    SPECIAL = "special_category"  # of personal data
    SCRIPT = "script"
    LANGUAGE = "language"
    REPEATED = "repeated"
    COPIED = "copied"
    QUOTATION = "quotation"
    LEAK = "leak"


class Unusable(Exception):
    """A reply that must not be shown. It carries the check alone: no text of anybody."""

    def __init__(self, check: Check) -> None:
        super().__init__(check.value)
        self.check = check


def checked(
    reply: str, thread: Thread, *, context: str, title: str = "", goal: str = ""
) -> Decision:
    """The question that the reply asks, or its stop; Unusable if a check fails.

    A prepared question that it chooses was confirmed, and is only not asked twice.
    context  private, in full
    title    of the form, which respondents see
    goal     of the form, which they do not see
    """
    parsed = parse_reply(reply)
    if parsed is None:
        raise Unusable(Check.REPLY)
    if chosen := _prepared(parsed, thread):
        return _asked_once(chosen, thread)
    if not parsed.question:
        if parsed.prepared:  # no such number
            raise Unusable(Check.REPLY)
        return Decision(Reason.STOPPED_BY_MODEL)
    written = _Written(parsed, thread, context, title, goal)
    for check, passes in CHECKS:
        if not passes(written):
            raise Unusable(check)
    return Decision(Reason.CHOSEN_BY_MODEL, parsed.technique, parsed.question)


def _prepared(reply: Reply, thread: Thread) -> PreparedFollowUp | None:
    """The one of this number, or of these words: the model may have copied it."""
    if 0 < reply.prepared <= len(thread.prepared):
        return thread.prepared[reply.prepared - 1]
    written = words(folded(reply.question))
    return next((each for each in thread.prepared if words(folded(each["text"])) == written), None)


def _asked_once(chosen: PreparedFollowUp, thread: Thread) -> Decision:
    asked = [words(folded(question)) for question in thread.questions]
    if words(folded(chosen["text"])) in asked:
        raise Unusable(Check.REPEATED)
    reason, technique = Reason.CHOSEN_BY_MODEL, Technique.PREPARED
    return Decision(reason, technique, chosen["text"], chosen["prepared_by"])


class _Written:
    """A written question with what it is compared with."""

    def __init__(self, reply: Reply, thread: Thread, context: str, title: str, goal: str) -> None:
        self.question = reply.question
        self.thread = thread
        self.context = context
        self.title = title
        self.goal = goal
        self.exchanges = seen(thread)

    @cached_property
    def words(self) -> list[str]:
        return words(folded(self.question))

    @cached_property
    def named(self) -> set[str]:
        """The lists of `conduct` that it has words of."""
        return conduct.named(self.question)

    @cached_property
    def answers(self) -> str:
        """What the respondent wrote, the latest first."""
        return "\n".join(each.answer for each in reversed(self.exchanges))[:KNOWN_MAX_CHARS]

    @property
    def asked_before(self) -> dict[str, str]:
        """What a model asked, each with what the respondent had written in this thread by then."""
        found, answers = dict.fromkeys(self.thread.written, ""), ""
        for each in self.exchanges:
            if each.question in found and not self.thread.corrected:
                found[each.question] = answers[:KNOWN_MAX_CHARS]
            answers = f"{each.answer}\n{answers}"
        return found

    @cached_property
    def answered(self) -> list[str]:
        return words(folded(self.answers))

    @cached_property
    def answered_words(self) -> str:
        return spaced(self.answered)

    @cached_property
    def answered_letters(self) -> str:
        return "".join(self.answered)

    @cached_property
    def questions(self) -> list[str]:
        """Every question that the respondent was asked or will be."""
        asked = (*self.thread.questions, *(each.question for each in self.exchanges))
        return list(dict.fromkeys(text[:SEEN_MAX_CHARS] for text in asked))

    @cached_property
    def main_scripts(self) -> frozenset[str]:
        """The script that most letters of the questions have, with those written alongside it."""
        found = _scripts("".join(self.questions)[:KNOWN_MAX_CHARS])
        main = max(found, key=found.__getitem__, default="")
        allowed = {script for group in TOGETHER if main in group for script in group}
        return frozenset({main} | {script for script in allowed - {"LATIN"} if script in found})

    @property
    def is_greek(self) -> bool:
        return "GREEK" in self.main_scripts


def _scripts(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for char, times in Counter(text).items():
        if char.isalpha():
            found[script_of(char)] += times
    return found


def _is_of_the_script(written: _Written) -> bool:
    """Whether there are words, each in the script of the questions or one of the respondent."""
    own = frozenset(words(written.answers.casefold()))
    worded = any(map(str.isalpha, written.question)) and written.main_scripts != {""}
    return worded and all(
        _scripts(word).keys() <= written.main_scripts or word.casefold() in own
        for word in words(written.question)
    )


def _is_of_the_language(written: _Written) -> bool:
    """Whether its language is that of the form or of its questions, or is not recognised."""
    found = _primary(recognise(written.question))
    languages = {
        _primary(written.thread.language),
        _primary(recognise("\n".join(written.questions))),
    }
    return not found or languages == {""} or found in languages


def _primary(tag: str) -> str:
    """The language of a tag without its region and script."""
    return re.split("[-_]", tag)[0].lower()


def _does_not(kind: str, written: _Written) -> bool:
    return kind not in written.named


def _keeps_to_its_categories(written: _Written) -> bool:
    """Of special categories it names those alone that the scripted question or the title does."""
    shown = conduct.named(f"{written.thread.scripted.question}\n{written.title}")
    known = shown | ({"health"} if conduct.NAMES_HEALTH in shown else set())
    return written.named.intersection(conduct.SPECIAL) <= known


def _promises_nothing(written: _Written) -> bool:
    return not conduct.named_first(
        written.question, (written.title, written.answers, *written.questions)
    )


def _asks_once(written: _Written) -> bool:
    found = recognise(written.question), recognise("\n".join(written.questions))
    language = next((each for each in found if each in PHRASED), "")
    return not language or not conduct.asks_twice(written.question, language)


def _is_new(written: _Written) -> bool:
    own = _Features(written.question)
    return all(own.similarity(_Features(asked)) < SIMILARITY_MAX for asked in written.questions)


def similarity(one: str, other: str) -> float:
    """Sørensen–Dice coefficient of the words or of the pairs of letters, whichever is higher.

    Linear in time, where a longest common subsequence takes the square.
    """
    return _Features(one).similarity(_Features(other))


class _Features:
    """What two questions may have in common."""

    def __init__(self, question: str) -> None:
        found = words(folded(question[:COMPARED_MAX_CHARS]))
        text = spaced(found)
        self.words = Counter(found)
        self.pairs = Counter(map("".join, zip(text, text[1:], strict=False)))

    def similarity(self, other: "_Features") -> float:
        return max(_dice(self.words, other.words), _dice(self.pairs, other.pairs))


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _copies_little(written: _Written) -> bool:
    size = COPIED_WORDS_MAX + 1
    starts = range(len(written.words) - size + 1)
    if any(spaced(written.words[at : at + size]) in written.answered_words for at in starts):
        return False
    runs = _unspaced_runs("".join(written.words))
    return not any(run in written.answered_letters for run in runs)


def _unspaced_runs(letters: str) -> Iterator[str]:
    size = COPIED_LETTERS_MAX + 1
    for found in UNSPACED_LETTERS.findall(letters):
        yield from (found[start : start + size] for start in range(len(found) - size + 1))


def _quotes_the_answer(written: _Written) -> bool:
    """Whether everything in quotation marks is words of the respondent, in their order."""
    quoted = [next(filter(None, groups), "") for groups in QUOTED.findall(written.question)]
    if QUOTATION_MARKS.search(QUOTED.sub(" ", written.question)):
        return False  # a mark without its other one
    return all(_stands_in(words(folded(text)), written) for text in quoted)


def _stands_in(quoted: list[str], written: _Written) -> bool:
    text = "".join(quoted)
    if UNSPACED_LETTERS.fullmatch(text):
        return text in written.answered_letters
    return bool(quoted) and spaced(quoted) in written.answered_words


def _leaks_nothing(written: _Written) -> bool:
    thread = written.thread
    by_model = frozenset(text[:SEEN_MAX_CHARS] for text in thread.written)
    of_others = (each for each in written.questions if each not in by_model)
    shown = "\n".join((written.title, *of_others, *thread.hints))
    found = leak(
        written.question,
        context=written.context,
        goal=written.goal,
        shown=[shown[:KNOWN_MAX_CHARS]],
        said=[written.answers],
        before=written.asked_before,
    )
    return found is None


# The cheap ones first; those that compare need what the first ones bound.
CHECKS: tuple[tuple[Check, Callable[[_Written], bool]], ...] = (
    (Check.LENGTH, lambda written: 0 < len(written.question) <= QUESTION_MAX_CHARS),
    (Check.LINES, lambda written: conduct.has_one_line(written.question)),
    (Check.CHARACTERS, lambda written: conduct.is_plain(written.question)),
    (
        Check.ONE_QUESTION,
        lambda written: conduct.asks_one_question(written.question, is_greek=written.is_greek),
    ),
    (Check.ADDRESS, lambda written: not conduct.has_address(written.question)),
    (
        Check.MARKUP,
        lambda written: not conduct.has_markup(written.question, is_greek=written.is_greek),
    ),
    (Check.SCRIPT, _is_of_the_script),
    (Check.LANGUAGE, _is_of_the_language),
    *((Check(kind), partial(_does_not, kind)) for kind in conduct.NEVER),
    (Check.SPECIAL, _keeps_to_its_categories),
    (Check.THREATS, _promises_nothing),
    (Check.ONE_QUESTION, _asks_once),
    (Check.REPEATED, _is_new),
    (Check.COPIED, _copies_little),
    (Check.QUOTATION, _quotes_the_answer),
    (Check.LEAK, _leaks_nothing),
)
