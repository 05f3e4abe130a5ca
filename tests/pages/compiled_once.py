"""Templates and builders of URLs, compiled once in a process instead of once per application.

A run of the tests makes hundreds of applications; compiling is nearly all that each of them costs.
"""

from collections.abc import Callable
from types import CodeType

from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

from webapp.app.factory import Application


class TemplateCode(BytecodeCache):
    """The code of templates in memory, by name, path and source."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


compile_builder = Rule._compile_builder
builders: dict[tuple[str, str, str, bool], Callable[..., tuple[str, str]]] = {}


def known_builder(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:  # noqa: FBT001, FBT002
    """Not yet bound to its rule, so that it serves equal rules of other applications."""
    key = (rule.rule, repr(rule._trace), repr(rule.defaults), append_unknown)
    if key not in builders:
        builders[key] = compile_builder(rule, append_unknown)
    return builders[key]


def pytest_configure() -> None:
    Application.jinja_options = {"bytecode_cache": TemplateCode()}
    Rule._compile_builder = known_builder
