"""The drafts of a creator in the sections of the inbox, those of one agent in groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from webapp.domain.drafts import waiting
from webapp.domain.drafts.models import DraftSummaryRow
from webapp.domain.shared.limits import DRAFTED_TOGETHER_SECONDS

TOGETHER = timedelta(seconds=DRAFTED_TOGETHER_SECONDS)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the creator: the name and key of its client, and one of its grants."""

    name: str
    client: str
    grant: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A draft in the inbox; `changes` since the creator's last view, None if never viewed.

    agent  who wrote last, else who made it; None for the creator
    maker  the agent that made it
    """

    draft: DraftSummaryRow
    agent: Agent | None
    maker: Agent | None
    changes: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """Drafts that one agent made together, most recently changed first; often only one."""

    entries: list[Entry]

    @property
    def maker(self) -> Agent | None:
        return self.entries[0].maker


@dataclass(frozen=True, slots=True)
class MutedAgent:
    """An agent with drafts that arrived quietly."""

    agent: Agent
    until: datetime


@dataclass(slots=True)
class Sections:
    """Every draft in one of them, most recently changed first."""

    waiting: list[Entry] = field(default_factory=list)
    confirmed: list[Entry] = field(default_factory=list)
    by_hand: list[Entry] = field(default_factory=list)
    returned: list[Entry] = field(default_factory=list)
    muted: list[Entry] = field(default_factory=list)
    empty: list[Entry] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of all drafts."""
        return sum(len(getattr(self, name)) for name in SECTIONS)


SECTIONS = tuple(each.name for each in fields(Sections))


def in_sections(
    entries: Iterable[Entry], confirmed: set[str], muted: Mapping[str, datetime]
) -> Sections:
    """`muted` has the keys of muted clients."""
    found = Sections()
    for entry in entries:
        if entry.draft.id in confirmed:
            found.confirmed.append(entry)
        elif waiting.is_returned(entry.draft):
            found.returned.append(entry)
        elif waiting.is_by_hand(entry.draft):
            found.by_hand.append(entry)
        elif entry.agent and entry.agent.client in muted:
            found.muted.append(entry)
        elif waiting.is_empty(entry.draft):
            found.empty.append(entry)
        else:
            found.waiting.append(entry)
    return found


def in_groups(entries: Sequence[Entry]) -> list[Group]:
    """Those that one agent made within ten minutes of the first together, in the order of their
    newest.
    """
    newest_of: dict[str, tuple[datetime, str]] = {}  # by client: its newest group
    group_of: dict[str, str] = {}
    for entry in sorted(entries, key=lambda entry: entry.draft.created_at):
        draft, client = entry.draft, entry.maker.client if entry.maker else ""
        began_at, group = newest_of.get(client, (draft.created_at, draft.id))
        if not client or draft.created_at - began_at > TOGETHER:
            began_at, group = draft.created_at, draft.id
        newest_of[client] = began_at, group
        group_of[draft.id] = group
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(group_of[entry.draft.id], []).append(entry)
    return [Group(together) for together in groups.values()]


def muted_agents(entries: Iterable[Entry], muted: Mapping[str, datetime]) -> list[MutedAgent]:
    """The agents of these drafts, each once."""
    agents = {entry.agent.client: entry.agent for entry in entries if entry.agent}
    return [MutedAgent(agent, muted[client]) for client, agent in agents.items()]
