"""Start one process with the settings of the environment: `askback`, `web`, which leaves deliveries
and recordings to others, or `ceiling`. As the command line does, none searches for garbage in what
it has loaded.
"""

import gc
import os
import sys
from contextlib import ExitStack

from webapp.app import streams
from webapp.app.server import STOP_SECONDS, Server
from webapp.base.config_environment import read_settings
from webapp.web import logs


def main(kind: str) -> None:
    gc.disable()
    settings = read_settings(os.environ)
    with ExitStack() as beside:
        if kind in ("askback", "web"):
            from jobs.deliver import sending
            from jobs.transcribe import transcribing
            from webapp.app.factory import create_app
            from webapp.pages.errors import load_pages
            from webapp.pages.respondent import follow_ups
            from webapp.web.wakeups import shared_wakeups

            logs.configure()  # as the command line does
            app = create_app(settings)
            load_pages(app)
            follow_ups.load(app, settings)
            if kind == "askback":
                beside.enter_context(sending(app, start_after=1, stop_seconds=STOP_SECONDS))
                beside.enter_context(transcribing(app, at_once=1, start_after=1))
            beside.enter_context(shared_wakeups(app))
        else:
            from tests.bench.ceiling import create_ceiling

            app = create_ceiling(settings)
        streams.ACCOUNT_SHARE = 1  # all that are measured follow one form
        server = Server(app, settings)
        server.stop_on_signals()
        gc.freeze()
        gc.enable()
        server.run()


if __name__ == "__main__":
    main(sys.argv[1])
