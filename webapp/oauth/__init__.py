"""The authorization server and the guard of the protected resources (OAuth 2.1)."""
