"""Answers: respondents give them; creators read and delete them."""
