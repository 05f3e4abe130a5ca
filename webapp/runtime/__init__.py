"""What runs the application: its server, background work, backups and diagnosis."""
