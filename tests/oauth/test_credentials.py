"""No credential is stored or logged in clear."""

import logging

import pytest
from flask import Flask
from sqlalchemy import select

from tests.oauth.flow import Flow
from webapp.base.database import db


def dump(app: Flask) -> str:
    """Every value in the database."""
    with app.app_context(), db.engine.connect() as connection:
        rows = [
            row
            for table in db.metadata.sorted_tables
            for row in connection.execute(select(table)).all()
        ]
    return repr(rows)


def test_the_database_holds_no_secret(app: Flask, confidential: Flow) -> None:
    code = confidential.code()
    body = confidential.redeem(code).json
    assert body is not None

    stored = dump(app)

    assert confidential.client["client_id"] in stored
    for secret in (
        code,
        body["access_token"],
        body["refresh_token"],
        confidential.client["client_secret"],
        confidential.verifier,
    ):
        assert secret not in stored


def test_the_logs_hold_no_secret(confidential: Flow, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    code = confidential.code()
    body = confidential.redeem(code).json
    assert body is not None
    confidential.refresh(body["refresh_token"])

    for secret in (code, body["access_token"], body["refresh_token"]):
        assert secret not in caplog.text
