// A trial of a draft that people may answer by voice; loaded after creator.js.
import "./respondent/voice/obstacle.js";
import "./respondent/voice/waveform.js";
import "./respondent/voice/player.js";
import "./respondent/voice/microphone.js";
import "./creator/local_recording.js";
