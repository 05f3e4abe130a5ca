"""A new draft setting touches at most eight application files: those that handle every setting.

All other files that name a setting do so for what this one setting means.
"""

import re
from pathlib import Path

import pytest

from tests.command import ROOT
from webapp.domain.content.model import DRAFT_SETTINGS, DraftSetting

MOST_FILES = 8
SUFFIXES = {".py", ".html", ".js", ".css"}
# the files to change for a new setting, as templates/docs/architecture.md lists them
EVERY_SETTING = {
    "webapp/domain/content/model.py",  # its line in the table, its column
    "webapp/domain/shared/vocabulary.py",  # the values of a choice
    "webapp/domain/content/draft_fields.py",  # the bounds of a number
    "webapp/domain/content/draft_input.py",
    "webapp/migrations/versions/0001_initial.py",
    "webapp/wire/types.py",
    "templates/draft_settings/_settings_edit.html",
    "templates/macros/draft.html",
}
# examples may choose a value; a setting that they do not name has its default there
EXAMPLES = {"api/openapi/examples.py", "api/openapi/error_examples.py"}
OWN_MEANING = {
    "follow_up_mode": {
        "api/mcp/tools/drafts.py",  # prepared follow-ups say when they are asked
        "templates/confirmation/_publish_facts.html",
        "templates/draft_settings/_question_limit.html",
        "templates/draft_settings/_setting_message.html",
        "templates/draft_settings/_settings_note.html",
        "templates/draft_settings/_settings_summary.html",
        "templates/confirmation/_respondent_preview.html",
        "templates/questions/_follow_ups_note.html",
        "templates/drafts/_context.html",
        "templates/forms/settings.html",
        "webapp/domain/follow_ups/rules.py",  # the most that can be asked
        "webapp/domain/respondents/answering.py",
        "webapp/domain/respondents/follow_up_situation.py",
        "webapp/domain/respondents/public_form.py",
        "templates/results/_search.html",
        "webapp/domain/respondents/session_state.py",
        "webapp/domain/respondents/trial.py",
        "webapp/domain/shared/error_codes.py",
        "webapp/pages/creator/draft.py",
        "webapp/pages/creator/draft_view.py",
        "webapp/pages/respondent/visit.py",
    },
    "followups_given": {
        "static/css/creator/review.css",
        "webapp/domain/drafts/editing.py",
        "webapp/domain/respondents/public_form.py",
        "webapp/domain/respondents/session_state.py",
        "webapp/pages/creator/draft.py",
    },
    "max_total_questions": {
        "templates/draft_settings/_setting_message.html",
        "webapp/domain/follow_ups/rules.py",
        "webapp/domain/respondents/follow_up_situation.py",
        "webapp/domain/respondents/public_form.py",
        "webapp/domain/respondents/session_state.py",
        "webapp/domain/respondents/trial.py",
    },
    "response_mode": {
        "templates/confirmation/_publish_facts.html",
        "templates/confirmation/stale.html",
        "templates/draft_settings/_settings_summary.html",
        "templates/drafts/_preview.html",
        "templates/forms/_voice.html",
        "templates/forms/settings.html",
        "templates/forms/voice.html",
        "templates/respondent/question.html",
        "webapp/domain/forms/terms.py",
        "webapp/domain/voice/transcripts.py",
        "webapp/domain/respondents/session_state.py",
        "webapp/domain/respondents/public_form.py",
        "webapp/pages/respondent/visit.py",
    },
    "response_limit": {
        "templates/confirmation/_publish_facts.html",
        "templates/draft_settings/_settings_summary.html",
        "templates/forms/settings.html",
        "webapp/domain/forms/models.py",
        "webapp/domain/respondents/answer_statements.py",
        "webapp/domain/respondents/session_deletion.py",
        "webapp/domain/respondents/public_form.py",
        "webapp/pages/respondent/visit.py",
        "webapp/wire/serializers.py",
    },
}


def files_that_name(setting: DraftSetting) -> set[str]:
    named = re.compile(rf"\b({setting.column}|{setting.name})\b")
    return {
        str(file.relative_to(ROOT))
        for folder in ("webapp", "api", "jobs", "templates", "static")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in SUFFIXES and named.search(file.read_text())
    }


def test_a_new_setting_touches_at_most_eight_files() -> None:
    page = (ROOT / "templates/docs/architecture.md").read_text()
    row = page.partition("- a new draft setting: ")[2].partition("\n")[0]

    assert len(EVERY_SETTING) <= MOST_FILES
    for path in EVERY_SETTING:
        assert (ROOT / path).is_file()
        assert {f"`{path}`", f"`{Path(path).parent}`"} & set(re.findall("`[^`]+`", row))


@pytest.mark.parametrize("setting", DRAFT_SETTINGS, ids=lambda setting: setting.column)
def test_no_other_file_names_a_setting_but_for_its_own_meaning(setting: DraftSetting) -> None:
    named = files_that_name(setting) - EXAMPLES

    assert named - EVERY_SETTING == OWN_MEANING[setting.column]
