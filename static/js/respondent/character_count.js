// Shows the number of characters left near the limit; counts code points, as the server does.
const FEW = 0.1;

function count(field) {
  const line = document.getElementById("character-count");
  if (!line) return; // a browser extension removed it
  const most = Number(field.dataset.maxLength);
  const few = field.value.length > most * (1 - FEW);
  const left = few ? most - [...field.value].length : most;
  const text = left < 0 ? line.dataset.tooLong : line.dataset.left;
  line.textContent = left > most * FEW ? "" : text.replace("{count}", Math.abs(left));
}

function countAll(part) {
  part.querySelectorAll("[data-max-length]").forEach(count);
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-max-length]")) count(target);
});
document.addEventListener("htmx:afterSettle", ({ detail }) => countAll(detail.elt));
countAll(document);
