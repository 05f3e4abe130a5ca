"""Accounts of creators, their passwords and browser sessions."""
