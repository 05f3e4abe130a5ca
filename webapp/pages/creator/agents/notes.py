"""What agents say beside their revisions, under the names of those who said it."""

from dataclasses import dataclass

from flask_babel import gettext as _

from webapp.domain.drafts.agent_notes import AgentNote, current_note, list_notes
from webapp.domain.drafts.models import Draft
from webapp.pages.creator.request import agent_names


@dataclass(frozen=True, slots=True)
class ShownNote:
    """The words of one agent, for a page to quote."""

    agent: str
    text: str


def notes_since(draft: Draft, revision: int) -> list[ShownNote]:
    """Of the revisions after this one; else of the revision as it stands, if it has any."""
    standing = current_note(draft)
    return _named(list_notes(draft, revision) or ([standing] if standing else []))


def _named(notes: list[AgentNote]) -> list[ShownNote]:
    names = agent_names(note.author for note in notes) if notes else {}
    return [ShownNote(names.get(note.author, _("An agent")), note.text) for note in notes]
