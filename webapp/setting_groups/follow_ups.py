"""The settings of follow-up questions: which model writes them, where, and how often."""

from collections.abc import Iterator
from typing import Annotated, Any, cast
from urllib.parse import urlsplit

import orjson
from pydantic import Field

from webapp.config_readers import choice, from_text, one_line, whole_number
from webapp.setting_groups.external_services import (
    api_key,
    lacking_package,
    service_url,
    with_version,
)
from webapp.setting_groups.limits import LimitSettings

RULES, OPENAI, ANTHROPIC = "none", "openai", "anthropic"
EXTRA_MAX_CHARS = 10_000
OURS = frozenset({"messages", "model", "stream", "system"})  # of a request, whatever is merged in
_PACKAGES = {OPENAI: ("openai", "ai"), ANTHROPIC: ("anthropic", "anthropic")}
_DEFAULT_URLS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}


def _request_fields(text: str) -> str:
    """A JSON object, as it was written."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict) or len(text) > EXTRA_MAX_CHARS:
        raise ValueError(f"it is not a JSON object of at most {EXTRA_MAX_CHARS} characters")
    if refused := sorted(OURS & found.keys()):
        raise ValueError(f"it sets {', '.join(refused)}, which Askback does itself")
    return text


class FollowUpSettings(LimitSettings):
    """A model that is not set leaves follow-up questions to the rules."""

    llm_provider: Annotated[str, choice(RULES, OPENAI, ANTHROPIC)] = Field(
        RULES,
        description="Who writes follow-up questions: `openai` any service that understands "
        "`/v1/chat/completions`, `anthropic` one that understands `/v1/messages`, `none` the "
        "built-in rules. A published form keeps the model and the host that its creator was told "
        "of, or the rules",
    )
    llm_base_url: Annotated[str | None, from_text(service_url)] = Field(
        None,
        description="The address of that service, of `openai` up to `/v1`; plain http only to "
        "loopback and private addresses",
        examples=["http://127.0.0.1:11434/v1"],
        json_schema_extra={"shown": "that of the company which the provider is named after"},
    )
    llm_model: Annotated[str | None, one_line(200)] = Field(
        None,
        description="The name of the model there. Required by both",
        examples=["gpt-5.4-mini"],
        json_schema_extra={"shown": "none"},
    )
    llm_api_key: Annotated[str | None, from_text(api_key)] = Field(
        None,
        repr=False,
        description="The key of that service. Required by `anthropic`, and by `openai` unless "
        "`LLM_BASE_URL` names a service that needs none",
        examples=["sk-example"],
        json_schema_extra={"shown": "none: no key is sent"},
    )
    llm_extra: Annotated[str, from_text(_request_fields)] = Field(
        "{}",
        repr=False,
        description="A JSON object that is merged into each request, for what a model needs to "
        "answer within four seconds and 300 tokens",
        examples=['{"reasoning_effort": "low"}'],
        json_schema_extra={"shown": "nothing is added"},
    )
    llm_calls_per_day: Annotated[int, whole_number(1, 1_000_000)] = Field(
        5000,
        description="Calls of the model for one form in one day (UTC); after them the rules "
        "write its follow-up questions. One client address may use a tenth of it at all forms",
    )
    llm_calls_per_day_total: Annotated[int, whole_number(1, 100_000_000)] = Field(
        50_000,
        description="Calls of the model in one day (UTC) for all forms of the server together, "
        "and for creators who try their drafts",
    )

    @property
    def llm_url(self) -> str:
        """The address that the SDK of the provider wants; "" for the rules."""
        if self.llm_provider == RULES:
            return ""
        url = self.llm_base_url or _DEFAULT_URLS[self.llm_provider]
        return with_version(url) if self.llm_provider == OPENAI else url.removesuffix("/v1")

    @property
    def llm_host(self) -> str:
        """The host, with a port that is not that of the scheme, which gets answers; "" for none."""
        return urlsplit(self.llm_url).netloc

    @property
    def follow_up_writer(self) -> str:
        """Who writes follow-up questions, as creators are told before they confirm; "" for rules.

        A form for which another writer was confirmed stays with the rules.
        """
        return f"{self.llm_model} at {self.llm_host}" if self.llm_host else ""

    @property
    def llm_request_fields(self) -> dict[str, Any]:
        """What is merged into each request."""
        return cast(dict[str, Any], orjson.loads(self.llm_extra))


def lacking_of_model(made: FollowUpSettings) -> Iterator[tuple[str, str]]:
    """What the model needs and does not have: variables, each with what is wrong."""
    provider = made.llm_provider
    if provider == RULES:
        return
    if made.llm_model is None:
        yield "LLM_MODEL", f"it is required by LLM_PROVIDER={provider}"
    if made.llm_api_key is None and provider == ANTHROPIC:
        yield "LLM_API_KEY", "it is required by LLM_PROVIDER=anthropic"
    elif made.llm_api_key is None and made.llm_base_url is None:
        yield "LLM_API_KEY", "it is required unless LLM_BASE_URL names a service without keys"
    if what := lacking_package(provider, *_PACKAGES[provider]):
        yield "LLM_PROVIDER", what
