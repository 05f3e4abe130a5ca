"""Which passwords are refused, and what hashing them takes."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.services import wait_until
from webapp.base.errors import InvalidInput, TooBusy
from webapp.records.accounts import credentials

EMAIL = "ann.lindqvist@example.com"
GUESSED = """
    manchester12 changeme1234 December2024 asdfghjkl123 askback12345 passwordpassword
    correcthorsebatterystaple lindqvist123 mysecretpassword! elevenchars iloveyouforever!!
    aaaaaaaaaaaaaa 123456789012 ann.lindqvist2026 passwortpasswort2024!
"""
ACCEPTED = [
    "four plain words here",
    "Zoë, und dann?",
    "\U0001f600" * 3 + " und noch drei \U0001f680",
    "and then four other words " * 30,
    "frog 8374629184 73",
]


@pytest.mark.parametrize("password", [*GUESSED.split(), "x" * 1025, EMAIL])
def test_commonly_guessed_passwords_are_refused(password: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        credentials.check_password(password, EMAIL)

    assert refusal.value.field == "password"


@pytest.mark.parametrize("password", ACCEPTED)
def test_other_passwords_are_accepted(password: str) -> None:
    assert credentials.check_password(password, EMAIL) == password


@settings(max_examples=60, deadline=None)
@given(
    st.text(
        st.sampled_from("0123456789\n\r\t\x00\x1f\x7f\x85\u2028 ./-aA@")
        | st.characters(exclude_categories=()),
        min_size=12,
        max_size=40,
    )
)
def test_any_text_is_accepted_or_refused_without_error(password: str) -> None:
    assert refusal(lambda: credentials.check_password(password, EMAIL)) or len(password) >= 12


@pytest.mark.parametrize(
    "password",
    [
        "4a@b8e3g6g9i1l7o0s$5t7z2({[<|!+%" * 32,
        "\ufdfa" * credentials.PASSWORD_MAX_CHARS,
    ],
)
def test_passwords_that_are_slow_to_rate_are_rated(password: str) -> None:
    refusal(lambda: credentials.check_password(password, EMAIL))


def test_parallel_ratings_do_not_mix_their_addresses() -> None:
    with ThreadPoolExecutor(8) as pool:
        rated = pool.map(
            lambda n: refusal(lambda: credentials.check_password("x" * n, EMAIL)), [40] * 40
        )

    assert {type(each) for each in rated} == {InvalidInput}


def test_two_hashes_are_made_at_once_and_too_many_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hasher = Hasher()
    monkeypatch.setattr(credentials, "HASHER", hasher)
    places = credentials.HASHING_THREADS + credentials.WAITING_FOR_HASHING

    with ThreadPoolExecutor(places) as pool:
        waiting = [pool.submit(credentials.password_hash, "password") for _ in range(places)]
        wait_until(lambda: not credentials._places._value, "taking all places", seconds=30)
        wait_until(lambda: hasher.now == credentials.HASHING_THREADS, "hashing", seconds=30)
        with pytest.raises(TooBusy, match="Too many passwords"):
            credentials.password_hash("password")
        hasher.go_on.set()
        assert [each.result() for each in waiting] == [True] * places

    assert hasher.most == credentials.HASHING_THREADS
    assert credentials.password_hash("password")


class Hasher:
    """Counts concurrent calls, each of which waits until it may go on."""

    def __init__(self) -> None:
        self.most = self.now = 0
        self.go_on = threading.Event()
        self.lock = threading.Lock()

    def hash(self, *_given: Any) -> bool:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        assert self.go_on.wait(100)
        with self.lock:
            self.now -= 1
        return True


def refusal(judge: Callable[[], object]) -> Exception | None:
    try:
        judge()
    except InvalidInput as found:
        return found
    return None
