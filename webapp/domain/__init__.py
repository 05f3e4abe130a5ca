"""Rules and storage: one file per noun, without Flask."""
