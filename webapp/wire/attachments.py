"""The recordings of answers as the contract lists them."""

from datetime import datetime

from webapp.database import to_millis
from webapp.domain.responses.models import AttachmentRow
from webapp.wire.extension_types import LinkedAttachment
from webapp.wire.timestamps import wire_time
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


def linked_attachment(
    form_id: str,
    recording: AttachmentRow,
    api_url: str,
    url: str,
    expires_at: datetime,
    *,
    is_included: bool,
) -> LinkedAttachment:
    """One recording with the addresses of its bytes; `is_included`: the result holds them, too."""
    return {
        **attachment(recording),
        "contentOmitted": not is_included,
        "formId": form_id,
        "answerId": recording.answer_id,
        "durationSeconds": recording.duration_ms / 1000,
        "url": url,
        "expiresAt": wire_time(to_millis(expires_at)),
        "agentUrl": f"{api_url}/agent/asks/{form_id}/attachments/{recording.id}",
    }
