"""The frame that every page shares: its style, dark and light, and a policy that lets nothing be loaded or run."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
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


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table of HTML cells under headings of text; the columns of ``numbers`` stand to the right.

    >>> html_table(["Name", "Rating"], [["A", "1500"]], numbers=[1]).count('class="number"')
    2
    """

    def kind(column: int) -> str:
        return ' class="number"' if column in numbers else ' class="name"' if column == numbers_after(numbers) else ""

    first = "".join(f'<th scope="col"{kind(k)}>{escape(name)}</th>' for k, name in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{kind(k)}>{cell}</td>" for k, cell in enumerate(row)) + "</tr>\n" for row in rows
    )
    return f'<div class="picture"><table><thead><tr>{first}</tr></thead><tbody>\n{body}</tbody></table></div>'


def numbers_after(numbers: Sequence[int]) -> int:
    """The first column that holds no number: that of names."""
    return next(k for k in range(len(numbers) + 1) if k not in numbers)


def html_facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and findings, both text; lines of a finding stay lines.

    >>> "<td class=\\"words\\">1\\n2</td>" in html_facts([("a", "1\\n2")])
    True
    """
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="words">{escape(words)}</td></tr>\n' for name, words in rows
    )
    return f'<table class="facts"><tbody>\n{lines}</tbody></table>'


def isolated(name: str) -> str:
    """A name for a page: one that runs from right to left stands by itself and does not turn what is beside it.

    >>> isolated("A & B"), isolated("\u05d0\u05d1")
    ('A &amp; B', '<bdi>\u05d0\u05d1</bdi>')
    """
    return f"<bdi>{escape(name)}</bdi>" if runs_leftwards(name) else escape(name)


def runs_leftwards(name: str) -> bool:
    """Whether a name has letters of a script that runs from right to left."""
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
