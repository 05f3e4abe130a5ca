"""Where a process of Askback begins: `askback`, or `python -m webapp`."""

import gc
import os


def main() -> None:
    """The command line, imported without looking for garbage in it.

    Nearly everything that an import makes stays, and looking through it again and again while it
    grows takes a fifth of the time of a start; later searches leave it out.
    """
    os.umask(0o077)  # what is stored is for this account alone
    gc.disable()
    from webapp.cli import main as command

    gc.freeze()
    gc.enable()
    command()


if __name__ == "__main__":
    main()
