// Plays a stored recording. A click in its waveform plays from there; the arrow keys move by five
// seconds.
import { Player } from "./player.js";

const STEP_SECONDS = 5;

class AudioPlayer extends HTMLElement {
  connectedCallback() {
    new Player(this).loadStored(this);
    this.querySelector(".wave").addEventListener("click", (event) => this.#seek(event));
    this.addEventListener("keydown", (event) => this.#step(event));
  }

  #goTo(seconds) {
    this.querySelector("audio").currentTime = Math.min(Math.max(seconds, 0), Number(this.dataset.seconds));
  }

  #step(event) {
    const by = { ArrowLeft: -STEP_SECONDS, ArrowRight: STEP_SECONDS }[event.key];
    if (!by) return;
    event.preventDefault();
    this.#goTo(this.querySelector("audio").currentTime + by);
  }

  #seek({ currentTarget, clientX }) {
    const { left, right, width } = currentTarget.getBoundingClientRect();
    const from = getComputedStyle(currentTarget).direction === "rtl" ? right - clientX : clientX - left;
    this.#goTo((from / width) * Number(this.dataset.seconds));
  }
}

customElements.define("audio-player", AudioPlayer);
