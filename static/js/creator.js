// Creator pages: each behaviour is one file, attached by attribute and usable after every swap.
import "./shared/keyboard_shortcuts.js";
import "./shared/copy.js";
import "./creator/sortable.js";
import "./creator/share.js";
import "./creator/submit_lock.js";
import "./creator/tab_skeleton.js";
import "./creator/error_note.js";
import "./creator/revision.js";
import "./creator/polling.js";
import "./creator/preserve_editors.js";
import "./creator/unsaved.js";
import "./shared/clock.js";
