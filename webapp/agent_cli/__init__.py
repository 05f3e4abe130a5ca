"""Agents on a command line: `askback sign-in`, `ask` and `wait`, over the public API alone.

Imports neither Flask nor SQLAlchemy, so that a command starts fast and works anywhere.
"""
