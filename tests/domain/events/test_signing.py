"""Signatures as Standard Webhooks 1.0.0 has them."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from webapp.base.database import utc_now
from webapp.events.callbacks import secret_key, signed_headers

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(24))).decode()
BODY = '{"eventId":"evt_1","name":"Zoë"}'.encode()


def signed(*secrets: str, now: datetime | None = None) -> dict[str, str]:
    return signed_headers(
        "evt_1", BODY, secrets or (SECRET,), subscription_id="sub_1", now=now or utc_now()
    )


def test_the_library_of_receivers_verifies_it() -> None:
    assert Webhook(SECRET).verify(BODY, signed())["eventId"] == "evt_1"


def test_an_independent_implementation_verifies_it() -> None:
    now = datetime(2026, 11, 21, 12, 4, 0, 999_000, tzinfo=UTC)
    headers = signed(now=now)
    text = b"evt_1.1795262640." + BODY

    assert headers["webhook-timestamp"] == "1795262640"
    digest = hmac.digest(KEY, text, hashlib.sha256)
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


def test_all_headers_are_there() -> None:
    headers = signed()

    assert headers["Content-Type"] == "application/json"
    assert headers["X-MCP-Subscription-Id"] == "sub_1"
    assert headers["webhook-id"] == "evt_1"


def test_a_rotated_secret_signs_beside_the_new_one() -> None:
    headers = signed(SECRET, OTHER)

    assert len(headers["webhook-signature"].split(" ")) == 2
    assert headers["webhook-signature"].startswith(signed(SECRET)["webhook-signature"])
    for secret in (SECRET, OTHER):
        Webhook(secret).verify(BODY, headers)


@pytest.mark.parametrize("seconds", [-290, 290])
def test_a_moment_near_that_of_the_receiver_is_taken(seconds: int) -> None:
    Webhook(SECRET).verify(BODY, signed(now=utc_now() + timedelta(seconds=seconds)))


@pytest.mark.parametrize("seconds", [-302, 302])
def test_a_moment_far_from_that_of_the_receiver_is_refused(seconds: int) -> None:
    with pytest.raises(WebhookVerificationError, match="timestamp"):
        Webhook(SECRET).verify(BODY, signed(now=utc_now() + timedelta(seconds=seconds)))


def test_changed_bytes_are_refused() -> None:
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY + b" ", signed())


def test_a_naive_time_or_a_dot_in_the_id_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="naive"):
        signed(now=utc_now().replace(tzinfo=None))
    with pytest.raises(ValueError, match="dot"):
        signed_headers("evt.1", BODY, [SECRET], subscription_id="sub_1", now=utc_now())


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=5, minutes=30)), ZoneInfo("Asia/Tokyo")])
def test_other_zones_sign_the_same_moment(zone: timezone) -> None:
    now = utc_now()

    assert signed(now=now.astimezone(zone)) == signed(now=now)


@pytest.mark.parametrize("size", [24, 25, 26, 32, 63, 64])
def test_keys_of_24_to_64_bytes_are_taken_with_and_without_padding(size: int) -> None:
    key = bytes(200 + index % 56 for index in range(size))
    secret = "whsec_" + base64.b64encode(key).decode()

    assert secret_key(secret) == secret_key(secret.rstrip("=")) == key


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        ("", "whsec_"),
        (base64.b64encode(KEY).decode(), "whsec_"),
        ("WHSEC_" + SECRET[6:], "whsec_"),
        ("whsec_", "base64"),
        ("whsec_" + base64.b64encode(bytes(23)).decode(), "23 bytes"),
        ("whsec_" + base64.b64encode(bytes(65)).decode(), "65 bytes"),
        ("whsec_aGVsbG8=", "5 bytes"),
        ("whsec_" + "A" * 10_000, "base64"),
        (SECRET[:-3] + "-_=", "base64"),
        (SECRET + "\n", "base64"),
        (" " + SECRET, "whsec_"),
        (SECRET[:20] + " " + SECRET[20:], "base64"),
        (SECRET[:20] + "=" + SECRET[20:], "base64"),
        (SECRET + "é", "base64"),
        ("whsec_" + "A" * 33, "base64"),
    ],
)
def test_other_secrets_are_refused_with_a_reason_that_repeats_nothing(
    secret: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        secret_key(secret)
    assert SECRET[6:20] not in str(refused.value)
