// Sends a recording as the file of the form. An upload fails only after STALLED_MS without progress,
// however long it takes; retry.js then sends it again.
const STALLED_MS = 30000;

// fetches the recording from the server
export async function handedBack(form, address) {
  const body = new URLSearchParams({ session: form.elements.session.value });
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.blob();
}

export class Upload {
  #recorder;

  constructor(recorder) {
    this.#recorder = recorder;
  }

  get #button() {
    return this.#recorder.querySelector("[formenctype]");
  }

  send({ blob, key, type }) {
    const files = new DataTransfer();
    files.items.add(blob instanceof File ? blob : new File([blob], "recording", { type }));
    this.#recorder.field("audio").files = files.files;
    this.#recorder.field("recording_key").value = key;
    this.#button.click();
  }

  // removes the recording from the answer
  clear() {
    this.stop();
    this.#recorder.field("recording").checked = false;
    this.#recorder.removeAttribute("data-stuck");
    this.#recorder.querySelector("[data-transcript]")?.remove();
  }

  stop() {
    htmx.trigger(this.#button, "htmx:abort");
    this.clearFile();
  }

  clearFile() {
    this.#recorder.field("audio").value = "";
  }

  // calls `progress` with the share that was sent, 0 to 1
  watch(xhr, progress) {
    // otherwise htmx submits the form to the address of the last button until that loses the focus
    setTimeout(() => this.#button.dispatchEvent(new FocusEvent("focusout", { bubbles: true })));
    xhr.onabort = xhr.onload; // avoids an error logged by htmx; the request ends without a status
    const began = performance.now();
    // a timeout counts from the start of the request, even if it is set later
    const extend = () => {
      xhr.timeout = performance.now() - began + STALLED_MS;
    };
    extend();
    progress(0);
    xhr.upload.addEventListener("progress", ({ loaded, total }) => {
      extend();
      progress(loaded / total);
    });
  }
}
