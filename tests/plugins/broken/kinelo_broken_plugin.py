"""A package that does everything wrong: names that are taken, commands that cannot be built, one that ends Python."""

number = 3


def unreadable(what: list[list[int]]) -> None:
    """Take what no command line can give."""


class Unlike:
    """No rater."""


def __getattr__(name):
    if name == "leaving":
        raise SystemExit(3)
    raise AttributeError(name)
