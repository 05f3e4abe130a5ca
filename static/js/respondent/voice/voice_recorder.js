// Records an answer on a question's page. The recording becomes the file of the form that also works
// without scripts, and pressing its button sends it; htmx, retry.js and the server do the rest.
// An upload replaces the region #recorder in this element, not the element.
// States: idle, asking, recording, paused, kept, sending, sent, and discarding, which asks for
// confirmation. The template holds the texts of each part and the states in which it is visible.
import { countStored } from "./database.js";
import { Microphone, reasonOf } from "./microphone.js";
import { obstacle } from "./obstacle.js";
import { Player } from "./player.js";
import { RecorderDisplay } from "./recorder_display.js";
import { Recording } from "./recording.js";
import { forget, nameOf, recall, remembered } from "./recording_store.js";
import { Take } from "./take.js";
import { lookForTranscript, useWords } from "./transcript.js";
import { handedBack, Upload } from "./upload.js";

const UNFINISHED = new Set(["recording", "paused", "kept", "sending"]);
const AGAIN = new Set([408, 425, 429]); // retried by retry.js
const UNSENDABLE = new Set(["asking", "recording", "paused"]);

let announced = false;

class VoiceRecorder extends HTMLElement {
  #display = new RecorderDisplay(this);
  #upload = new Upload(this);
  #take;
  #recording;
  #listeners;
  #player;
  #storesNothing;
  #begun;

  connectedCallback() {
    if (!this.querySelector("template")) return; // the form no longer records
    this.form = this.closest("form");
    this.name = nameOf(this.form);
    this.#player = new Player(this.querySelector("[data-player]"));
    this.#listeners = new AbortController();
    this.#listen();
    this.#begun = this.#begin();
  }

  disconnectedCallback() {
    this.#listeners?.abort();
    this.#player?.unload();
    this.#recording?.stop("interrupted");
  }

  #listen() {
    const { signal } = this.#listeners;
    const on = (target, type, action, capture) => target.addEventListener(type, action, { signal, capture });
    on(this, "click", ({ target }) => this.#do(target.closest("[data-do]")?.dataset.do));
    on(this, "change", ({ target }) => target.files && this.#choose(target.files[0]));
    on(this, "htmx:configRequest", (event) => UNSENDABLE.has(this.#display.state) && event.preventDefault());
    on(this, "htmx:beforeSend", ({ detail }) => this.#sending(detail.xhr));
    on(this, "htmx:afterRequest", () => this.#unsent());
    on(this, "htmx:beforeSwap", ({ detail }) => this.#answered(detail.xhr.status));
    on(this, "htmx:afterSettle", () => this.#swapped());
    on(document, "submit", (event) => this.#holdBack(event), true);
    on(document, "visibilitychange", () => document.hidden && this.#interrupt());
    on(window, "pagehide", () => this.#recording?.stop("interrupted"));
    on(window, "beforeunload", (event) => {
      if (this.#storesNothing && UNFINISHED.has(this.#display.state)) event.preventDefault();
    });
  }

  field(name) {
    return this.querySelector(`[name=${name}]`);
  }

  get #isStored() {
    return this.field("recording").checked;
  }

  async #begin() {
    this.#display.show("idle");
    this.#take = remembered(this.name);
    if (!this.#take) {
      const known = await recall(this.name);
      if (!this.isConnected) return;
      if (known) this.#take = new Take(this.name, known);
    }
    if (this.#isStored && (!this.#take || this.#take.sent)) this.#arrived();
    else if (this.#take) {
      this.#player.loadTake(this.#take);
      this.#display.settle("kept", "recovered", this.#take.ms);
    } else if (obstacle()) this.#display.fail(obstacle());
    else this.#display.say("ready"); // replaces the text shown while loading
    this.#storesNothing = (await countStored()) === undefined;
    this.querySelector("[data-unstored]").hidden = !this.#storesNothing;
  }

  #arrived(waiting = false) {
    if (this.#take?.ms) this.#player.loadTake(this.#take);
    else {
      const part = this.querySelector("[data-recording]");
      const { address } = part.dataset;
      this.#player.loadStored(part, this.#take?.blob, address && (() => handedBack(this.form, address)));
    }
    this.#display.settle("sent", "sent");
    if (!waiting) lookForTranscript(this, this.#display);
  }

  #do(action) {
    const actions = {
      // an earlier recording takes precedence
      record: () => this.#begun.then(() => this.#display.state === "idle" && this.#record()),
      file: () => this.#display.offerFile(),
      pause: () => this.#pause("paused"),
      resume: () => this.#recording.resume(),
      stop: () => this.#recording.stop(),
      send: () => this.#send(),
      leave: () => this.#leave(),
      discard: () => [this.#interrupt("paused"), this.#display.ask("discarding")],
      keep: () => this.#display.back(),
      delete: () => this.#discard(),
      use: () => [useWords(this, this.#display), this.form.querySelector("#answer").focus()],
    };
    actions[action]?.();
  }

  // lets the transcription service warm up meanwhile
  #announce() {
    const { begins } = this.dataset;
    if (!begins || announced) return;
    announced = true;
    const body = new URLSearchParams({ session: this.form.elements.session.value });
    fetch(begins, { method: "POST", body }).catch(() => {});
  }

  async #record() {
    this.#announce();
    this.#display.settle("asking", "asking");
    try {
      const microphone = await Microphone.ask();
      if (this.isConnected && this.#display.state === "asking") this.#start(microphone);
      else microphone.release();
    } catch (error) {
      if (this.isConnected) this.#display.fail(reasonOf(error));
    }
  }

  #start(microphone) {
    const take = new Take(this.name, { type: microphone.type });
    this.#take = take;
    this.#recording = new Recording(microphone, take, this.#display, this.dataset.maxSeconds * 1000);
    this.#recording.start({
      silenced: () => this.#interrupt(),
      ended: (ms, reason) => this.#ended(take, ms, reason),
    });
  }

  #pause(text) {
    this.#recording.pause();
    this.#display.settle("paused", text, this.#recording.ms);
  }

  #interrupt(text = "held") {
    if (this.#display.state === "recording") this.#pause(text);
  }

  #ended(take, ms, reason) {
    if (!this.isConnected || this.#take !== take) return;
    this.#recording = undefined;
    if (!take.blob.size) {
      this.#discard();
      return this.#display.fail("failed");
    }
    this.#player.loadTake(take);
    this.#display.show("kept");
    if (reason === "interrupted") this.#display.say(reason, ms);
    else if (take.isSilent && !take.waiting) this.#display.say("nothing");
    else this.#send(reason);
  }

  #discard(text = "ready") {
    this.#take = undefined;
    this.#recording?.stop();
    this.#recording = undefined;
    forget(this.name);
    this.#upload.clear();
    this.#player.unload();
    this.#display.show("idle");
    this.#display.say(text);
  }

  async #choose(file) {
    if (!file) return;
    if (file.size > this.dataset.maxBytes) {
      this.#upload.clearFile();
      return this.#display.say("large");
    }
    await forget(this.name);
    this.#take = new Take(this.name, { blob: file, type: file.type });
    this.#send();
  }

  #send(reason) {
    Object.assign(this.#take, { isFull: reason === "full", isLeft: false });
    this.#upload.send(this.#take);
  }

  #sending(xhr) {
    const take = this.#take;
    if (!take) return; // no file was chosen: the server reports it
    this.#player.loadTake(take);
    take.triedAt ??= performance.now();
    this.#display.show("sending");
    this.#display.say(take.waiting ? "waiting" : take.isFull ? "full" : "sending");
    this.#upload.watch(xhr, (share) => this.#display.showProgress(share));
  }

  #answered(status) {
    const take = this.#take;
    if (!take) return;
    take.sent = status === 200;
    take.isRefused = status >= 400 && status < 500 && !AGAIN.has(status);
    take.save();
  }

  // retry.js shows what happens next, and presses the button again
  #unsent() {
    if (this.#display.settled === "sending") this.#display.unsent(this.#take?.isStuck);
  }

  // sends only the text; the recording stays in this browser
  #leave() {
    const sheet = this.form.querySelector("#answer");
    if (!sheet.value.trim()) return sheet.focus();
    this.#take.isLeft = true;
    this.#upload.stop();
    this.form.requestSubmit();
  }

  // the region now shows the uploaded recording, or why the server refused it
  #swapped() {
    const take = this.#take;
    if (this.#isStored && take?.sent) {
      const { waiting } = take;
      take.waiting = false;
      this.#arrived(waiting);
      // htmx ends the request after this swap; only then may the form send another one
      if (waiting) setTimeout(() => this.form.requestSubmit());
    } else if (take?.isRefused && take.blob instanceof File) {
      this.#discard("refused"); // the page gives the reason
    } else if (take?.isRefused) {
      take.waiting = false;
      this.#display.settle("kept", "kept");
    }
  }

  // Continue waits until the recording has arrived
  #holdBack(event) {
    const state = this.#display.settled;
    const isOther = event.target !== this.form || event.submitter?.closest("[data-full-page]");
    if (isOther || !UNFINISHED.has(state) || this.#take.staysBehind) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#take.waiting = true;
    if (state === "sending") this.#display.say("waiting");
    else if (state === "kept") this.#send();
    else this.#recording.stop();
  }
}

customElements.define("voice-recorder", VoiceRecorder);
