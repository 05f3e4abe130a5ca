// One recording of the microphone: its sound in pieces, its length, and how loud it is.
import { framed } from "./obstacle.js";

const FORMATS = ["audio/webm;codecs=opus", "audio/mp4;codecs=mp4a.40.2", "audio/mp4"];
const PIECE_MS = 2000;
const BITS_PER_SECOND = 32000;
const SAMPLES = 4096; // 85 ms at 48 kHz, so that ten reads a second miss little
const REASONS = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  NotFoundError: "missing",
  OverconstrainedError: "missing",
  NotReadableError: "busy",
  AbortError: "busy",
};

export function reasonOf(error) {
  const reason = REASONS[error.name] ?? "failed";
  // without featurePolicy, the page cannot tell whether the person or the embedding website refused
  return reason === "denied" && framed && !document.featurePolicy ? "framed" : reason;
}

function listenTo(stream) {
  try {
    const context = new AudioContext();
    const analyser = new AnalyserNode(context, { fftSize: SAMPLES });
    context.createMediaStreamSource(stream).connect(analyser);
    return { context, analyser, samples: new Float32Array(SAMPLES) };
  } catch {
    return undefined; // recording works without a level
  }
}

export class Microphone {
  #stream;
  #recorder;
  #heard;
  #before = 0;
  #since;
  #reason = "stopped";

  // throws the error of the browser if recording is refused or impossible
  static async ask() {
    return new Microphone(await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } }));
  }

  constructor(stream) {
    this.#stream = stream;
    this.#heard = listenTo(stream);
    const mimeType = FORMATS.find((format) => MediaRecorder.isTypeSupported(format));
    this.#recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: BITS_PER_SECOND });
  }

  // calls `piece(blob)` for each piece of sound, `silenced()` if the microphone is muted for now,
  // and `ended(reason)` once: stopped, interrupted
  start({ piece, silenced, ended }) {
    const recorder = this.#recorder;
    const [track] = this.#stream.getTracks();
    recorder.ondataavailable = ({ data }) => data.size && piece(data); // Safari 26 sends empty ones
    recorder.onerror = () => this.stop("interrupted");
    track.onended = () => this.stop("interrupted");
    track.onmute = silenced;
    recorder.onstop = () => {
      this.#hold();
      this.release();
      ended(this.#reason);
    };
    recorder.start(PIECE_MS);
    this.#since = performance.now();
  }

  get type() {
    return this.#recorder.mimeType;
  }

  get ms() {
    return this.#before + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  // the loudest of the last SAMPLES, 0 to 1; undefined if this browser cannot measure it
  get level() {
    const { context, analyser, samples } = this.#heard ?? {};
    if (context?.state !== "running") return undefined;
    analyser.getFloatTimeDomainData(samples);
    return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  }

  #hold() {
    this.#before = this.ms;
    this.#since = undefined;
  }

  pause() {
    if (this.#recorder.state !== "recording") return;
    this.#hold();
    this.#recorder.requestData();
    this.#recorder.pause();
  }

  // false if the microphone is gone
  resume() {
    if (this.#recorder.state !== "paused") return false;
    this.#recorder.resume();
    this.#since = performance.now();
    return true;
  }

  stop(reason = "stopped") {
    if (this.#recorder.state === "inactive") return;
    this.#reason = reason;
    this.#recorder.stop();
  }

  release() {
    this.#stream.getTracks().forEach((track) => track.stop());
    this.#heard?.context.close();
    this.#heard = undefined;
  }
}
