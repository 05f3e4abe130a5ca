// Why this page cannot record at all.
export const framed = window !== window.top;

// as the name of a text; "" if it can
export function obstacle() {
  if (!isSecureContext) return "insecure";
  if (!window.MediaRecorder || !navigator.mediaDevices?.getUserMedia) return "unsupported";
  // only Chromium says beforehand what the code of a website allows
  return framed && document.featurePolicy?.allowsFeature("microphone") === false ? "framed" : "";
}
