"""Detection of automated responses. They are shown with a flag and never dropped."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from webapp.domain.shared.limits import ANSWER_MIN_SECONDS


@dataclass(frozen=True, slots=True)
class Signs:
    """Evidence of how a respondent's page was used.

    begun_at         when the first page of this session was rendered; None for an unsigned key
    honeypot_filled  the field that people neither see nor reach has a value
    """

    begun_at: datetime | None
    honeypot_filled: bool = False

    def looks_automated(self, answers: int, now: datetime) -> bool:
        """True if a person cannot have answered this many questions by `now`."""
        if self.honeypot_filled or self.begun_at is None:
            return True
        return now - self.begun_at < timedelta(seconds=ANSWER_MIN_SECONDS * answers)
