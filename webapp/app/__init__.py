"""The application factory, its server, its commands and its background work."""
