"""What tells a program from a person. Such a response is shown with a flag and never dropped."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from webapp.domain.shared.limits import ANSWER_MIN_SECONDS


@dataclass(frozen=True, slots=True)
class Signs:
    """How a respondent's page was used.

    begun_at  when we drew the first page of this session; None when we drew none for this key
    trapped   something stands in the field that people neither see nor reach
    """

    begun_at: datetime | None
    trapped: bool = False

    def tell(self, answers: int, now: datetime) -> bool:
        """True when so many answered questions by now are no person's work."""
        if self.trapped or self.begun_at is None:
            return True
        return now - self.begun_at < timedelta(seconds=ANSWER_MIN_SECONDS * answers)
