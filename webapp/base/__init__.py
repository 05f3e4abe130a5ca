"""Settings, the database, calls to other hosts, and the errors and words that all rooms share."""
