"""Outcomes of use cases. Each carries a stable code, what happened and what to do about it."""

from webapp.domain.shared.error_codes import Code, ErrorCode


class Phrase(str):
    """English words that a page may say in another language, which needs their numbers apart.

    pattern  the words with places as `%(limit)s`; catalogs are made of all of them
    numbers  by the name of their place
    """

    pattern: str
    numbers: dict[str, int]

    def __new__(cls, pattern: str, **numbers: int) -> "Phrase":
        said = {name: f"{number:,}" for name, number in numbers.items()}
        phrase = super().__new__(cls, pattern % said if said else pattern)
        phrase.pattern, phrase.numbers = pattern, numbers
        return phrase


class Outcome(Exception):
    """Base of expected failures; `resolution` is the actionable hint of the contract's Error.

    field  the path of the value that is to be changed or sent again; "" for none, or all of it
    """

    def __init__(self, code: Code, message: str, resolution: str, field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.resolution = resolution
        self.field = field


class InvalidInput(Outcome):
    """The request itself is wrong (400)."""


class RateLimited(Outcome):
    """More is asked for in a time than one may (429); `seconds` says how long to wait."""

    def __init__(self, message: str, resolution: str, seconds: int) -> None:
        super().__init__(ErrorCode.RATE_LIMITED, message, resolution)
        self.seconds = seconds


class TooBusy(Outcome):
    """More is asked for at once than the process takes (503)."""


class NotFound(Outcome):
    """No such object, or another account's (404)."""


class StateConflict(Outcome):
    """The state of the object does not allow the operation (409)."""


class NotConfirmed(StateConflict):
    """The creator has not confirmed the draft as it is."""

    def __init__(self, code: Code, message: str, resolution: str, draft_id: str) -> None:
        super().__init__(code, message, resolution)
        self.draft_id = draft_id


class SentBack(NotConfirmed):
    """The creator sent the draft back: first the agent has to change it."""
