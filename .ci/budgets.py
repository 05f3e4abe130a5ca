"""Measure the size of the project, and print it against its budgets."""

import ast
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("webapp", "api", "jobs", ".ci")


def sources(*folders: str) -> list[Path]:
    """Return every Python file below the folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def lines(paths: list[Path]) -> int:
    """Return the number of lines in all files together."""
    return sum(len(path.read_text().splitlines()) for path in paths)


def lengths(paths: list[Path], kinds: tuple[type[ast.stmt], ...]) -> Iterator[int]:
    """Yield the number of lines of each statement of these kinds, without decorators."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kinds) and node.end_lineno:
                yield node.end_lineno - node.lineno + 1


def settings() -> int:
    """Return the number of settings of a server."""
    sys.path.insert(0, str(ROOT))
    from webapp.base.config import Settings

    return len(Settings.model_fields)


def dependencies() -> int:
    """Return the number of dependencies that every installation has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\[<>=]", each)[0] for each in project["dependencies"]}
    return len(names - {"setuptools"})


def budgets() -> Iterator[tuple[str, float, float]]:
    """Yield the name, the measured value and the limit of each budget."""
    product, tests = sources(*PRODUCT), sources("tests")
    files = [path for path in product if "migrations" not in path.parts]
    functions = sorted(lengths(files, (ast.FunctionDef, ast.AsyncFunctionDef)))
    imports = sum(lengths(product, (ast.Import, ast.ImportFrom)))
    yield "product: lines", lines(product), 38_000
    yield "product: files", len(product), 260
    yield "tests: lines", lines(tests), 55_000
    yield "imports: percent of lines", round(100 * imports / lines(product), 1), 7
    yield "functions: median lines", statistics.median(functions), 7
    yield "functions: nine of ten have", functions[len(functions) * 9 // 10], 18
    yield "functions: longest", functions[-1], 50
    yield "files: longest", max(lines([path]) for path in [*product, *tests]), 500
    yield "settings", settings(), 48
    yield "dependencies of the core", dependencies(), 27


for what, found, most in budgets():
    print(f"{'  ' if found <= most else '! '}{what:28} {found:>8} of {most}")
