"""HTML for people: creators at their desk, respondents with a slip."""
