// Questions that may be answered by voice; loaded after respondent.js.
import "./respondent/voice/database.js";
import "./respondent/voice/obstacle.js";
import "./respondent/voice/status_line.js";
import "./respondent/voice/recorder_loader.js";
