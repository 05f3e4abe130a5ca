"""The bytes of recordings, in the ranges that are asked for."""

from http import HTTPStatus

from flask import Response

from api.blueprint import bp
from api.errors import error_answer
from webapp.domain.forms import models as forms
from webapp.domain.responses.recordings import find_attachment
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.vocabulary import Scope
from webapp.integrations.audio_store import audio_store
from webapp.oauth.guard import current_caller, require_scope
from webapp.web.byte_ranges import recording_response


@bp.get("/forms/<form_id>/attachments/<attachment_id>")
@require_scope(Scope.RESPONSES_READ)
def get_attachment(form_id: str, attachment_id: str) -> Response:
    """getAttachment: the recording of an answer (200, or 206 with a Range)."""
    form = forms.get_form(current_caller().account_id, form_id)
    return attachment_bytes(form.id, attachment_id)


def attachment_bytes(form_id: str, attachment_id: str) -> Response:
    """As `recording_response`, but refused as everything else is.

    raises  NotFound
    """
    response = recording_response(find_attachment(form_id, attachment_id), audio_store().read)
    if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return _outside(response.headers["Content-Range"])
    return response


def _outside(content_range: str) -> Response:
    refused = error_answer(
        ErrorCode.RANGE_NOT_SATISFIABLE,
        "Range: none of the bytes that it names are there.",
        "Send a Range inside the size of the attachment, or none for all of it.",
    )
    refused.headers["Content-Range"] = content_range
    return refused
