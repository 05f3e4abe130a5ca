"""Published forms and their agent tokens, as agents read them."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Annotated, NotRequired, cast

from pydantic.alias_generators import to_camel

from api.wire.timestamps import wire_time, wire_time_or_none
from api.wire.types import Body, ItemPage, moment, said
from webapp.base.database import to_millis
from webapp.base.vocabulary import FollowUpMode, ResponseLimit, ResponseMode
from webapp.drafts.agent_tokens import MadeToken
from webapp.drafts.publishing import Published
from webapp.records.content import model as content
from webapp.records.forms import FormRow, FormSummaryRow

FormId = Annotated[str, said("The id of the form, for the paths of forms.")]
Title = Annotated[str, said("The heading that respondents read.")]
Goal = Annotated[
    str | None,
    said("What the form is for; null when there is none. Respondents never see it."),
]
ShareUrl = Annotated[
    str, said("The public link where people answer; it stays when the form closes.", format="uri")
]
Status = Annotated[
    str,
    said(
        "`published` takes answers, `completed` has the one response of `responseLimit` `one`, "
        "`closed` was closed by its creator. Expect further words."
    ),
]
Limit = Annotated[ResponseLimit, said("How many responses the link takes.")]
QuestionCount = Annotated[int, said("How many questions the form has, follow-ups not counted.")]
ResponseCount = Annotated[
    int, said("Completed responses in all, whatever `since` says; a withdrawal lowers it.")
]
LatestResponseAt = Annotated[
    str | None, moment("When the newest completed response was sent; null when there is none.")
]
PublishedAt = Annotated[str, moment("When the draft became this form.")]


class OutputQuestion(Body):
    """A question as respondents see it."""

    id: Annotated[
        str, said("As it was sent, else made for it. It stays when the creator rewords the text.")
    ]
    text: Annotated[str, said('What is asked. May be `""` in a draft, never in a form.')]
    context: NotRequired[
        Annotated[str, said("A public helping line below the text; left out when there is none.")]
    ]


class FormSettings(Body):
    """All five settings, defaults filled in. To change them, send them alongside `title`."""

    followUpMode: Annotated[FollowUpMode, said("Whether follow-up questions are asked.")]
    responseMode: Annotated[ResponseMode, said("How people are asked to answer.")]
    responseLimit: Limit
    maxFollowupsPerQuestion: Annotated[
        int,
        said(
            "Follow-up questions to one question at most. Until a number is given it is 0, 2 or 5 "
            "for `none`, `smart` and `deep_dive`."
        ),
    ]
    maxTotalQuestions: Annotated[
        int | None,
        said(
            "Questions and follow-up questions for one person at most; null for no limit. The "
            "questions of the form are asked in any case."
        ),
    ]


Questions = Annotated[list[OutputQuestion], said("The questions in their order.")]
Settings = Annotated[FormSettings, said("The settings in force.")]
# names on the wire and of the attributes
_SETTINGS = tuple((to_camel(field.name), field.name) for field in fields(content.FormSettings))


def share_url(public_url: str, share_token: str) -> str:
    """Where people answer the form."""
    return f"{public_url}/r/{share_token}"


def form_settings(of: content.AnyContent) -> FormSettings:
    """All settings of a draft or of a form."""
    found = content.form_settings(of)
    return cast(FormSettings, {name: getattr(found, field) for name, field in _SETTINGS})


def shown_questions(of: content.AnyContent) -> list[OutputQuestion]:
    """The questions without their prepared follow-ups, which have a path of their own."""
    rows = of.questions
    if any("follow_ups" in row for row in rows):
        return [
            cast(OutputQuestion, {key: row[key] for key in row if key != "follow_ups"})
            for row in cast(list[dict[str, str]], rows)
        ]
    return cast(list[OutputQuestion], rows)


class PublishedForm(Body):
    """What a draft became."""

    formId: FormId
    status: Status
    title: Title
    shareUrl: ShareUrl
    questionCount: QuestionCount
    responseLimit: NotRequired[Limit]
    idempotent: NotRequired[
        Annotated[bool, said("True when an earlier publish made the form: nothing was done.")]
    ]


def published_form(published: Published, public_url: str) -> PublishedForm:
    """What a draft became."""
    form = published.form
    return {
        "formId": form.id,
        "status": form.status,
        "title": form.title,
        "shareUrl": share_url(public_url, form.share_token),
        "questionCount": len(form.questions),
        "responseLimit": form.response_limit,
        "idempotent": published.repeated,
    }


class FormSummary(Body):
    """One form of the list."""

    formId: FormId
    title: Title
    url: ShareUrl
    status: Status
    questionCount: QuestionCount
    responseLimit: Limit
    responseCount: ResponseCount
    latestResponseAt: LatestResponseAt
    publishedAt: PublishedAt


def form_summary(form: FormSummaryRow, public_url: str) -> FormSummary:
    """One line of the list."""
    return {
        "formId": form.id,
        "title": form.title,
        "url": share_url(public_url, form.share_token),
        "status": form.status,
        "questionCount": form.question_count,
        "responseLimit": cast(ResponseLimit, form.response_limit),
        "responseCount": form.response_count,
        "latestResponseAt": wire_time_or_none(form.completed_stamp),
        "publishedAt": wire_time(form.published_at),
    }


class FormList(Body):
    """All forms of the account, newest first, closed ones included."""

    formCount: Annotated[int, said("How many forms there are; all of them are in `forms`.")]
    forms: Annotated[list[FormSummary], said("Newest first.")]


def form_list(forms: Iterable[FormSummaryRow], public_url: str) -> FormList:
    """All forms of an account."""
    found = [form_summary(form, public_url) for form in forms]
    return {"formCount": len(found), "forms": found}


class FormPage(FormList, ItemPage):
    """A page of the forms of the account; `formCount` counts all."""


class FormContent(Body):
    """What a form asks."""

    formId: FormId
    title: Title
    goal: Goal
    questions: Questions
    settings: Settings


def form_content(form: FormRow) -> FormContent:
    """What respondents see of a form, and its goal."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": shown_questions(form),
        "settings": form_settings(form),
    }


class OwnedForm(FormContent):
    """A published form of the account."""

    shareUrl: ShareUrl
    status: Status
    responseCount: ResponseCount
    latestResponseAt: LatestResponseAt
    publishedAt: PublishedAt


def owned_form(form: FormRow, public_url: str) -> OwnedForm:
    """One form with its counts."""
    return {
        **form_content(form),
        "shareUrl": share_url(public_url, form.share_token),
        "status": form.status,
        "responseCount": form.response_count,
        "latestResponseAt": wire_time_or_none(form.completed_stamp),
        "publishedAt": wire_time(to_millis(form.published_at)),
    }


class PagedForm(OwnedForm, ItemPage):
    """A form with a page of its questions."""


class MadeAgentToken(Body):
    """A private agent token. It is said this once, and stored nowhere."""

    tokenId: Annotated[str, said("The id of the token.")]
    token: Annotated[
        str, said("Send it in the header `Authorization: Bearer` to the routes below `/agent`.")
    ]
    hint: Annotated[str, said("What the creator sees of it: how it begins and ends.")]
    askId: Annotated[str, said("The ask that it reads, which is the form.")]
    label: Annotated[str, said('What it was called, `""` when nothing was sent.')]
    expiresAt: Annotated[
        str, moment("When it ends: as asked for, or with the connection that made it.")
    ]
    answersUrl: Annotated[str, said("Where it reads the answers.", format="uri")]


def made_agent_token(made: MadeToken, form_id: str, label: str, api_url: str) -> MadeAgentToken:
    """A new agent token of one form, with its text."""
    return {
        "tokenId": made.id,
        "token": made.token,
        "hint": made.hint,
        "askId": form_id,
        "label": label,
        "expiresAt": wire_time(to_millis(made.expires_at)),
        "answersUrl": f"{api_url}/agent/asks/{form_id}/answers",
    }
