"""Proofs of recordings, on servers of their own."""
