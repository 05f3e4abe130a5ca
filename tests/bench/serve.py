"""Start one process: `askback`, `ceiling` or `bare`, with the settings of the environment."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext

from webapp.config_environment import read_settings
from webapp.runtime.server import STOP_SECONDS, Server
from webapp.web import logs


def main(kind: str) -> None:
    settings = read_settings(os.environ)
    if kind == "askback":
        from jobs.worker import delivering
        from webapp.app import create_app

        logs.configure()  # as the command line does
        app = create_app(settings)
        delivers: AbstractContextManager[object] = delivering(
            app, start_after=1, stop_seconds=STOP_SECONDS
        )
    else:
        from tests.bench.ceiling import create_ceiling

        app, delivers = create_ceiling(settings), nullcontext()
    server = Server(app, settings)
    server.stop_on_signals()
    with delivers:
        server.run()


if __name__ == "__main__":
    main(sys.argv[1])
