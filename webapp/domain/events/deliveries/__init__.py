"""Deliveries: which are due, what is sent, and what becomes of it."""
