// Looks for the words of a recording that has arrived. They fill an empty sheet; beside a typed text
// they offer themselves. Nothing waits for them.
import { unfoldSheet } from "./status_line.js";

const PATIENCE_MS = 8000;
const EVERY_MS = 1000;
const FIELDS = ["session", "lang", "recording"];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// what the page says of the words; undefined while they are awaited
async function ask(form, address, until) {
  const fields = FIELDS.map((name) => [name, new FormData(form).get(name)]);
  const answer = await fetch(address, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "HX-Request": "true" },
    signal: AbortSignal.timeout(Math.max(until - performance.now(), 1)),
  });
  if (answer.status === 204) return undefined;
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

async function wait(form, slot) {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until && slot.isConnected) {
    const part = await ask(form, slot.dataset.transcript, until); // begins the writing down, too
    if (part) return part;
    await pause(EVERY_MS);
  }
  return undefined;
}

// adds the words to the sheet, after what was typed
export function useWords(recorder, display) {
  const heard = recorder.querySelector("[data-words]");
  const sheet = recorder.form.querySelector("#answer");
  const typed = sheet.value.trim() ? `${sheet.value.trimEnd()}\n` : "";
  sheet.value = typed + heard.textContent;
  sheet.dispatchEvent(new Event("input", { bubbles: true }));
  // that they were shown is sent, even where they are deleted again
  heard.parentElement.replaceChildren(...heard.parentElement.querySelectorAll("[name=shown]"));
  unfoldSheet(recorder);
  display.say("heard");
}

export async function lookForTranscript(recorder, display) {
  const slot = recorder.querySelector("[data-transcript]");
  if (!slot) return;
  const part = await wait(recorder.form, slot).catch(() => undefined);
  if (!part || !slot.isConnected) return;
  slot.innerHTML = part;
  const isTyped = recorder.form.querySelector("#answer").value.trim();
  if (!isTyped && slot.querySelector("[data-words]")) useWords(recorder, display);
}
