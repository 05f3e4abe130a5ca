// Stores recordings in this browser (IndexedDB) until they belong to an answer: [name, 0] holds the
// metadata, [name, 1] and so on the pieces of sound as they arrive. Names are those of unsent text;
// in an iframe of another website both are bound to the tab.
import { read, write } from "./database.js";

const KEPT_DAYS = 30;

// this document's recordings by name, even if nothing can be stored
const memory = new Map();

function tab() {
  if (window === window.top) return "";
  try {
    sessionStorage["askback-tab"] ??= crypto.randomUUID();
    return sessionStorage["askback-tab"];
  } catch {
    return crypto.randomUUID(); // storage is blocked; a random name finds nothing
  }
}

const END = `#${tab()}`;
const piecesOf = (name) => IDBKeyRange.bound([name + END], [name + END, Infinity]);
const withoutQuery = (address) => address.split("?")[0];

export function nameOf(form) {
  return `askback:${form.dataset.draftKey}:${withoutQuery(form.getAttribute("action"))}`;
}

export function remember(name, take) {
  memory.set(name, take);
}

export const remembered = (name) => memory.get(name);

export const store = (name, place, value) => write((box) => box.put(value, [name + END, place]));

// a recording with its sound as `blob`; undefined if there is none
export async function recall(name) {
  if (memory.has(name)) return memory.get(name);
  const [known, ...pieces] = (await read((box) => box.getAll(piecesOf(name)))) ?? [];
  return pieces.length ? { ...known, blob: new Blob(pieces, { type: known.type }) } : undefined;
}

export async function forget(name) {
  memory.delete(name);
  await write((box) => box.delete(piecesOf(name)));
}

// the names that contain `part`
export async function namesWith(part) {
  const keys = (await read((box) => box.getAllKeys())) ?? [];
  const stored = keys.map(([name]) => name).filter((name) => name.endsWith(END));
  const names = [...stored.map((name) => name.slice(0, -END.length)), ...memory.keys()];
  return [...new Set(names)].filter((name) => name.includes(part));
}

export async function rename(name, to) {
  if (memory.has(name)) remember(to, memory.get(name));
  const values = (await read((box) => box.getAll(piecesOf(name)))) ?? [];
  await Promise.all(values.map((value, place) => store(to, place, value)));
  await forget(name);
}

export async function removeExpired() {
  const oldest = Date.now() - KEPT_DAYS * 24 * 3600 * 1000;
  const keys = (await read((box) => box.getAllKeys())) ?? [];
  for (const key of keys.filter(([, place]) => place === 0)) {
    const { at } = await read((box) => box.get(key));
    if (!(at > oldest)) await write((box) => box.delete(IDBKeyRange.bound([key[0]], [key[0], Infinity])));
  }
}

removeExpired();
