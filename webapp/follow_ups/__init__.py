"""Which follow-up question comes after an answer, by rules or by a model."""
