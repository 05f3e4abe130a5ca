"""Makes the weights of the classifiers: `python -m tests.domain.follow_ups.train`.

Stochastic gradient descent with AdaGrad over the examples, a label and an answer in each line.
"""

import math
import random
from collections import defaultdict
from pathlib import Path

from webapp.follow_ups.signals import NAMES, WEIGHTS_FOLDER, features
from webapp.follow_ups.text import fold

EXAMPLES = Path(__file__).parent / "examples"
EPOCHS, RATE = 12, 0.3
DECAY = {"grave": 0.01, "refusal": 0.001}
KEPT = 20_000  # features with the largest weights

Example = tuple[list[str], bool]


def read_examples() -> list[tuple[str, str]]:
    """Labels and answers of all languages."""
    lines = [
        line
        for path in sorted(EXAMPLES.glob("*.tsv"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [(label, answer) for label, _, answer in (line.partition("\t") for line in lines)]


def train(examples: list[Example], decay: float) -> tuple[float, dict[str, float]]:
    """The bias and the weights."""
    chance = random.Random(1)  # noqa: S311
    weights, squares = defaultdict[str, float](float), defaultdict[str, float](float)
    bias = 0.0
    for _ in range(EPOCHS):
        chance.shuffle(examples)
        for found, is_one in examples:
            size = math.sqrt(len(found))
            odds = bias + sum(weights[each] for each in found) / size
            error = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))) - is_one
            bias -= 0.05 * error
            for each in found:
                gradient = error / size + decay * weights[each]
                squares[each] += gradient * gradient
                weights[each] -= RATE * gradient / math.sqrt(squares[each] + 1e-8)
    return bias, weights


def main() -> None:
    read = [(label, sorted(set(features(fold(answer))))) for label, answer in read_examples()]
    known = [(label, found) for label, found in read if found]
    for name in NAMES:
        left_out = "other" if name == "refusal" else ""
        examples = [(found, label == name) for label, found in known if label != left_out]
        bias, weights = train(examples, DECAY[name])
        largest = sorted(weights, key=lambda each: (-abs(weights[each]), each))[:KEPT]
        by_weight = defaultdict[int, list[str]](list, {round(100 * bias): [""]})
        for each in sorted(largest):
            by_weight[round(100 * weights[each])].append(each)
        by_weight.pop(0, None)
        rows = ("\t".join((str(weight), *by_weight[weight])) for weight in sorted(by_weight))
        text = "".join(f"{row}\n" for row in rows)
        (WEIGHTS_FOLDER / f"{name}.tsv").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
