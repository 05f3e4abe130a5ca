"""Follow-up questions: what to ask after an answer, and what was asked."""
