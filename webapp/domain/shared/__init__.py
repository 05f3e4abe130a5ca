"""What every noun of the domain stands on: words, bounds, outcomes."""
