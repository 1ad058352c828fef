"""The frame that every page shares: its style, dark and light, and a policy that lets nothing be loaded or run."""

from __future__ import annotations

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
