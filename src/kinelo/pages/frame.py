"""The frame that every page shares: its style, dark and light, and a policy that lets nothing be loaded or run."""

from __future__ import annotations

import unicodedata
from functools import cache
from html import escape
from importlib.resources import files
from string import Template


@cache
def _frame() -> Template:
    return Template((files("kinelo.pages") / "frame.html").read_text(encoding="utf-8"))


def html_page(title: str, body: str) -> str:
    """Return a whole page; ``title`` is text, ``body`` HTML.

    >>> html_page("A & B", "<h1>A</h1>").count("A &amp; B")
    1
    """
    return _frame().substitute(title=escape(title), body=body)


def isolated(name: str) -> str:
    """A name for a page: one that runs from right to left stands by itself and does not turn what is beside it.

    >>> isolated("A & B"), isolated("\u05d0\u05d1")
    ('A &amp; B', '<bdi>\u05d0\u05d1</bdi>')
    """
    return f"<bdi>{escape(name)}</bdi>" if runs_leftwards(name) else escape(name)


def runs_leftwards(name: str) -> bool:
    """Whether a name has letters of a script that runs from right to left."""
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
