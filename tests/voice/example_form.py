"""A form that people speak to, with what they said; as rows, without sound."""

from datetime import datetime
from typing import Any

from tests.voice.factories import make_spoken_answer
from webapp.answers import answering
from webapp.base.database import to_millis
from webapp.base.vocabulary import TranscriptState
from webapp.drafts.agreement import Agreement, Shown, VoiceAgreement

MILK = {"title": "What the milk was like", "questions": ["What went wrong this week?"]}
WRITTEN_DOWN = VoiceAgreement(records_voice=True, transcriber="speech.fernhill.example")
TOLD = Shown(Agreement(WRITTEN_DOWN), Agreement(WRITTEN_DOWN))
SAID = "It was late again on Monday, and nobody called."
HEARD = "it was late again on monday and nobody cold"
LEVELS = "0013568875421000246898753100001357998642000024689764210000123321"


def make_spoken(form: Any, now: datetime) -> None:
    """Two people answered: one was written down and corrected, of the other nothing was heard."""
    heard = {"transcript_state": TranscriptState.DONE, "transcript": HEARD}
    silent = {"transcript_state": TranscriptState.SILENT, "levels": "0" * 64}
    for text, facts in ((SAID, heard), ("", silent)):
        key = f"spoken-{to_millis(now)}-{len(text)}-spoken-spoken"
        made = {"levels": LEVELS, "transcriber": WRITTEN_DOWN.transcriber, "duration_ms": 23_400}
        make_spoken_answer(form, key, text=text, **made | facts)
        answering.complete_response(form.share_token, key, responder_name="", now=now)
