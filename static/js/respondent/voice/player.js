// Plays one recording. Recorders write no length into the header, so the browser's own player would
// show none.
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

  // `sound` is a Blob or an address; undefined if this browser cannot play it
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

  // loads the server's copy, described by `part`, else `file`. If the browser cannot play a chosen
  // file, `ask` fetches a version that it can play.
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
      if (ask !== this.#ask) return; // another recording was loaded meanwhile
      if (!sound) return void (this.#button.hidden = true); // this browser cannot play the format
      this.load(sound, this.#seconds, this.#levels);
      await this.#audio.play().catch(() => {}); // the browser may require another press
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
    const whole = this.#seconds ? clock(Math.ceil(this.#seconds)) : ""; // a chosen file is not measured yet
    this.#time.textContent = at ? `${clock(at)} / ${whole}` : whole;
    const { play, pause } = this.#button.dataset;
    this.#button.setAttribute("aria-label", paused ? play : pause);
    this.#button.classList.toggle("player__button--playing", !paused);
  }
}
