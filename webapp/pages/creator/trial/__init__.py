"""A creator tries their draft before it goes out."""
