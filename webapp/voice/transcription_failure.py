"""What every engine raises that writes recordings down."""


class TranscriptionFailed(Exception):
    """There are no words; another attempt may find some.

    The reason is for the log: it holds neither words nor a secret.
    """
