"""This suite never leaves the machine."""

import socket

import pytest


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as opened, pytest.raises(RuntimeError, match="opened a connection"):
        opened.connect(("192.0.2.1", 80))
