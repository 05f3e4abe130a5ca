"""Reading responses one by one, and what arrives while a page of results is open."""
