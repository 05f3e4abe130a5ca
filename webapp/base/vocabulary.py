"""All enums with their wire values; the OpenAPI document shows the docstrings."""

from enum import StrEnum

from webapp.base.config import ON_THIS_SERVER as ON_THIS_SERVER


class DraftStatus(StrEnum):
    """`draft` until it is published, then `published` for good."""

    DRAFT = "draft"
    PUBLISHED = "published"


class ReviewState(StrEnum):
    """`waiting`: nothing was said of it yet. `confirmed`: it can be published. `stale`: it changed
    after it was confirmed. `returned`: the creator sent it back; change it. `discarded`: the
    creator does not want it. `published`: it became a form.
    """

    WAITING = "waiting"
    CONFIRMED = "confirmed"
    STALE = "stale"
    RETURNED = "returned"
    DISCARDED = "discarded"
    PUBLISHED = "published"


class FormStatus(StrEnum):
    """`completed`: a `one` form has its response; `closed`: by creator, date or cap."""

    PUBLISHED = "published"
    COMPLETED = "completed"
    CLOSED = "closed"


class SessionStatus(StrEnum):
    """`abandoned` is computed on read and never stored."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class FollowUpMode(StrEnum):
    """`none`: only the questions of the form. `smart`: follow-up questions that know the private
    context. `deep_dive`: follow-up questions that go into each answer.
    """

    NONE = "none"
    SMART = "smart"
    DEEP_DIVE = "deep_dive"


class FollowUpCondition(StrEnum):
    """After which answers a prepared follow-up is asked: `always` after any that says something,
    `if_short` after one of a few words, `if_no_answer` after "I don't know", `if_several` after one
    that names several things, `if_yes` and `if_no` after one that begins so.
    """

    ALWAYS = "always"
    IF_SHORT = "if_short"
    IF_NO_ANSWER = "if_no_answer"
    IF_SEVERAL = "if_several"
    IF_YES = "if_yes"
    IF_NO = "if_no"


class FollowUpAuthor(StrEnum):
    """Who prepared a follow-up: `agent` or `creator`"""

    AGENT = "agent"
    CREATOR = "creator"


class FollowUpState(StrEnum):
    """`claimed`: a model decides. `asked`: for good, whatever became of it. `nothing`: no question
    follows.
    """

    CLAIMED = "claimed"
    ASKED = "asked"
    NOTHING = "nothing"


class ResponseMode(StrEnum):
    """`voice_preferred`: by voice or in writing, as people like. `text_only`: in writing.
    `voice_only`: by voice; people who cannot record type.
    """

    VOICE_PREFERRED = "voice_preferred"
    TEXT_ONLY = "text_only"
    VOICE_ONLY = "voice_only"


class ResponseLimit(StrEnum):
    """`one`: the link takes one completed response in all, from anybody; it is meant for one
    named person. `multiple`: any number.
    """

    ONE = "one"
    MULTIPLE = "multiple"


class QuestionKind(StrEnum):
    """`scripted`: a question of the form. `followup`: one that was asked because of an answer."""

    SCRIPTED = "scripted"
    FOLLOW_UP = "followup"


class ResponseType(StrEnum):
    """`voice`: spoken; the text is a transcript. `text`: written."""

    VOICE = "voice"
    TEXT = "text"


class TranscriptState(StrEnum):
    """`waiting`: until it was looked at and, where somebody does, written down. `none`: nobody
    writes it down. `silent`: no voice was heard. `failed`: the last attempt failed.
    """

    WAITING = "waiting"
    NONE = "none"
    SILENT = "silent"
    DONE = "done"
    FAILED = "failed"


class ConfirmationMethod(StrEnum):
    """Who confirmed a published revision."""

    BROWSER = "browser"
    AGENT_ATTESTED = "agent_attested"


class Scope(StrEnum):
    """A permission that a creator grants a client."""

    FORMS_READ = "forms:read"
    RESPONSES_READ = "responses:read"
    FORMS_WRITE = "forms:write"
    OFFLINE_ACCESS = "offline_access"


DEFAULT_FOLLOW_UPS = {
    FollowUpMode.NONE: 0,
    FollowUpMode.SMART: 2,
    FollowUpMode.DEEP_DIVE: 5,
}


class ClientKind(StrEnum):
    """How a client became known: by the operator, by RFC 7591, by its metadata document."""

    PRE_REGISTERED = "pre"
    DYNAMIC = "dcr"
    DOCUMENT = "cimd"


class TokenKind(StrEnum):
    """The two kinds of OAuth tokens"""

    ACCESS = "access"
    REFRESH = "refresh"


class RevokedReason(StrEnum):
    """Why a connection ended; the two reuse reasons are shown as security notices."""

    DISCONNECTED = "disconnected"
    REVOKED_BY_CLIENT = "revoked_by_client"
    CODE_REUSE = "code_reuse"
    REFRESH_REUSE = "refresh_reuse"


class TokenEnd(StrEnum):
    """Why an agent token is of no use."""

    REVOKED = "revoked"
    EXPIRED = "expired"


class SubscriptionEnd(StrEnum):
    """Why a subscription ended."""

    UNSUBSCRIBED = "unsubscribed"
    DISCONNECTED = "disconnected"
    REVOKED = "revoked"
    EXPIRED = "expired"


class ErrorProfile(StrEnum):
    """Which numbers of MCP error codes a client understands.

    `plain`: those of the first implementations. `extension`: those of clients that declare the
    events extension.
    """

    PLAIN = "plain"
    EXTENSION = "extension"


class DeliveryKind(StrEnum):
    """`event`: a completed response. `terminated`: that the subscription was ended for safety."""

    EVENT = "event"
    TERMINATED = "terminated"


class DeliveryState(StrEnum):
    """`pending` and `sending` are not settled, all others are, for good.

    `dropped`: the receiver answered 410 or 413. `abandoned`: the last attempt failed, or there was
    no room. `cancelled`: withdrawn, or its subscription ended.
    """

    PENDING = "pending"
    SENDING = "sending"
    DELIVERED = "delivered"
    DROPPED = "dropped"
    ABANDONED = "abandoned"
    CANCELLED = "cancelled"


class DeliveryFailure(StrEnum):
    """Why a callback counts as failed; all that agents see of it."""

    CONNECTION_REFUSED = "connection_refused"
    TIMEOUT = "timeout"
    TLS_ERROR = "tls_error"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    CHALLENGE_FAILED = "challenge_failed"
