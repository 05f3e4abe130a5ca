"""What Node installs for the tests is locked by names, versions and hashes alone."""

import json

import pytest

from tests.node.lock import LOCK, without_addresses

REGISTRY = "https://registry.example/"


def locked(**package: object) -> dict[str, object]:
    return {"packages": {"": {"name": "tests"}, "node_modules/a": package}}


def test_the_lock_holds_no_address() -> None:
    text = LOCK.read_text(encoding="utf-8")

    assert "://" not in text
    assert without_addresses(json.loads(text)) == json.loads(text)


def test_addresses_are_taken_out_of_what_npm_writes() -> None:
    kept = {"version": "1.0.0", "integrity": "sha512-a", "dependencies": {"b": "^2.0.0"}}
    written = locked(
        **kept,
        resolved=f"{REGISTRY}a-1.0.0.tgz",
        funding={"url": "https://pay.example"},
        deprecated="see https://new.example",
    )

    assert without_addresses(written) == locked(**kept)


@pytest.mark.parametrize(
    "package",
    [
        {"version": "git+https://code.example/a", "integrity": "sha512-a"},
        {"version": "1.0.0", "resolved": f"{REGISTRY}a-1.0.0.tgz"},
        {"link": True, "resolved": "../a"},
    ],
)
def test_a_package_that_no_registry_can_check_is_refused(package: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"no version and hash|an address"):
        without_addresses(locked(**package))
