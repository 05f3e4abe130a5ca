"""Start one process: `askback`, `ceiling` or `bare`, with the settings of the environment."""

import os
import sys

from webapp.config_environment import read_settings
from webapp.runtime.server import Server
from webapp.web import logs


def main(kind: str) -> None:
    settings = read_settings(os.environ)
    if kind == "askback":
        from webapp.app import create_app

        logs.configure()  # as the command line does
        server = Server(create_app(settings), settings)
    else:
        from tests.bench.ceiling import create_ceiling

        server = Server(create_ceiling(settings), settings)
    server.stop_on_signals()
    server.run()


if __name__ == "__main__":
    main(sys.argv[1])
