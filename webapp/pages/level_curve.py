"""The loudness of a recording, drawn by the server as SVG attributes, and where it is loudest."""

STEP = 4
HEIGHT = 24
LOUDEST = 9  # the highest digit


def level_path(levels: str) -> str:
    """Strokes around the middle, one for each digit, in a box of STEP each and HEIGHT."""
    middle = HEIGHT // 2
    reach = middle - 2  # room for round ends
    heights = [max(0.5, int(digit) * reach / LOUDEST) for digit in levels]
    return "".join(
        f"M{at * STEP + STEP // 2} {middle - height:.1f}v{2 * height:.1f}"
        for at, height in enumerate(heights)
    )


def loudest_at(levels: str, duration_ms: int) -> int:
    """Where the first of its loudest parts begins, in milliseconds."""
    return levels.index(max(levels)) * duration_ms // len(levels) if levels else 0


def play_time(duration_ms: int) -> str:
    """As players say it: minutes and seconds, what is left of a second counted as one."""
    seconds = -(-duration_ms // 1000)
    return f"{seconds // 60}:{seconds % 60:02}"
