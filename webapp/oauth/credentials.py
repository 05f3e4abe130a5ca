"""Opaque credentials: 256 random bits behind a prefix that scanners can find, hashed at rest.

Plain SHA-256 is enough for random input of that size; passwords need a slow hash.
"""

import hmac
import secrets

from webapp.domain.shared.secrets import token_hash

CODE_PREFIX = "askac_"
ACCESS_PREFIX = "askat_"
REFRESH_PREFIX = "askrt_"
CLIENT_SECRET_PREFIX = "askcs_"  # noqa: S105 (a public prefix, not a secret)

RANDOM_BYTES = 32
SECRET_CHARS = 6 + 43  # every prefix has six characters; 32 bytes are 43 in base64


def new_secret(prefix: str) -> str:
    """A new random secret; the prefix tells secret scanners what it is."""
    return prefix + secrets.token_urlsafe(RANDOM_BYTES)


def same_secret(known_hash: str, secret: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(known_hash, token_hash(secret))


def looks_like(prefix: str, secret: str) -> bool:
    """False for text that cannot be such a credential, so that garbage costs no query."""
    return len(secret) == SECRET_CHARS and secret.startswith(prefix)
