"""What crosses the wire: the contract's objects, moments and error codes."""
