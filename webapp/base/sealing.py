"""Encryption of stored secrets, and the keys of the current application."""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache, cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING

from itsdangerous import URLSafeSerializer

from webapp.base.config import settings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12  # NIST SP 800-38D, section 8.2.2: random nonces suffice for 2^32 secrets per key


class NoKey(Exception):
    """None of the keys decrypts the text, or the text was sealed for another place."""


class Sealer:
    """Encrypts with the first of `keys`, and decrypts with any of them.

    A sealed text is the id of its key, a colon, and nonce with ciphertext in base64.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = keys
        self.first_key_id = next(iter(keys), "")

    def seal(self, plain: str, *, place: str) -> str:
        """Encrypt `plain` for `place`, as `table/row id/column`. Raises NoKey."""
        if not self._keys:
            raise NoKey
        nonce = secrets.token_bytes(NONCE_BYTES)
        cipher = self._ciphers[self.first_key_id]
        sealed = nonce + cipher.encrypt(nonce, plain.encode(), place.encode())
        return f"{self.first_key_id}:{b64encode(sealed).decode()}"

    def unseal(self, sealed: str, *, place: str) -> str:
        """Decrypt a text that was sealed for `place`. Raises NoKey."""
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
        """The ciphers by key id, built at first use: importing them takes 7 MiB."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return {key_id: AESGCM(key) for key_id, key in self._keys.items()}

    def is_current(self, sealed: str) -> bool:
        """Return whether the first key encrypted the text."""
        return sealed.partition(":")[0] == self.first_key_id


def signer(key: bytes, salt: str) -> URLSafeSerializer:
    """Return a signer for values that clients hold and send back."""
    return URLSafeSerializer(key, salt=salt, signer_kwargs={"digest_method": sha256})


def address_hash(network: str) -> str:
    """Return the keyed hash to store for a network address: 64 hexadecimal digits."""
    return hmac.digest(_key_for(b"network addresses"), network.encode(), sha256).hex()


def sealer() -> Sealer:
    """Return the sealer of the current application."""
    return _sealer_of(settings().data_keys)


@cache
def _sealer_of(keys: tuple[tuple[str, bytes], ...]) -> Sealer:
    return Sealer(dict(keys))


def _key_for(purpose: bytes) -> bytes:
    return hmac.digest(settings().secret_key.encode(), purpose, sha256)


# signing keys
cursor_key = partial(_key_for, b"cursors of events")
fragment_key = partial(_key_for, b"cursors of fragments")
request_state_key = partial(_key_for, b"states of tool calls")  # of calls that continue later
recording_key = partial(_key_for, b"addresses of recordings")
