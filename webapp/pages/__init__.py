"""HTML pages for creators, respondents and the public."""
