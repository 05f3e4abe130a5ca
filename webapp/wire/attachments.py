"""The recordings of answers as the contract lists them."""

from webapp.domain.responses.models import AttachmentRow
from webapp.wire.extension_types import LinkedAttachment
from webapp.wire.types import Attachment


def attachment(recording: AttachmentRow) -> Attachment:
    """One recording, without its bytes."""
    return {
        "id": recording.id,
        "name": recording.name,
        "type": recording.media_type,
        "size": recording.size,
        "contentOmitted": True,
    }


def linked_attachment(form_id: str, recording: AttachmentRow, api_url: str) -> LinkedAttachment:
    """One recording with the addresses of its bytes."""
    path = f"{form_id}/attachments/{recording.id}"
    return {
        **attachment(recording),
        "formId": form_id,
        "answerId": recording.answer_id,
        "durationSeconds": recording.duration_ms / 1000,
        "url": f"{api_url}/forms/{path}",
        "agentUrl": f"{api_url}/agent/asks/{path}",
    }
