// Loads js/recorder.js only when it is needed, because most people type: at once if there is a
// recording, or if the page must say in advance that it cannot record or store one; otherwise at the
// first sign of use.
import { countStored } from "./database.js";
import { obstacle } from "./obstacle.js";
import { say, unfoldSheet } from "./status_line.js";

const CONTROLS = ".recorder__controls"; // missing if the form no longer records
const PATIENCE_MS = 8000; // after this long, nobody expects a recording to begin

let loading;
let tries = 0;

function load() {
  loading ??= import(`./recorder.js#${tries}`).catch((error) => {
    tries += 1; // a new address, because browsers may remember a failed import
    loading = undefined;
    throw error;
  });
  return loading;
}

const isLoaded = () => Boolean(customElements.get("voice-recorder"));
const runOut = () => new Promise((_resolve, reject) => setTimeout(reject, PATIENCE_MS));

function tellFailure() {
  const controls = document.querySelector(CONTROLS);
  if (!controls) return;
  say(controls, "unloaded");
  unfoldSheet(controls);
}

async function loadOrTell() {
  try {
    await Promise.race([load(), runOut()]);
  } catch {
    tellFailure();
  }
  return isLoaded();
}

async function loadWhereNeeded() {
  const count = await countStored();
  const isRecording = document.querySelector("voice-recorder");
  const hasToSay = count === undefined || obstacle() || document.querySelector("voice-recorder [data-recording]");
  if (document.querySelector("audio-player")) import("./player.js").catch(() => {}); // on failure, the browser's own player
  if (count || (isRecording && hasToSay)) await loadOrTell();
}

async function press(button) {
  say(document.querySelector(CONTROLS), "loading");
  if (await loadOrTell()) button.click(); // does nothing if the page is gone
}

for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, ({ target }) => {
    // only a press, which tries again, reports a failure
    if (!isLoaded() && !tries && target.closest("voice-recorder")) load().catch(() => {});
  });
}
document.addEventListener("click", ({ target }) => {
  const button = target.closest("voice-recorder [data-do]");
  if (button && !isLoaded()) press(button);
});
document.addEventListener("htmx:afterSettle", () => isLoaded() || loadWhereNeeded());
loadWhereNeeded();
