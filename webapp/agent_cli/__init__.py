"""The commands of agents: `askback sign-in`, `ask`, `wait`, `connect`; over the public API alone.

Imports neither Flask nor SQLAlchemy, so that a command starts fast and works anywhere.
"""
