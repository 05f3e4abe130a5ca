// What a recorder shows and says: parts by the states in which they are shown, texts by name, from
// its template.
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

  // what was pressed may be hidden by what it did
  keepFocus(hadFocus) {
    const focused = document.activeElement;
    if (!hadFocus || (this.#element.contains(focused) && isShown(focused))) return;
    [...this.#element.querySelectorAll("[data-do]")].find(isShown)?.focus({ preventScroll: true });
  }

  say(name, ms = 0) {
    say(this.#element, name, clock(ms / 1000));
    this.said = [name, ms];
  }

  // asks, and leads back to the state before
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

  // what happened while it asks, it shows afterwards
  settle(state, text, ms = 0) {
    if (this.state === "discarding") this.#earlier = { state, said: [text, ms] };
    else {
      this.show(state);
      this.say(text, ms);
    }
  }

  // typing is offered, and a file
  fail(reason) {
    this.show("idle");
    this.say(reason);
    unfoldSheet(this.#element);
    if (obstacle()) this.offerFile("only");
  }

  // without a recording for long, words may go on alone
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

  // the share that was sent, 0 to 1
  showProgress(share) {
    const line = this.#find("[data-percent]");
    line.textContent = line.dataset.percent.replace("{percent}", Math.floor(share * 100));
  }

  // "only" where nothing can be recorded
  offerFile(how = "") {
    this.#element.dataset.offersFile = how;
  }
}
