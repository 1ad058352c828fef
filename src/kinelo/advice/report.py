"""How answers are shown: lines of a name and a finding as text, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from kinelo.presentation import html_facts, html_list

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

    def sections(self) -> list[tuple[str, Rows]]:
        """The lines under their headings; without headings, all of them under none."""
        return [("", self.rows())]

    def _sentences(self) -> tuple[str, ...]:
        """What follows the rows."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_fragment(self.rows(), self._sentences(), self._heading)

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self._title(), title_justify="left", show_header=False, show_lines=True)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for heading, rows in self.sections():
            if heading:
                # Whatever the console makes of markup: names may hold brackets, and a heading is none.
                table.add_row(Text(heading, style="underline"), "")
            for name, words in rows:
                table.add_row(Text(name), Text(words))
        if self._sentences_in_table and self._sentences():
            table.add_row(self._heading, "\n".join(f"• {sentence}" for sentence in self._sentences()))
        return table


def with_interval(value: float, low: float, high: float, digits: str = ".3g") -> str:
    """A number with its 95 % interval.

    >>> with_interval(15.02, 12.0, 19.0)
    '15 (12 to 19)'
    """
    return f"{value:{digits}} ({low:{digits}} to {high:{digits}})"


def with_error(value: float, error: float, digits: str, of_error: str | None = None) -> str:
    """A number with its standard error, which may have a format of its own.

    >>> with_error(0.8, 0.05, ".3f"), with_error(0.81234, 0.05123, ".4g", ".1g")
    ('0.800 ± 0.050', '0.8123 ± 0.05')
    """
    return f"{value:{digits}} ± {error:{of_error or digits}}"


def html_fragment(rows: Rows, sentences: Sequence[str], heading: str) -> str:
    """A table and a list, without style of their own but for a class to hang it on."""
    below = f"<p>{escape(heading)}</p>{html_list(sentences)}" if sentences else ""
    return f"<div class='kinelo-diagnosis'>{html_facts(rows)}{below}</div>"
