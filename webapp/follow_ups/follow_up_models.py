"""Asking the model that the settings name for a follow-up question. SDKs are imported on use.

While a call runs, its request holds a thread of the server: it takes a slot of
webapp/web/wakeups.py and a call of webapp/follow_ups/model_breaker.py around it, and holds no
connection to the database.
"""

import time
from types import ModuleType

from webapp.base.config import ANTHROPIC, RULES, Settings
from webapp.follow_ups.messages import ModelMessages

MODEL_SECONDS = 4.0  # for everything, from the name of the host to the last byte of the reply


def ask_model(messages: ModelMessages, *, config: Settings, seconds: float = MODEL_SECONDS) -> str:
    """The text of the reply, which nobody has checked; nothing is tried twice.

    Raises ModelFailed after `seconds` at the latest.
    """
    ends = time.monotonic() + seconds
    text: str = _provider(config).ask(messages, config=config, ends=ends)
    return text


def load_sdk(config: Settings) -> None:
    """Load what a call of the model needs, if there is one: the first call does not wait for it."""
    if config.llm_provider != RULES:
        from webapp.follow_ups import conduct

        conduct.named("")  # reads its lists
        _provider(config).prepare(config)


def _provider(config: Settings) -> ModuleType:
    if config.llm_provider == ANTHROPIC:
        from webapp.follow_ups import anthropic_messages

        return anthropic_messages
    from webapp.follow_ups import openai_chat

    return openai_chat
