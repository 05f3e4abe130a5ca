// A recording in progress: stores the sound of the microphone in a take, and shows time and level on
// the page.
const TICK_MS = 100;
const NEARLY = 0.8;
const RESERVE_MS = 1000; // the server measures the sound, which may last longer than our clock
const SILENT_AFTER_MS = 3000;

export class Recording {
  #microphone;
  #take;
  #display;
  #mostMs;
  #timer;

  constructor(microphone, take, display, mostMs) {
    this.#microphone = microphone;
    this.#take = take;
    this.#display = display;
    this.#mostMs = mostMs;
  }

  // calls `silenced()` if the microphone is muted for now, and `ended(ms, reason)` once: stopped,
  // full, interrupted
  start({ silenced, ended }) {
    const microphone = this.#microphone;
    microphone.start({
      piece: (blob) => this.#take.add(blob, microphone.ms),
      silenced,
      ended: (reason) => {
        clearInterval(this.#timer);
        this.#take.end(microphone.ms);
        ended(microphone.ms, reason);
      },
    });
    this.#go();
  }

  get ms() {
    return this.#microphone.ms;
  }

  pause() {
    clearInterval(this.#timer);
    this.#microphone.pause();
  }

  // does nothing if the microphone is gone: the recording has ended
  resume() {
    if (this.#microphone.resume()) this.#go();
  }

  stop(reason) {
    this.#microphone.stop(reason);
  }

  #go() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#display.show("recording");
    this.#display.say("recording");
  }

  #tick() {
    const { ms, level } = this.#microphone;
    this.#display.showClock(ms);
    this.#hear(level, ms);
    const left = this.#mostMs - ms;
    if (left <= RESERVE_MS) this.stop("full");
    else if (ms >= this.#mostMs * NEARLY && this.#display.said[0] !== "nearly") {
      this.#display.say("nearly", left);
    }
  }

  #hear(level, ms) {
    const isLoud = this.#take.hear(level);
    if (isLoud === undefined) return;
    const { isSilent, lastStrokes } = this.#take;
    this.#display.showLevel(lastStrokes, isLoud);
    const [said] = this.#display.said;
    if (isSilent && ms > SILENT_AFTER_MS && said === "recording") this.#display.say("silent");
    if (!isSilent && said === "silent") this.#display.say("recording");
  }
}
