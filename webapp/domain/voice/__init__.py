"""Voice: recordings from their upload to the words that were heard in them."""
