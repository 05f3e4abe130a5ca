"""Requests to callbacks: what they may cost, how they are signed, and their secrets at rest."""
