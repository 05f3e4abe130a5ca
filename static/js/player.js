// Stored recordings; loaded by results of a form, and by voice.js where a respondent's page has one.
import "./respondent/voice/waveform.js";
import "./respondent/voice/player.js";
import "./respondent/voice/audio_player.js";
