"""The audit trail of accounts."""
