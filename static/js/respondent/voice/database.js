// The database of this browser (IndexedDB) in which recordings are stored.
const NAME = "askback";
const STORE = "recordings";
const OPENED_WITHIN_MS = 3000; // some releases of Safari never open it and report no error

let opening;

function open() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => {
      opening = Promise.resolve(request.result); // also after the time-out, for later calls
      resolve(opening);
    };
    request.onerror = () => reject(request.error);
    setTimeout(reject, OPENED_WITHIN_MS);
  });
  return opening;
}

// undefined if this browser cannot store anything (any more)
async function run(mode, action) {
  try {
    const transaction = (await open()).transaction(STORE, mode);
    const request = action(transaction.objectStore(STORE));
    return await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } catch {
    return undefined;
  }
}

export const read = (action) => run("readonly", action);
export const write = (action) => run("readwrite", action);

// the number of stored entries; undefined if storing fails, which only a write shows
export const countStored = () =>
  write((box) => {
    box.put(Date.now(), ["", 0]);
    box.delete(["", 0]);
    return box.count();
  });
