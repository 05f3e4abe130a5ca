"""Results as their creator reads them: by question, searched, as a file."""
