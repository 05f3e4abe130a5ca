// Records and plays back in this page. The recording is neither sent nor stored.
import { Microphone, reasonOf } from "../respondent/voice/microphone.js";
import { obstacle } from "../respondent/voice/obstacle.js";
import { Player } from "../respondent/voice/player.js";

class LocalRecording extends HTMLElement {
  #microphone;
  #player;
  #begun;

  connectedCallback() {
    this.#player = new Player(this.#find("[data-player]"));
    this.#show(obstacle() ? "unable" : "idle");
    this.addEventListener("click", ({ target }) => {
      const action = target.closest("[data-do]")?.dataset.do;
      if (action === "record") this.#record();
      if (action === "stop") this.#microphone?.stop();
    });
    addEventListener("pagehide", () => this.#microphone?.release());
  }

  #find(selector) {
    return this.querySelector(selector);
  }

  // `name` is the text of a state, or of the reason why nothing is recorded
  #show(name) {
    const isRecording = name === "recording";
    this.hidden = false;
    this.#find("[data-status]").textContent = this.#find(`[data-text="${name}"]`)?.content.textContent ?? "";
    this.#find("[data-do=record]").hidden = isRecording || name === "unable";
    this.#find("[data-do=stop]").hidden = !isRecording;
    this.#find("[data-player]").hidden = name !== "recorded";
  }

  async #record() {
    const pieces = [];
    this.#show("asking");
    try {
      this.#microphone = await Microphone.ask();
    } catch (error) {
      return this.#show(reasonOf(error));
    }
    this.#microphone.start({
      piece: (blob) => pieces.push(blob),
      silenced: () => this.#microphone.stop("interrupted"),
      ended: () => this.#play(new Blob(pieces, { type: this.#microphone.type })),
    });
    this.#begun = performance.now();
    this.#show("recording");
    this.#find("[data-do=stop]").focus();
    const most = Number(this.dataset.maxSeconds) * 1000;
    setTimeout((recorded) => recorded.stop(), most, this.#microphone);
  }

  #play(sound) {
    this.#player.load(sound, (performance.now() - this.#begun) / 1000, []);
    this.#show("recorded");
    this.#find("[data-do=record]").focus();
  }
}

customElements.define("local-recording", LocalRecording);
