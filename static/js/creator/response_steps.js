// The arrow keys open the previous and the next response.
const TURNS = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  const turn = TURNS[event.key];
  const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
  if (!turn || modified || event.target.closest("audio, input, textarea, select")) return;
  document.querySelector(`[data-response] [rel=${turn}]`)?.click();
});
