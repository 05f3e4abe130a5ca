// Plays one recording: the browser's own player shows no length for a recording that has none in its
// header, as recorders write them.
import { draw, fromDigits } from "./waveform.js";

const REVOKED_AFTER_MS = 5000;

export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export class Player {
  #audio;
  #button;
  #time;
  #strokes;
  #levels = [];
  #seconds = 0;
  #sound;
  #address;
  #ask;

  constructor(part) {
    this.#audio = part.querySelector("audio");
    this.#button = part.querySelector("button");
    this.#time = part.querySelector("[data-time]");
    this.#strokes = [".live", ".rest"].map((name) => part.querySelector(name));
    for (const name of ["play", "pause", "ended", "timeupdate"]) {
      this.#audio.addEventListener(name, () => this.#draw());
    }
    this.#button.addEventListener("click", () => this.#toggle());
  }

  // `sound` is a Blob, or an address, or nothing that this browser could play
  load(sound, seconds, levels) {
    this.unload();
    this.#sound = sound;
    this.#seconds = seconds;
    this.#levels = levels;
    this.#address = sound instanceof Blob ? URL.createObjectURL(sound) : undefined;
    this.#button.hidden = !sound;
    if (sound) this.#audio.src = this.#address ?? sound;
    this.#draw();
  }

  // what the server has of it, as `part` says: of a chosen file what this browser plays, if need be
  // by `ask`, where the file itself is not
  loadStored(part, file, ask) {
    const { seconds, levels = "" } = part.dataset;
    this.load(part.querySelector("audio")?.src ?? file, Number(seconds), fromDigits(levels));
    this.#ask = ask;
  }

  loadTake({ blob, ms, strokes }) {
    if (this.#sound !== blob) this.load(blob, ms / 1000, strokes);
  }

  unload() {
    this.#sound = this.#ask = undefined;
    this.#audio.removeAttribute("src");
    this.#audio.load();
    const address = this.#address;
    this.#address = undefined;
    // the browser may still be reading it
    if (address) setTimeout(() => URL.revokeObjectURL(address), REVOKED_AFTER_MS);
  }

  async #toggle() {
    if (!this.#audio.paused) return this.#audio.pause();
    try {
      await this.#audio.play();
    } catch {
      const ask = this.#ask;
      const sound = await ask?.().catch(() => undefined);
      if (ask !== this.#ask) return; // another recording by now
      if (!sound) return void (this.#button.hidden = true); // a format that this browser does not play
      this.load(sound, this.#seconds, this.#levels);
      await this.#audio.play().catch(() => {}); // it may want to be pressed once more
    }
  }

  #draw() {
    const { paused, ended, currentTime } = this.#audio;
    const at = ended ? 0 : Math.min(currentTime, this.#seconds);
    const { length } = this.#levels;
    const played = this.#seconds ? Math.round((at / this.#seconds) * length) : 0;
    const [live, rest] = this.#strokes;
    draw(live, this.#levels.slice(0, played), 0, length);
    draw(rest, this.#levels.slice(played), played, length);
    const whole = this.#seconds ? clock(Math.ceil(this.#seconds)) : ""; // nobody has measured a chosen file yet
    this.#time.textContent = at ? `${clock(at)} / ${whole}` : whole;
    const { play, pause } = this.#button.dataset;
    this.#button.setAttribute("aria-label", paused ? play : pause);
    this.#button.classList.toggle("player__button--playing", !paused);
  }
}
