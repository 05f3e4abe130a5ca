// Polls for the transcript of an uploaded recording while its question is open. It fills an untouched
// sheet; otherwise the page offers it. Nothing waits for it.
import { unfoldSheet } from "./status_line.js";

const PAUSES_MS = [300, ...Array(30).fill(1000)]; // then LATER_MS
const LATER_MS = 3000;
const TIMEOUT_MS = 10000;
const FIELDS = ["session", "lang", "recording"];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// the part of the page with the transcript; "" while it is not ready or the server fails
async function ask(form, address) {
  const fields = FIELDS.map((name) => [name, new FormData(form).get(name)]);
  const answer = await fetch(address, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "HX-Request": "true" },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  if (answer?.status === 200) return answer.text();
  if (answer?.status === 404) throw new Error("another recording took its place");
  return "";
}

async function wait(form, slot) {
  for (let looks = 0; slot.isConnected; looks += 1) {
    // the first request starts the transcription
    const part = document.hidden ? "" : await ask(form, slot.dataset.transcript);
    if (part) return part;
    await pause(PAUSES_MS[looks] ?? LATER_MS);
  }
  return undefined;
}

// adds the transcript to the sheet, after the typed text
export function useWords(recorder, display) {
  const heard = recorder.querySelector("[data-words]");
  const sheet = recorder.form.querySelector("#answer");
  const typed = sheet.value.trim() ? `${sheet.value.trimEnd()}\n` : "";
  sheet.value = typed + heard.textContent;
  sheet.dispatchEvent(new Event("input", { bubbles: true }));
  // the form reports that the words were shown, even if they are deleted again
  heard.parentElement.replaceChildren(...heard.parentElement.querySelectorAll("[name=shown]"));
  unfoldSheet(recorder);
  display.say("heard");
}

export async function lookForTranscript(recorder, display) {
  const slot = recorder.querySelector("[data-transcript]");
  if (!slot) return;
  const sheet = recorder.form.querySelector("#answer");
  let isTouched = false;
  sheet.addEventListener("input", () => (isTouched = true), { once: true });
  const part = await wait(recorder.form, slot).catch(() => undefined);
  if (!part || !slot.isConnected) return;
  slot.innerHTML = part;
  if (!isTouched && !sheet.value.trim() && slot.querySelector("[data-words]")) useWords(recorder, display);
}
