"""A child that does what a request says, for tests of what is around it."""

import os
import time
from collections.abc import Sequence

from webapp.voice.child_process import Answer, Request


def prepare() -> Answer:
    time.sleep(float(os.environ.get("PREPARE_SECONDS", 0)))
    return {}


def answer(request: Request, files: Sequence[int]) -> Answer:
    if "sleep" in request:
        time.sleep(float(request["sleep"]))
    if "status" in request:
        os._exit(int(request["status"]))
    names = ",".join(sorted(os.environ))
    return {"pid": os.getpid(), "read": os.read(files[0], 100).decode() if files else names}
