"""Signing in, and the account with its browsers and activity."""
