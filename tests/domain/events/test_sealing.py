"""Secrets are sealed for their place, and opened by any key that is still there."""

import secrets

import pytest

from webapp.base.sealing import NoKey, Sealer

OLD, NEW = {"k1": secrets.token_bytes(32)}, {"k2": secrets.token_bytes(32)}
PLACE = "event_subscriptions/sub_1/secret"


def test_what_was_sealed_is_opened_for_its_place_alone() -> None:
    sealed = Sealer(OLD).seal("whsec_canary é", place=PLACE)

    assert Sealer(OLD).unseal(sealed, place=PLACE) == "whsec_canary é"
    assert sealed.startswith("k1:")
    assert "canary" not in sealed
    assert Sealer(OLD).seal("whsec_canary é", place=PLACE) != sealed
    with pytest.raises(NoKey):
        Sealer(OLD).unseal(sealed, place="event_subscriptions/sub_2/secret")


@pytest.mark.parametrize("keys", [NEW, {"k1": secrets.token_bytes(32)}, {}])
def test_without_its_key_it_stays_shut(keys: dict[str, bytes]) -> None:
    sealed = Sealer(OLD).seal("x", place=PLACE)

    with pytest.raises(NoKey):
        Sealer(keys).unseal(sealed, place=PLACE)


def test_a_changed_byte_does_not_open() -> None:
    sealed = Sealer(OLD).seal("x" * 20, place=PLACE)

    for at in range(3, len(sealed) - 2):
        changed = sealed[:at] + ("A" if sealed[at] != "A" else "B") + sealed[at + 1 :]
        with pytest.raises(NoKey):
            Sealer(OLD).unseal(changed, place=PLACE)
