"""Ratings of a book a page at a time: those of ``RatingBook.ratings_``, of which only the rows asked for are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kinelo.book.ratings import kinds_of
from kinelo.raters.slots import Key

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook

COLUMNS = ("rating", "uncertainty", "matches", "last_played")


class Asked(NamedTuple):
    """Which ratings are asked for: all, those of a kind, of one name, or whose name contains some letters."""

    kind: str | None = None
    name: str | None = None
    search: str = ""
    offset: int = 0
    limit: int = 50
    active_days: int | None = None
    """Only those who played within so many days of the last match."""


class Page(NamedTuple):
    """How many there are, and those asked for, the best of each kind first."""

    total: int
    rows: list[dict[str, Any]]


def page_of(book: RatingBook, asked: Asked) -> Page:
    """Ratings of a book in the order of its ratings, from ``offset`` on.

    >>> import tempfile, kinelo as kn
    >>> book = kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.TeamElo.classic(k=20))
    >>> book.update_one("Ann", "Bob", "win")
    Added(new=1, known=0, changed=0)
    >>> page = page_of(book, Asked(search="o"))
    >>> page.total, page.rows[0]["name"], round(page.rows[0]["rating"], 1)
    (1, 'Bob', 1490.0)
    """
    database = book._database
    with database.snapshot():
        kinds, parts, values = _shown(book, asked)
        for column, wanted in (("kind", asked.kind), ("name", asked.name)):
            if wanted is not None:
                parts, values = [*parts, f"{column} = ?"], [*values, wanted]
        if asked.search:
            letters = asked.search.replace("!", "!!").replace("%", "!%").replace("_", "!_")
            parts, values = [*parts, "LOWER(name) LIKE LOWER(?) ESCAPE '!'"], [*values, f"%{letters}%"]
        where = " AND ".join(parts)
        total = database.one(f"SELECT COUNT(*) FROM slot WHERE {where}", values)[0]
        order = " ".join(f"WHEN ? THEN {place}" for place in range(len(kinds)))
        by_kind = f"CASE kind {order} END, " if len(kinds) > 1 else ""
        keys = database.rows(
            f"SELECT CAST(kind AS TEXT), CAST(name AS TEXT) FROM slot WHERE {where} ORDER BY {by_kind}mean DESC, "
            "number LIMIT ? OFFSET ?",
            (*values, *(kinds if by_kind else ()), asked.limit, asked.offset),
        )
        rater = book._ratings.showing(keys) if keys else None
    return Page(total, _rows(rater, keys))


def _shown(book: RatingBook, asked: Asked) -> tuple[tuple[str, ...], list[str], list[Any]]:
    """Kinds in their order, and the conditions of a row that is shown: who has played, and is active where that is
    asked; those that help others, such as a venue, are not shown.
    """
    kinds, helping = kinds_of(book._ratings.knowing(lambda _: []))
    parts, values = ["games > 0", *["kind <> ?"] * len(helping)], [*helping]
    if asked.active_days is not None:
        parts, values = [*parts, "last_day >= (SELECT MAX(last_day) FROM slot) - ?"], [*values, asked.active_days]
    return kinds, parts, values


def place_of(book: RatingBook, asked: Asked) -> tuple[int | None, int]:
    """The place of somebody (``name`` and ``kind``) among those shown, and how many stand above.

    There is no place for who is not among them.
    """
    database, (_, parts, values) = book._database, _shown(book, asked)
    where, key = " AND ".join(parts), (asked.kind, asked.name)
    (above,) = database.one(
        f"SELECT COUNT(*) FROM slot AS other, (SELECT kind AS k, mean AS m, number AS n FROM slot WHERE kind = ? AND "
        f"name = ?) AS own WHERE kind = k AND (mean > m OR (mean = m AND number < n)) AND {where}",
        (*key, *values),
    )
    there = database.one(f"SELECT 1 FROM slot WHERE {where} AND kind = ? AND name = ?", (*values, *key))
    return None if there is None else above + 1, above


def _rows(rater: Any, keys: list[Key]) -> list[dict[str, Any]]:
    """What the table of ratings says of some, in their order."""
    if not keys:
        return []
    import polars as pl

    wanted, rows_by_key = dict.fromkeys(keys), {}
    table = rater.ratings_.filter(pl.col("name").is_in([name for _, name in keys]))
    kind_of_all = None if "kind" in table.columns else keys[0][0]
    for row in table.iter_rows(named=True):
        key = (row.get("kind", kind_of_all), row["name"])
        if key in wanted:
            rows_by_key[key] = {"kind": key[0], "name": key[1], **{name: row.get(name) for name in COLUMNS}}
    return [rows_by_key[key] for key in keys if key in rows_by_key]
