"""Encryption of secrets at rest: AES-256-GCM, bound to the place where each is stored."""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12  # NIST SP 800-38D, section 8.2.2: random ones serve for 2^32 secrets of a key


class NoKey(Exception):
    """None of the keys opens what was sealed, or it was sealed for another place."""


class Sealer:
    """Seals with the first of `keys`, and opens what any of them sealed.

    A sealed text is the id of its key, a colon, and nonce with ciphertext in base64.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = keys
        self.first_key_id = next(iter(keys), "")

    def seal(self, plain: str, *, place: str) -> str:
        """The sealed text of `plain`; `place` as `table/row id/column`. Raises NoKey."""
        if not self._keys:
            raise NoKey
        nonce = secrets.token_bytes(NONCE_BYTES)
        cipher = self._ciphers[self.first_key_id]
        sealed = nonce + cipher.encrypt(nonce, plain.encode(), place.encode())
        return f"{self.first_key_id}:{b64encode(sealed).decode()}"

    def unseal(self, sealed: str, *, place: str) -> str:
        """What was sealed for `place`. Raises NoKey."""
        from cryptography.exceptions import InvalidTag

        key_id, _, text = sealed.partition(":")
        try:
            both = b64decode(text, validate=True)
            nonce, ciphertext = both[:NONCE_BYTES], both[NONCE_BYTES:]
            return self._ciphers[key_id].decrypt(nonce, ciphertext, place.encode()).decode()
        except (KeyError, ValueError, InvalidTag) as error:
            raise NoKey from error

    @cached_property
    def _ciphers(self) -> "dict[str, AESGCM]":
        """Made at first use: a process that seals nothing does without 7 MiB."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return {key_id: AESGCM(key) for key_id, key in self._keys.items()}

    def is_current(self, sealed: str) -> bool:
        """True for what the first key sealed."""
        return sealed.partition(":")[0] == self.first_key_id
