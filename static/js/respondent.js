// Respondent pages: each behaviour is one file, attached by attribute and usable after every swap.
import "./shared/keyboard_shortcuts.js";
import "./respondent/history_state.js";
import "./respondent/local_draft.js";
import "./respondent/focus.js";
import "./respondent/double_click.js";
import "./respondent/full_page_submit.js";
import "./respondent/character_count.js";
import "./respondent/menus.js";
import "./respondent/late_response.js";
import "./respondent/saving.js";
import "./respondent/retry.js";
import "./shared/copy.js";
import "./shared/clock.js";
