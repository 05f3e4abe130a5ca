"""Pages of a signed-in creator."""
