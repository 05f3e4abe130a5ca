"""Rules and storage: one folder per noun, without Flask."""
