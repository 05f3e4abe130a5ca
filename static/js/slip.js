// Respondent pages: each behaviour is one file, attached by attribute and usable after every swap.
import "./keys.js";
import "./places.js";
import "./keep.js";
import "./trouble.js";
import "./clock.js";
