"""Why a model that was asked has written nothing."""


class ModelFailed(Exception):
    """There is no reply, and the rules decide.

    The reason is for the log: it holds no word of a prompt, an answer or a reply, and no secret.
    """


class ModelLate(ModelFailed):
    """It took longer than anybody waits."""


class ModelRefused(ModelFailed):
    """The service works, and wrote nothing of use about this answer: another may be different."""


class ModelResting(ModelFailed):
    """Nobody was asked: the service failed a moment ago, or has enough to do."""
