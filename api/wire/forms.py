"""Published forms, their subscriptions and agent tokens, as agents read them."""

from collections.abc import Iterable
from typing import NotRequired, cast

from pydantic.alias_generators import to_camel

from api.wire.types import Body, ItemPage, Moment, Uri, wire_time, wire_time_or_none
from webapp.base.config import settings
from webapp.base.database import to_millis
from webapp.base.vocabulary import FollowUpMode, ResponseLimit, ResponseMode
from webapp.drafts.publishing import Published
from webapp.records.content import model as content
from webapp.records.forms import FormRow, FormSummaryRow


class OutputQuestion(Body):
    """A question as respondents see it."""

    id: str
    text: str
    context: NotRequired[str]


class FormSettings(Body):
    """All five settings, defaults filled in. To change them, send them alongside `title`."""

    followUpMode: FollowUpMode
    responseMode: ResponseMode
    responseLimit: ResponseLimit
    maxFollowupsPerQuestion: int
    maxTotalQuestions: int | None


# names on the wire, names of the attributes
_SETTINGS = tuple((to_camel(name), name) for name in content.FormSettings._fields)


def share_url(share_token: str) -> str:
    """Return the address where people answer the form."""
    return f"{settings().public_url}/r/{share_token}"


def form_settings(of: content.Content) -> FormSettings:
    """Return all settings of a draft or of a form."""
    found = content.form_settings(of)
    return cast(FormSettings, {name: getattr(found, field) for name, field in _SETTINGS})


def shown_questions(of: content.Content) -> list[OutputQuestion]:
    """Return the questions without their prepared follow-ups, which have a path of their own."""
    rows = of.questions
    if any("follow_ups" in row for row in rows):
        return [
            cast(OutputQuestion, {key: row[key] for key in row if key != "follow_ups"})
            for row in cast(list[dict[str, str]], rows)
        ]
    return cast(list[OutputQuestion], rows)


class PublishedForm(Body):
    """What a draft became."""

    formId: str
    status: str
    title: str
    shareUrl: Uri
    questionCount: int
    responseLimit: NotRequired[ResponseLimit]
    idempotent: NotRequired[bool]


def published_form(published: Published) -> PublishedForm:
    """Return the form that a draft became."""
    form = published.form
    return {
        "formId": form.id,
        "status": form.status,
        "title": form.title,
        "shareUrl": share_url(form.share_token),
        "questionCount": len(form.questions),
        "responseLimit": form.response_limit,
        "idempotent": published.repeated,
    }


class FormSummary(Body):
    """One form of the list."""

    formId: str
    title: str
    url: Uri
    status: str
    questionCount: int
    responseLimit: ResponseLimit
    responseCount: int
    latestResponseAt: Moment | None
    publishedAt: Moment


class FormList(Body):
    """All forms of the account, newest first, closed ones included."""

    formCount: int
    forms: list[FormSummary]


def form_list(forms: Iterable[FormSummaryRow]) -> FormList:
    """Return all forms of an account."""
    links = share_url("")  # once: a list may have a thousand forms
    found: list[FormSummary] = [
        {
            "formId": form.id,
            "title": form.title,
            "url": links + form.share_token,
            "status": form.status,
            "questionCount": form.question_count,
            "responseLimit": cast(ResponseLimit, form.response_limit),
            "responseCount": form.response_count,
            "latestResponseAt": wire_time_or_none(form.completed_stamp),
            "publishedAt": wire_time(form.published_at),
        }
        for form in forms
    ]
    return {"formCount": len(found), "forms": found}


class FormPage(FormList, ItemPage):
    """A page of the forms of the account; `formCount` counts all."""


class FormContent(Body):
    """What a form asks."""

    formId: str
    title: str
    goal: str | None
    questions: list[OutputQuestion]
    settings: FormSettings


def form_content(form: FormRow) -> FormContent:
    """Return the questions and texts that respondents see, and the goal of the form."""
    return {
        "formId": form.id,
        "title": form.title,
        "goal": form.goal,
        "questions": shown_questions(form),
        "settings": form_settings(form),
    }


class OwnedForm(FormContent):
    """A published form of the account."""

    shareUrl: Uri
    status: str
    responseCount: int
    latestResponseAt: Moment | None
    publishedAt: Moment


def owned_form(form: FormRow) -> OwnedForm:
    """Return one form with its counts."""
    return {
        **form_content(form),
        "shareUrl": share_url(form.share_token),
        "status": form.status,
        "responseCount": form.response_count,
        "latestResponseAt": wire_time_or_none(form.completed_stamp),
        "publishedAt": wire_time(to_millis(form.published_at)),
    }


class PagedForm(OwnedForm, ItemPage):
    """A form with a page of its questions."""


class MadeAgentToken(Body):
    """A private agent token. It is said this once, and stored nowhere."""

    tokenId: str
    token: str
    hint: str
    askId: str
    label: str
    expiresAt: Moment
    answersUrl: Uri


class Subscription(Body):
    """What was granted. The same call again, in time, renews it."""

    subscriptionId: str
    refreshBefore: Moment
    cursor: str
    truncated: bool


class SubscriptionSummary(Body):
    """A live subscription. Neither its secret nor its whole address is shown."""

    subscriptionId: str
    host: str
    active: bool
    lastDeliveryAt: Moment | None
    lastError: str | None
    refreshBefore: Moment


class SubscriptionList(Body):
    """The live subscriptions of a form, by any connection of the account."""

    subscriptions: list[SubscriptionSummary]
