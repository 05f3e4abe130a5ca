"""Files, functions and folders stay short enough to be read at once."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE_LINES = {".py": 300, ".html": 120, ".css": 350, ".js": 250}
FUNCTION_LINES = 40
TEST_FILE_LINES, TEST_FUNCTION_LINES = 450, 50
FOLDER_FILES = 20
CODE = ("webapp", "api", "jobs", "static", "templates", "tests")
WRITTEN_BY_TOOLS = "webapp/migrations/versions"


def files(*endings: str) -> list[str]:
    """Those with one of the endings; without any, all."""
    found = (path for folder in CODE for path in (ROOT / folder).rglob("*") if path.is_file())
    wanted = (path for path in found if path.suffix in endings or not endings)
    names = (str(path.relative_to(ROOT)) for path in wanted if "__pycache__" not in path.parts)
    return sorted(name for name in names if not name.startswith(WRITTEN_BY_TOOLS))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without the docstring, which may explain at length."""
    documented = ast.get_docstring(function) is not None
    first = function.body[0].end_lineno if documented else function.lineno
    return (function.end_lineno or 0) - (first or 0)


def file_limit(name: str) -> int:
    return TEST_FILE_LINES if name.startswith("tests/") else FILE_LINES[Path(name).suffix]


def function_limit(name: str) -> int:
    return TEST_FUNCTION_LINES if name.startswith("tests/") else FUNCTION_LINES


def test_no_file_is_too_long() -> None:
    names = files(*FILE_LINES)
    lengths = {name: len((ROOT / name).read_text().splitlines()) for name in names}

    assert names
    assert {name: lines for name, lines in lengths.items() if lines > file_limit(name)} == {}


def test_no_function_is_too_long() -> None:
    lengths = [
        (name, function.name, lines_of(function))
        for name in files(".py")
        for function in functions(ast.parse((ROOT / name).read_text()))
        if not function.name.startswith("test_")
    ]

    assert lengths
    assert [each for each in lengths if each[2] > function_limit(each[0])] == []


def test_no_folder_holds_too_many_files() -> None:
    counts = Counter(str(Path(name).parent) for name in files())

    assert counts
    assert {name: count for name, count in counts.items() if count > FOLDER_FILES} == {}
