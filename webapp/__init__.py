"""Askback: the installable application (factory in `webapp.app`)."""
