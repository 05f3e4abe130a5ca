"""Outcomes of use cases. Each carries a stable code, what happened and what to do about it."""


class Outcome(Exception):
    """Base of expected failures; `resolution` is the actionable hint of the contract's Error."""

    def __init__(self, code: str, message: str, resolution: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.resolution = resolution


class InvalidInput(Outcome):
    """The request itself is wrong (400); `field` is the path of the value, "" for the body."""

    def __init__(self, code: str, message: str, resolution: str, field: str = "") -> None:
        super().__init__(code, message, resolution)
        self.field = field


class NotFound(Outcome):
    """No such object, or another account's (404)."""


class StateConflict(Outcome):
    """The state of the object does not allow the operation (409)."""
