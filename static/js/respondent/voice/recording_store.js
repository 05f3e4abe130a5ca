// Recordings stored in this browser (IndexedDB) until an answer has them: under [name, 0] what is
// known of one, under [name, 1] and so on the pieces of its sound, as they come. Names are those of
// unsent text; in an iframe of another website they end with the tab, as that text does.
import { read, write } from "./database.js";

const KEPT_DAYS = 30;

// by name: what this document has recorded, also where nothing can be stored
const memory = new Map();

function tab() {
  if (window === window.top) return "";
  try {
    sessionStorage["askback-tab"] ??= crypto.randomUUID();
    return sessionStorage["askback-tab"];
  } catch {
    return crypto.randomUUID(); // it stores nothing: found by nobody
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

// what was recorded, with its sound as `blob`; undefined without any
export async function recall(name) {
  if (memory.has(name)) return memory.get(name);
  const [known, ...pieces] = (await read((box) => box.getAll(piecesOf(name)))) ?? [];
  return pieces.length ? { ...known, blob: new Blob(pieces, { type: known.type }) } : undefined;
}

export async function forget(name) {
  memory.delete(name);
  await write((box) => box.delete(piecesOf(name)));
}

// the names with this part
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
