"""Random secrets at rest: only their hash is stored."""

import hashlib


def token_hash(token: str) -> str:
    """SHA-256 as 64 hexadecimal digits; any text is accepted, also lone surrogates.

    For random tokens of 128 bits or more only: passwords need a slow hash.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
