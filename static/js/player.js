// Plays stored recordings; loaded by the results, and by voice.js if a page has a recording.
import "./respondent/voice/waveform.js";
import "./respondent/voice/player.js";
import "./respondent/voice/audio_player.js";
