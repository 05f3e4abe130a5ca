// Creator pages: each behaviour is one file, attached by attribute and usable after every swap.
import "./keys.js";
import "./copy.js";
import "./sortable.js";
import "./share.js";
import "./busy.js";
import "./views.js";
import "./refused.js";
import "./revision.js";
import "./tick.js";
import "./editors.js";
import "./unsaved.js";
import "./clock.js";
