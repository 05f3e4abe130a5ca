"""What a respondent typed, checked before anything is stored."""

from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput, Phrase
from webapp.domain.shared.limits import (
    ANSWER_MAX_CHARS,
    RESPONDER_NAME_MAX_CHARS,
    SPOKEN_ANSWER_MAX_CHARS,
)
from webapp.domain.shared.names import in_one_line


def require_answer(answer_text: str, *, spoken: bool) -> None:
    """Raise InvalidInput `answer_empty` or `answer_too_long`.

    spoken  there is a recording: the text may be empty, and longer
    """
    if not spoken and not answer_text.strip():
        raise InvalidInput(
            PageCode.ANSWER_EMPTY,
            Phrase("There is no answer yet."),
            Phrase("Write one, or skip the question."),
            field="answer",
        )
    most = SPOKEN_ANSWER_MAX_CHARS if spoken else ANSWER_MAX_CHARS
    if len(answer_text) > most:
        raise InvalidInput(
            PageCode.ANSWER_TOO_LONG,
            Phrase("The answer is longer than %(limit)s characters.", limit=most),
            Phrase("Shorten it; nothing you wrote is lost."),
            field="answer",
        )


def clean_name(name: str) -> str | None:
    """The name in one line, without control characters; None for an empty one.

    raises  InvalidInput `name_too_long`
    """
    name = in_one_line(name)
    if len(name) > RESPONDER_NAME_MAX_CHARS:
        raise InvalidInput(
            PageCode.NAME_TOO_LONG,
            Phrase("The name is longer than %(limit)s characters.", limit=RESPONDER_NAME_MAX_CHARS),
            Phrase("Shorten it or leave it out."),
            field="name",
        )
    return name or None
