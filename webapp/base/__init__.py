"""What all rooms share: settings, the database, outbound calls, errors and vocabulary."""
