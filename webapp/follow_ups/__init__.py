"""The choice of a follow-up question after an answer, by rules or by a model."""
