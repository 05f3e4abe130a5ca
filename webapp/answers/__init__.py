"""What respondents do, and how creators read and delete it."""
