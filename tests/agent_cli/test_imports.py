"""The commands of agents start without the application."""

import subprocess
import sys

import pytest

from tests.command import ROOT

CODE = """
import sys
sys.argv = ["askback", {command!r}, "--help"]
from webapp.__main__ import main
try:
    main()
finally:
    print([name for name in ("flask", "sqlalchemy", "webapp.app.factory") if name in sys.modules])
"""


@pytest.mark.parametrize("command", ["ask", "wait", "sign-in", "sign-out", "connect"])
def test_neither_flask_nor_sqlalchemy_is_imported(command: str) -> None:
    code = CODE.format(command=command)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout.startswith("Usage: ")
    assert ran.stdout.endswith("\n[]\n")


def test_another_command_does_import_them() -> None:
    code = CODE.format(command="doctor")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)

    assert ran.stdout.endswith("\n['flask', 'sqlalchemy', 'webapp.app.factory']\n")
