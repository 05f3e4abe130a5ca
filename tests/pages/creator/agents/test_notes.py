"""What agents say beside their changes: quoted, in their name, wherever the change is shown."""

import re

import pytest

from tests.pages.creator.agents.conftest import changed, drafted
from tests.pages.creator_client import Creator
from webapp.records.drafts import Draft

WHY = "shorter, so that it fits a phone"


def quoted(page: str) -> list[str]:
    """Every note of a page, with who said it."""
    return re.findall(r'<bdi>([^<]*)</bdi>: <q class="quoted" dir="auto">([^<]*)</q>', page)


@pytest.fixture
def draft(ann: Creator, claude: str) -> Draft:
    return drafted(ann, claude, agent_note="One question is enough")


@pytest.mark.parametrize("page", ["", "/confirm", "/history"])
def test_a_new_draft_says_why_it_is_so_each_time_it_is_looked_at(
    ann: Creator, claude: str, page: str
) -> None:
    draft = drafted(ann, claude, agent_note="</q><script>alert(1)</script> لماذا؟ ” {{7*7}}")

    for _ in range(2):
        shown = ann.page(f"/drafts/{draft.id}{page}").text
        (said,) = quoted(shown)
        assert said[0] == "Claude"
        assert said[1].startswith("&lt;/q&gt;&lt;script&gt;alert")
        assert "{{7*7}}" in said[1]


def test_notes_stand_with_the_changes_that_were_not_seen(
    ann: Creator, claude: str, draft: Draft
) -> None:
    ann.page(f"/drafts/{draft.id}")
    changed(ann, draft, claude, WHY, title="Rota talks")
    ann.by_agent(draft, goal="Learn", agent_note="from another")
    path = f"/drafts/{draft.id}"

    review, confirm = ann.page(path).text, ann.page(f"{path}/confirm").text
    stale = ann.confirm(draft)
    ann.post(f"{path}/seen", revision=3)
    after = ann.page(path).text

    both = [("Claude", WHY), ("An agent", "from another")]
    assert quoted(review) == quoted(confirm) == quoted(stale.text) == both
    assert review.index("since you looked") < review.index(WHY) < review.index("<ins>")
    assert stale.status_code == 409
    assert quoted(after) == both[1:]


def test_a_change_of_the_creator_stands_in_nobody_elses_words(ann: Creator, draft: Draft) -> None:
    ann.page(f"/drafts/{draft.id}")
    ann.post(f"/drafts/{draft.id}/title", text="My own", revision=1)

    assert quoted(ann.page(f"/drafts/{draft.id}").text) == []
    assert quoted(ann.page(f"/drafts/{draft.id}/confirm").text) == []
