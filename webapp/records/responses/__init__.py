"""Sessions with their answers and counters, and the cursor."""
