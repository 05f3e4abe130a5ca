// One recording: its sound, its length, how loud it was, and whether it was sent.
import { forget, remember, remembered, store } from "./recording_store.js";
import { resampled } from "./waveform.js";

const STROKES = 64;
const STUCK_AFTER_MS = 5000; // since the first try: the upload is repeated or stalled
const QUIET = 0.008; // louder than the noise of a microphone in a still room

export class Take {
  #name;
  #pieces = [];
  heard = false;
  levels = [];
  ms = 0;

  // `known` is a stored recording with its sound as `blob`, or a file
  constructor(name, known) {
    this.#name = name;
    Object.assign(this, known);
    this.key ??= crypto.randomUUID();
    this.at ??= Date.now();
    remember(name, this);
  }

  get isDiscarded() {
    return remembered(this.#name) !== this;
  }

  // the text may be sent without a stuck recording
  get isStuck() {
    return performance.now() - this.triedAt >= STUCK_AFTER_MS;
  }

  get staysBehind() {
    return this.isRefused || this.isLeft;
  }

  get strokes() {
    return resampled(this.levels, STROKES);
  }

  get lastStrokes() {
    return this.levels.slice(-STROKES);
  }

  // pieces may still arrive after the question has left the page
  async add(blob, ms) {
    if (this.isDiscarded) return;
    const place = this.#pieces.push(blob);
    this.ms = ms;
    if (place === 1) await this.#replace();
    const bytes = await blob.arrayBuffer();
    if (this.isDiscarded) return;
    await store(this.#name, place, bytes);
    await this.save();
  }

  // removes an earlier recording
  async #replace() {
    await forget(this.#name);
    remember(this.#name, this);
  }

  // the store may not have the last pieces yet
  end(ms) {
    this.ms = ms;
    this.blob = new Blob(this.#pieces, { type: this.type });
    return this.save();
  }

  async save() {
    const { key, type, at, ms, levels, sent } = this;
    if (this.#pieces.length && !this.isDiscarded) {
      await store(this.#name, 0, { key, type, at, ms, levels, sent });
    }
  }

  // `level` is 0 to 1, or undefined if the browser cannot measure it. Returns whether it is loud.
  hear(level) {
    if (level === undefined) return undefined;
    const isLoud = level > QUIET;
    this.heard ||= isLoud;
    this.levels.push(Math.sqrt(level));
    return isLoud;
  }

  get isSilent() {
    return this.levels.length > 0 && !this.heard;
  }
}
