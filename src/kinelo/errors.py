"""What goes wrong in words: one sentence that says what, where, and what is accepted."""

import os
import re
import sys
import warnings
from pathlib import Path

PACKAGE = f"{Path(__file__).parent}{os.sep}"
LONGEST = 1000
"""Characters of a sentence; a value that it repeats may have more, and is cut."""


class InputError(ValueError):
    """Something a user gave cannot be used; the message is one sentence they can act on.

    Every part of Kinelo raises this for bad input, and the command line turns it into exit code 2.

    >>> import kinelo as kn
    >>> kn.Tanh(nu=-1.0)
    Traceback (most recent call last):
        ...
    kinelo.errors.InputError: nu must be greater than 0, not -1.

    Whatever a message repeats, it stays one line of bounded length.

    >>> str(InputError("Side 'a\\nb' is unknown.")), len(str(InputError("A" * 5000)))
    ("Side 'a b' is unknown.", 1002)
    """

    def __init__(self, message: object = "") -> None:
        text = re.sub(r"\s*[\x00-\x1f\x7f\x85\u2028\u2029]+\s*", " ", str(message))
        half = LONGEST // 2
        super().__init__(text if len(text) <= LONGEST else f"{text[:half]}… {text[-half:]}")


class NoStationaryState(InputError):
    """Ratings of this league never settle; the message names the teams and the reason.

    >>> import kinelo as kn
    >>> try:
    ...     kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), kn.Fixed([0.0, 1e9]))
    ... except kn.errors.NoStationaryState as reason:
    ...     print(str(reason).split(":")[0])
    ...
    No stationary ratings exist
    """


class KineloWarning(UserWarning):
    """A result was computed, but outside the range in which it can be trusted.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", KineloWarning)  # stop where a result cannot be trusted
    """


def warn(sentence: str) -> None:
    """Warn that a result is not to be trusted, at the line of whoever called Kinelo, however deep it was noticed."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, KineloWarning, stacklevel=level)


def in_one_line(error: BaseException) -> str:
    """An error in one line: Kinelo's own as they are, others with their kind.

    >>> in_one_line(KeyError("nu"))
    "KeyError: 'nu'"
    """
    text = " ".join(str(error).split())
    if isinstance(error, InputError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
