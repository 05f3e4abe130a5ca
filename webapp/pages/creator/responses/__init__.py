"""Single responses: deleting them, figures without those, and their cells in files."""
