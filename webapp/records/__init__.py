"""Tables with their plain reads: accounts, content, drafts, forms, responses, events."""
