// What a recorder shows and says: its parts name the states in which they are visible; the template
// holds the texts by name.
import { obstacle } from "./obstacle.js";
import { clock } from "./player.js";
import { say, unfoldSheet } from "./status_line.js";
import { draw } from "./waveform.js";

const isShown = (part) => part.getClientRects().length > 0;

export class RecorderDisplay {
  #element;
  state = "idle";
  said = [];
  #earlier;

  constructor(element) {
    this.#element = element;
  }

  #find(selector) {
    return this.#element.querySelector(selector);
  }

  show(state) {
    const hadFocus = this.#element.contains(document.activeElement);
    this.state = this.#element.dataset.state = state;
    for (const part of this.#element.querySelectorAll("[data-show]")) {
      part.hidden = !part.dataset.show.split(" ").includes(state);
    }
    this.keepFocus(hadFocus);
  }

  // pressing a button may hide that button
  keepFocus(hadFocus) {
    const focused = document.activeElement;
    if (!hadFocus || (this.#element.contains(focused) && isShown(focused))) return;
    [...this.#element.querySelectorAll("[data-do]")].find(isShown)?.focus({ preventScroll: true });
  }

  say(name, ms = 0) {
    say(this.#element, name, clock(ms / 1000));
    this.said = [name, ms];
  }

  // asks a question; `back` returns to the state before
  ask(state) {
    this.#earlier = { state: this.state, said: this.said };
    this.show(state);
    this.say(state);
  }

  back() {
    const { state, said } = this.#earlier;
    this.#earlier = undefined;
    this.show(state);
    this.say(...said);
  }

  get settled() {
    return this.state === "discarding" ? this.#earlier.state : this.state;
  }

  // during a question, the new state is shown only afterwards
  settle(state, text, ms = 0) {
    if (this.state === "discarding") this.#earlier = { state, said: [text, ms] };
    else {
      this.show(state);
      this.say(text, ms);
    }
  }

  // offers typing, and a file if the page cannot record at all
  fail(reason) {
    this.show("idle");
    this.say(reason);
    unfoldSheet(this.#element);
    if (obstacle()) this.offerFile("only");
  }

  // if the upload is stuck, the text may be sent without the recording
  unsent(isStuck = false) {
    this.#element.toggleAttribute("data-stuck", isStuck);
    this.settle("kept", isStuck ? "stuck" : "unsent");
    if (isStuck) unfoldSheet(this.#element);
  }

  showClock(ms) {
    this.#find("[data-clock]").textContent = clock(ms / 1000);
  }

  showLevel(strokes, isLoud) {
    draw(this.#find("[data-live] path"), strokes, 0, 64);
    const line = this.#find("[data-level]");
    line.textContent = isLoud ? line.dataset.loud : line.dataset.quiet;
  }

  // `share` of the upload, 0 to 1
  showProgress(share) {
    const line = this.#find("[data-percent]");
    line.textContent = line.dataset.percent.replace("{percent}", Math.floor(share * 100));
  }

  // `how` is "only" if nothing can be recorded
  offerFile(how = "") {
    this.#element.dataset.offersFile = how;
  }
}
