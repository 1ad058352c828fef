"""How a result is shown: a table is described once and written for a terminal, a page, a notebook or as JSON.

A :class:`Table` holds rows of plain values, and columns that say how a row is written. To show a new result, describe
its table beside the result; nothing here knows any result.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderResult

MISSING = "–"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    label
        Its heading.
    text
        What it says of a row.
    number
        Whether it holds numbers, which stand to the right and are not broken into lines.
    wraps
        Whether a terminal may break its lines.
    html
        The cell on a page where that shows more than the text.
    key
        What of a row it shows, for scripts that show more beside it.
    """

    label: str
    text: Callable[[Row], str]
    number: bool = False
    wraps: bool = True
    html: Callable[[Row], str] | None = None
    key: str = ""


def words(label: str, key: str, *, wraps: bool = True) -> Column:
    """A column of text."""
    return Column(label, lambda row: MISSING if row[key] is None else str(row[key]), wraps=wraps, key=key)


def phrase(label: str, form: Callable[[Row], str], *names: str) -> Column:
    """A column of words with names in them; on a page no name turns what is beside it.

    >>> both = phrase("Match", lambda row: f"{row['home']} – {row['away']}", "home", "away")
    >>> both.html({"home": "A & B", "away": "\N{HEBREW LETTER ALEF}"})
    'A &amp; B – <bdi>\N{HEBREW LETTER ALEF}</bdi>'
    """
    return Column(label, form, html=lambda row: form({**row, **{name: isolated(row[name]) for name in names}}))


def number(label: str, key: str, form: str) -> Column:
    """A column of numbers in a format such as ``.1f``; what is missing or undefined is a dash."""
    return Column(label, lambda row: written(row[key], form), number=True, wraps=False, key=key)


def chance(label: str, key: str) -> Column:
    """A column of probabilities, of which a small one is not taken for none and a large one not for certainty."""
    return Column(label, lambda row: chance_in_words(row[key]), number=True, wraps=False, key=key)


def span(label: str, low: str, high: str, form: str) -> Column:
    """A column of ranges: ``12 to 19``."""
    return Column(label, lambda row: f"{row[low]:{form}} to {row[high]:{form}}", number=True, wraps=False, key=low)


def written(value: object, form: str) -> str:
    """A number in a format, a dash where there is none, and anything else as it is.

    >>> written(0.25, ".2f"), written(float("nan"), ".1f"), written("A", ".1f")
    ('0.25', '–', 'A')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    return format(value, form) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def percent(share: float, digits: int = 0) -> str:
    """A share as people write it.

    >>> percent(0.875), percent(0.875, 1)
    ('88 %', '87.5 %')
    """
    return f"{100 * share:.{digits}f} %"


def significant(value: float, digits: int = 3) -> str:
    """A number of so many digits, a large one without a power of ten.

    >>> significant(13344.6), significant(0.02345, 2), significant(5039.2, 4)
    ('13,300', '0.023', '5,039')
    """
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def sentence(text: str) -> str:
    """A note as a sentence: a capital letter and a full stop.

    >>> sentence("the lowest 'place' is best"), sentence("Done.")
    ("The lowest 'place' is best.", 'Done.')
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def counted(number: int, singular: str, plural: str) -> str:
    """So many of something, as a sentence says it.

    >>> counted(1, "row is", "rows are"), counted(1200, "row is", "rows are")
    ('1 row is', '1,200 rows are')
    """
    return f"{number:,} {singular if number == 1 else plural}"


def quoted(name: str) -> str:
    """A name as a list of names shows it: in quotation marks where it has a comma of its own.

    >>> ", ".join(quoted(name) for name in ("Kern, Ben", "Ajax"))
    '"Kern, Ben", Ajax'
    """
    return f'"{name}"' if "," in name or ";" in name else name


def chance_in_words(share: float | None) -> str:
    """A probability to a tenth of a percent; none is a dash.

    >>> chance_in_words(0.1234), chance_in_words(0.0002), chance_in_words(0.9999), chance_in_words(0.0)
    ('12.3 %', '< 0.1 %', '> 99.9 %', '0.0 %')
    """
    if share is None or math.isnan(share):
        return MISSING
    if 0 < share < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if 0.999 < share < 1 else percent(share, 1)


@dataclass(frozen=True)
class Table:
    """Rows, how they are written, and what stands above and below them.

    A terminal, :meth:`html` and the lab (``fillTable`` in ``words.js``, by :meth:`to_dict`) show the same cells.

    >>> board = Table([words("Name", "name"), number("Rating", "rating", ".0f")], [{"name": "<A>", "rating": 1500.2}])
    >>> board.cells()
    [['<A>', '1500']]
    >>> "<td>&lt;A&gt;</td><td class='number'>1500</td>" in board.html()
    True
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    title: str = ""
    below: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: pl.DataFrame, form: str = "", title: str = "", below: tuple[str, ...] = ()) -> Table:
        """All columns of a frame under their own names; ``form`` is the format of numbers that are no whole ones."""
        whole = {name for name, kind in frame.schema.items() if not kind.is_float()}
        columns = [
            Column(
                name.replace("_", " "),
                lambda row, key=name: written(row[key], "" if key in whole else form),
                number=kind.is_numeric(),
            )
            for name, kind in frame.schema.items()
        ]
        return cls(columns, frame.to_dicts(), title, below)

    def head(self, most: int) -> Table:
        """The first rows, and below them how many more there are."""
        more = len(self.rows) - most
        if more <= 0:
            return self
        return replace(self, rows=self.rows[:most], below=(f"and {more:,} more", *self.below))

    def cells(self) -> list[list[str]]:
        """What every cell says."""
        return [[column.text(row) for column in self.columns] for row in self.rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table as Drawn

        cells, labels = self.cells(), [column.label for column in self.columns]
        below = [max((len(row[k]) for row in cells), default=0) for k in range(len(labels))]
        wide = sum(max(len(label), room) + 3 for label, room in zip(labels, below)) + 1 > options.max_width
        if wide:  # headings wider than what is below them are broken
            labels = [label.replace(" ", "\n") if len(label) > room else label for label, room in zip(labels, below)]
        # A board that is too wide goes without its frame, so that fewer names are broken.
        framed = not wide or len(labels) < 5
        table = Drawn(title=self.title, title_justify="left", show_edge=framed, pad_edge=framed)
        for column, label in zip(self.columns, labels):
            side = "right" if column.number else "left"
            table.add_column(label, justify=side, no_wrap=not column.wraps, overflow="fold")
        for row in cells:
            table.add_row(*row)
        yield table
        yield from self.below

    def to_dict(self) -> dict[str, Any]:
        """Headings, cells as text, and what stands above and below, for a script that shows them."""
        columns = [{"label": column.label, "number": column.number, "key": column.key} for column in self.columns]
        return {"columns": columns, "rows": self.cells(), "title": self.title, "below": list(self.below)}

    def html(self) -> str:
        """The table as HTML; what stands above and below it are paragraphs."""
        head = "".join(f"<th scope='col'{_kind(column)}>{escape(column.label)}</th>" for column in self.columns)
        body = ""
        for row in self.rows:
            cells = (
                f"<td{_kind(one)}>{isolated(one.text(row)) if one.html is None else one.html(row)}</td>"
                for one in self.columns
            )
            body += f"<tr>{''.join(cells)}</tr>\n"
        above = f"<p>{escape(self.title)}</p>" if self.title else ""
        below = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.below)
        return f"{above}<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>{below}"


def isolated(name: str) -> str:
    """A name for a page: one that runs from right to left stands by itself and does not turn what is beside it.

    >>> isolated("A & B"), isolated("\N{HEBREW LETTER ALEF}")
    ('A &amp; B', '<bdi>\N{HEBREW LETTER ALEF}</bdi>')
    """
    leftwards = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"<bdi>{escape(name)}</bdi>" if leftwards else escape(name)


def _kind(column: Column) -> str:
    return " class='number'" if column.number else "" if column.wraps else " class='whole'"


def html_facts(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and findings as HTML; lines of a finding stay lines.

    >>> ">1\\n2</td>" in html_facts([("a", "1\\n2")])
    True
    """
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td style='white-space: pre-line'>{escape(found)}</td></tr>\n"
        for name, found in rows
    )
    return f"<table class='facts'><tbody>\n{lines}</tbody></table>"


def html_list(sentences: Iterable[str]) -> str:
    """Sentences as a list; nothing where there is none.

    >>> html_list(["A & B"]), html_list([])
    ('<ul><li>A &amp; B</li></ul>', '')
    """
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def json_ready(value: Any) -> Any:
    """Plain numbers, words, lists and dictionaries; what is infinite or undefined is None."""
    if is_dataclass(value) and not isinstance(value, type):
        return json_ready(asdict(value))
    if isinstance(value, Mapping):
        return {key: json_ready(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [json_ready(inner) for inner in value]
    number = getattr(value, "item", None)
    if number is not None and getattr(value, "ndim", 1) == 0:  # a number of NumPy's, which help texts do without
        value = number()
    return None if isinstance(value, float) and not math.isfinite(value) else value
