// Sends a recording as the file of the form. It may take as long as it goes on: only an upload
// without progress for STALLED_MS has failed, and retry.js sends it again.
const STALLED_MS = 30000;

// what the server stored
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

  // the answer has no recording any more
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

  // `progress` gets the share that was sent, 0 to 1
  watch(xhr, progress) {
    // htmx would send the form to the address of the button that it saw last, until focus leaves that
    setTimeout(() => this.#button.dispatchEvent(new FocusEvent("focusout", { bubbles: true })));
    xhr.onabort = xhr.onload; // htmx would log it as an error: it ends without a status instead
    const began = performance.now();
    // measured from the beginning of the request, also if it is set later
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
