"""HTML pages of creators and respondents, and public ones."""
