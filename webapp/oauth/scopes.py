"""Scopes as clients write them; what is unknown here is ignored (RFC 6749 section 3.3)."""

from collections.abc import Iterable

from webapp.domain.shared.vocabulary import Scope

# the default of a request, and what a 401 asks for
PERMISSIONS = (Scope.FORMS_READ, Scope.FORMS_WRITE, Scope.RESPONSES_READ)


def read_scopes(text: str | None) -> list[Scope]:
    """The scopes of this server in the text, each once; some clients separate by commas."""
    words = (text or "").replace(",", " ").split()
    return sorted((scope for scope in Scope if scope in words), key=words.index)


def name_permission(scopes: Iterable[str]) -> bool:
    """Whether there is one of our permissions among them: `offline_access` alone opens nothing."""
    return not set(scopes).isdisjoint(PERMISSIONS)
