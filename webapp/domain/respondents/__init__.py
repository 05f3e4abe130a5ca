"""What respondents see and do: answer, correct, send, change devices."""
