"""Subscriptions: how they begin, go on and end."""
