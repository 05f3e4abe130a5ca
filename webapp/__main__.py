"""Where a process of Askback begins: `askback`, or `python -m webapp`."""

import gc


def main() -> None:
    """The command line, imported without looking for garbage in it.

    Nearly everything that an import makes stays, and looking through it again and again while it
    grows takes a fifth of the time of a start; later searches leave it out.
    """
    gc.disable()
    from webapp.cli import main as command

    gc.freeze()
    gc.enable()
    command()


if __name__ == "__main__":
    main()
