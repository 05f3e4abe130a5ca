"""Where recordings are kept: a folder, and a bucket on a server of the test run."""

from collections.abc import Iterator

import pytest

from tests.voice.s3_server import s3_server


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    """Starting it takes a second or two."""
    with s3_server() as port:
        yield port
