// Opens the share sheet of the device, if it has one.
for (const button of document.querySelectorAll("[data-share-url]")) button.hidden = !navigator.share;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-share-url]");
  if (!button) return;
  try {
    await navigator.share({ title: button.dataset.title, url: button.dataset.shareUrl });
  } catch {
    // the sheet was closed without sharing
  }
});
