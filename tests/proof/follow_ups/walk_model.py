"""What a respondent's form should be like after what they did: kept apart from the application.

A place is a pair: the number of a scripted question, and 0 or which follow-up to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

Place = tuple[int, int]
CHECK = (0, 0)  # the page after the last question
SENT = (-1, 0)  # the thank-you page
DEFAULTS = {"none": 0, "smart": 2, "deep_dive": 5}


@dataclass(frozen=True)
class Caps:
    """As a creator sets them; None where they chose no number."""

    scripted: int
    mode: str
    of_question: int | None
    in_all: int | None

    @property
    def most_of_question(self) -> int:
        """Follow-ups to one question."""
        if self.mode == "none":
            return 0
        return DEFAULTS[self.mode] if self.of_question is None else self.of_question

    def allow(self, asked: list[Place]) -> bool:
        """Whether so many may have been asked, whatever became of them."""
        total = self.scripted + len(asked)
        numbers = [number for number, _ in asked]
        of_each = all(numbers.count(number) <= self.most_of_question for number in numbers)
        return of_each and (not asked or self.in_all is None or total <= self.in_all)


@dataclass(frozen=True)
class Said:
    """One stored answer; a correction is another one."""

    token: str
    text: str
    spoken: bool = False


@dataclass
class WalkModel:
    """One respondent: the current answers, what they skipped, and which answer brought what."""

    caps: Caps
    said: dict[Place, Said] = field(default_factory=dict)
    skipped: set[Place] = field(default_factory=set)
    asked: dict[Place, tuple[Place, Said]] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    sent: bool = False
    _tokens: Iterator[int] = field(default_factory=count)

    def answer(self, place: Place, text: str, *, spoken: bool = False) -> None:
        before = self.said.get(place)
        if before and not spoken and not before.spoken and before.text == text:
            return
        self.said[place] = Said(f"said {next(self._tokens)}", text, spoken)
        self.skipped.discard(place)

    def skip(self, place: Place) -> None:
        gone = {place}
        if not place[1]:
            gone |= {each for each in self.asked if each[0] == place[0]}
        self.said = {each: said for each, said in self.said.items() if each not in gone}
        self.skipped = (self.skipped - gone) | {place}

    def dropped(self, place: Place) -> bool:
        """Whether the answer that it follows was changed or taken back."""
        after, said = self.asked[place]
        return self.said.get(after) != said

    def asked_again(self, place: Place) -> Place | None:
        """The dropped follow-up to the words that this place has now."""
        words = self.said[place].text
        same = (
            each
            for each, (after, said) in sorted(self.asked.items())
            if after == place and said.text == words
            if self.dropped(each) and each not in self.said
        )
        ended = self._thread_ended(place) or self._followed(place)
        return None if ended or self.said[place].token in self.passed else next(same, None)

    def pass_on(self, place: Place) -> None:
        """Nothing follows the answer at this place, not even what would be asked again."""
        if not self.sent and place in self.said and self.asked_again(place):
            self.passed.add(self.said[place].token)

    def may_follow(self, place: Place) -> bool:
        """Whether one more question may follow the answer at this place."""
        more = [*self.asked, (place[0], 0)]
        ended = self._thread_ended(place) or self._followed(place) or self.sent
        return place in self.said and not ended and self.caps.allow(more)

    def _thread_ended(self, place: Place) -> bool:
        return any(number == place[0] for number, _ in self.skipped)

    def _followed(self, place: Place) -> bool:
        return any(
            self.said.get(after) == said for after, said in self.asked.values() if after == place
        )

    @property
    def steps(self) -> list[Place]:
        scripted = [(number, 0) for number in range(1, self.caps.scripted + 1)]
        asked = [each for each in self.asked if each in self.said or not self.dropped(each)]
        return sorted(scripted + asked)

    def next_after(self, place: Place = (0, 0)) -> Place:
        """The question that is open after a place, else the first open one."""
        if self.sent:
            return SENT
        open_ = [each for each in self.steps if each not in self.said and each not in self.skipped]
        return min((each for each in open_ if each > place), default=min(open_, default=CHECK))

    def before(self, place: Place) -> Place:
        """Where Back leads; the place itself at the first question."""
        return max((each for each in self.steps if each < place), default=place)
