"""Background work. Nothing is queued yet: signed event deliveries will live here."""
