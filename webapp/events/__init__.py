"""Subscriptions, and delivering events to them."""
