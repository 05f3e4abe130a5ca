"""The tables and their simple queries: accounts, content, drafts, forms, responses, events."""
