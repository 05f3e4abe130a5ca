"""Responses with their answers and counters, read by a cursor."""
