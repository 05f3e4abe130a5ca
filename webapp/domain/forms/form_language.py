"""The language that the built-in follow-up question is asked in, from all that a form says."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from webapp.database import read_rows
from webapp.domain.content.model import AnyContent, QuestionRow
from webapp.domain.follow_ups.languages import PHRASED, language_of_form, language_of_questions
from webapp.domain.forms.models import Form, shared_form

_FURTHER = select(Form.title, Form.spoken_language, Form.goal, Form.private_context).where(
    shared_form(bindparam("share_token"))
)


def language_of_content(content: AnyContent) -> str:
    """As `language_of_form`, of a draft or a form."""
    return language_of_form(
        content.questions,
        title=content.title,
        tag=getattr(content, "spoken_language", ""),  # drafts have none
        goal=content.goal,
        context=content.private_context,
    )


def has_phrases(content: AnyContent) -> bool:
    """False if it is in another language than those that the built-in question is written in."""
    return language_of_content(content) in {"", *PHRASED}


def language_of_shared(share_token: str, questions: Sequence[QuestionRow]) -> str:
    """The same of the form behind a link; reads what is private where its questions do not say."""
    if found := language_of_questions(questions):
        return found
    for title, tag, goal, context in read_rows(_FURTHER, share_token=share_token):
        return language_of_form(questions, title=title, tag=tag, goal=goal, context=context)
    return ""
