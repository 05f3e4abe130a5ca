// The recorder; loaded by voice.js when it is needed.
import "./respondent/voice/database.js";
import "./respondent/voice/recording_store.js";
import "./respondent/voice/waveform.js";
import "./respondent/voice/obstacle.js";
import "./respondent/voice/microphone.js";
import "./respondent/voice/player.js";
import "./respondent/voice/take.js";
import "./respondent/voice/upload.js";
import "./respondent/voice/status_line.js";
import "./respondent/voice/transcript.js";
import "./respondent/voice/recorder_display.js";
import "./respondent/voice/recording.js";
import "./respondent/voice/voice_recorder.js";
import "./respondent/voice/unsent_recordings.js";
