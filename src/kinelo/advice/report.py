"""How answers are shown: lines of a name and a finding as text, in a terminal and in a notebook; tables; plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.table import Table

Rows = list[tuple[str, str]]


class Report:
    """An answer of many lines: a title, rows of name and finding, and sentences under a heading."""

    _heading = "What to change"
    _sentences_in_table = True

    def _title(self) -> str:
        """What stands above the rows in a terminal."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """Name and finding of every line."""
        raise NotImplementedError

    def _sentences(self) -> tuple[str, ...]:
        """What follows the rows."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_fragment(self.rows(), self._sentences(), self._heading)

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=self._title(), title_justify="left", show_header=False, show_lines=True)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for name, words in self.rows():
            table.add_row(name, words)
        if self._sentences_in_table and self._sentences():
            table.add_row(self._heading, "\n".join(f"• {sentence}" for sentence in self._sentences()))
        return table


def with_interval(value: float, low: float, high: float, digits: str = ".3g") -> str:
    """A number with its 95 % interval.

    >>> with_interval(15.02, 12.0, 19.0)
    '15 (12 to 19)'
    """
    return f"{value:{digits}} ({low:{digits}} to {high:{digits}})"


def with_error(value: float, error: float, digits: str) -> str:
    """A number with its standard error.

    >>> with_error(0.8, 0.05, ".3f")
    '0.800 ± 0.050'
    """
    return f"{value:{digits}} ± {error:{digits}}"


def html_fragment(rows: Rows, sentences: Sequence[str], heading: str) -> str:
    """A table and a list, without style of their own but for a class to hang it on."""
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(words).replace(chr(10), '<br>')}</td></tr>"
        for name, words in rows
    )
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<div class='kinelo-diagnosis'><table>{lines}</table><p>{escape(heading)}</p><ul>{items}</ul></div>"


def html_table(verdict: str, columns: Iterable[str], rows: Iterable[Sequence[object]], digits: str) -> str:
    """A sentence above a table; ``digits`` is the format of its numbers, "—" stands for what is missing."""
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    lines = "".join("<tr>" + "".join(f"<td>{_cell(one, digits)}</td>" for one in row) + "</tr>" for row in rows)
    return f"<p>{escape(verdict)}</p><table><tr>{head}</tr>{lines}</table>"


def _cell(value: object, digits: str) -> str:
    return format(value, digits) if isinstance(value, float) else escape("—" if value is None else str(value))


def json_ready(value: Any) -> Any:
    """Plain numbers, words, lists and dictionaries; what is infinite or undefined is None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: json_ready(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [json_ready(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
