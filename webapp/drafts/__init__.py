"""Drafts up to publication, and the decisions of creators about their forms."""
