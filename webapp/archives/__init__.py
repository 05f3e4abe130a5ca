"""What backups hold, and how each database is copied and brought back."""
