"""The respondent's use cases: answer, correct, skip, send, withdraw, change devices."""
