// Respondent pages: each behaviour is one file, attached by attribute and usable after every swap.
import "./keys.js";
import "./places.js";
import "./keep.js";
import "./focus.js";
import "./whole.js";
import "./room.js";
import "./saving.js";
import "./trouble.js";
import "./copy.js";
import "./clock.js";
