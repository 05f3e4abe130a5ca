// The reason why this page cannot record at all.
export const framed = window !== window.top;

// the name of a text; "" if the page can record
export function obstacle() {
  if (!isSecureContext) return "insecure";
  if (!window.MediaRecorder || !navigator.mediaDevices?.getUserMedia) return "unsupported";
  // only Chromium tells in advance what the embedding website allows
  return framed && document.featurePolicy?.allowsFeature("microphone") === false ? "framed" : "";
}
