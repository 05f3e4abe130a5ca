"""Pages for respondents."""
