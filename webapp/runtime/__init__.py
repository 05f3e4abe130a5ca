"""Running the application: its server, background work, backups and diagnosis."""
