"""Where recordings are kept: a folder, and a bucket on a server of the test run."""

from collections.abc import Iterator

import pytest

from tests.voice.s3_server import s3_server
from webapp.voice import audio_inspection


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    """Starting it takes a second or two."""
    with s3_server() as port:
        yield port


@pytest.fixture(scope="module", autouse=True)
def _no_child_remains() -> Iterator[None]:
    yield
    audio_inspection.child.end()
