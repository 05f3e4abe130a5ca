// Draws the level of a recording over time as the strokes of one path.
const SMALLEST = 0.02;

// `count` values from 0 to 1, each the loudest of its share of `levels`
export function resampled(levels, count) {
  const share = levels.length / count;
  return Array.from({ length: levels.length ? count : 0 }, (_, place) =>
    Math.max(...levels.slice(Math.floor(place * share), Math.max(Math.ceil((place + 1) * share), 1))),
  );
}

// one digit for each stroke, as the server measures them
export const fromDigits = (digits) => [...digits].map((digit) => digit / 9);

// draws strokes from `first` on into a path of a picture with room for `count`
export function draw(path, levels, first, count) {
  const { width, height } = path.ownerSVGElement.viewBox.baseVal;
  const step = width / count;
  const strokes = levels.map((level, place) => {
    const length = Math.max(level, SMALLEST) * (height - 6);
    const x = (first + place + 0.5) * step;
    return `M${x.toFixed(1)} ${((height - length) / 2).toFixed(1)}v${length.toFixed(1)}`;
  });
  path.setAttribute("d", strokes.join(""));
}
