// Loads the recorder, js/recorder.js, when it is needed, as most people type: at once where something
// was recorded, and where the page has to say before a recording that it cannot record or store one;
// else at the first sign of use.
import { countStored } from "./database.js";
import { obstacle } from "./obstacle.js";
import { say, unfoldSheet } from "./status_line.js";

const CONTROLS = ".recorder__controls"; // none where the form records no more
const PATIENCE_MS = 8000; // nobody expects that a recording begins later than that

let loading;
let tries = 0;

function load() {
  loading ??= import(`./recorder.js#${tries}`).catch((error) => {
    tries += 1; // browsers may remember of an address that it failed
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
  if (document.querySelector("audio-player")) import("./player.js").catch(() => {}); // else the browser's own
  if (count || (isRecording && hasToSay)) await loadOrTell();
}

async function press(button) {
  say(document.querySelector(CONTROLS), "loading");
  if (await loadOrTell()) button.click(); // of a page that has gone, it does nothing
}

for (const type of ["pointerover", "focusin"]) {
  document.addEventListener(type, ({ target }) => {
    // a failure is told at the press, which tries again
    if (!isLoaded() && !tries && target.closest("voice-recorder")) load().catch(() => {});
  });
}
document.addEventListener("click", ({ target }) => {
  const button = target.closest("voice-recorder [data-do]");
  if (button && !isLoaded()) press(button);
});
document.addEventListener("htmx:afterSettle", () => isLoaded() || loadWhereNeeded());
loadWhereNeeded();
