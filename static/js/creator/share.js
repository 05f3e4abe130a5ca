// The share sheet of the device, where it has one.
for (const button of document.querySelectorAll("[data-shares]")) button.hidden = !navigator.share;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-shares]");
  if (!button) return;
  try {
    await navigator.share({ title: button.dataset.title, url: button.dataset.shares });
  } catch {
    // closed without sending: nothing to say
  }
});
