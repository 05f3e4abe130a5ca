"""The commands of agents over the public API: `sign-in`, `sign-out`, `ask`, `wait`, `connect`.

They import neither Flask nor SQLAlchemy, so that a command starts fast and works anywhere.
"""
