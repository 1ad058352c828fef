"""What goes wrong in words: one sentence that says what, where, and what is accepted."""


class InputError(ValueError):
    """Something a user gave cannot be used; the message is one sentence they can act on.

    Every part of Kinelo raises this for bad input, and the command line turns it into exit code 2.
    """


class NoStationaryState(InputError):
    """Ratings of this league never settle; the message names the teams and the reason."""


class KineloWarning(UserWarning):
    """A result was computed, but outside the range in which it can be trusted."""


def in_one_line(error: BaseException) -> str:
    """An error in one line: Kinelo's own as they are, others with their kind.

    >>> in_one_line(KeyError("nu"))
    "KeyError: 'nu'"
    """
    told = " ".join(str(error).split())
    if isinstance(error, InputError):
        return told
    return f"{type(error).__name__}: {told}" if told else type(error).__name__
