"""Which contests a book holds, and what a table that is handed to it adds: a line for each contest, known by its name.

A contest under a known name that says something else now replaces what the book held, unless it is more than a month
away: names of contests return from season to season. Contests stand in order of date; those of one day in the order of
arrival.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from kinelo.book.ledger import Entry
from kinelo.book.rows import LARGEST_STORED, parted_removal
from kinelo.errors import InputError
from kinelo.matches.contest_interpreting import SAME_CONTEST
from kinelo.matches.contests import Contests, Slots

CONTEST_SCHEMA = {
    "match_id": pl.String,
    "date": pl.Date,
    "weight": pl.Float64,
    "entrant": pl.List(pl.String),
    "place": pl.List(pl.Float64),
    "ended": pl.List(pl.Int64),
    "kinds": pl.List(pl.String),
    "slots": pl.List(pl.List(pl.List(pl.String))),
    "advantages": pl.List(pl.String),
    "distance": pl.List(pl.Float64),
    "title": pl.String,
}
UNSAID = ("distance", "title")
"""What a contest may leave out, as every one did in versions that did not read it."""


def contests_to_frame(contests: Contests) -> pl.DataFrame:
    """A row for each contest: its name, day and weight, and lists of entrants, places, endings, slots by kind, and of
    distances where any is known; and its title, where it has one.
    """
    rows = []
    came = np.full(contests.place.size, np.nan) if contests.distance is None else contests.distance
    for c in range(len(contests)):
        part = slice(int(contests.first[c]), int(contests.first[c + 1]))
        slots = [
            [[held.names[code] for code in row if code >= 0] for row in held.codes[part].tolist()]
            for held in contests.slots.values()
        ]
        rows.append(
            {
                "match_id": contests.identifiers[c],
                "date": contests.date[c].item(),
                "weight": float(contests.weight[c]),
                "entrant": [contests.entrants[code] for code in contests.entrant[part].tolist()],
                "place": contests.place[part].tolist(),
                "ended": contests.ended[part].tolist(),
                "kinds": list(contests.kinds),
                "slots": slots,
                "advantages": list(contests.advantages),
                "distance": None if np.isnan(came[part]).all() else pl.Series(came[part]).fill_nan(None).to_list(),
                "title": None if contests.titles is None else contests.titles[c],
            }
        )
    return pl.DataFrame(rows, schema=CONTEST_SCHEMA)


def frame_to_contests(table: pl.DataFrame) -> Contests:
    """Contests as a book holds them."""
    entries = table.select("entrant", "place", "ended").explode("entrant", "place", "ended")
    kinds, advantages = tuple(table["kinds"][0]), tuple(table["advantages"][0])
    names = tuple(entries["entrant"].unique(maintain_order=True))
    code = {name: k for k, name in enumerate(names)}
    sizes = table["entrant"].list.len().to_numpy()
    held = {}
    rows = table["slots"].to_list()
    for number, kind in enumerate(kinds):
        members = [one for contest in rows for one in contest[number]]
        known = tuple(dict.fromkeys(name for one in members for name in one))
        index = {name: k for k, name in enumerate(known)}
        codes = np.full((len(members), max(1, *map(len, members))), -1, np.int32)
        for k, one in enumerate(members):
            codes[k, : len(one)] = [index[name] for name in one]
        held[kind] = Slots(codes, known, kind in advantages)
    came = [one or [None] * size for one, size in zip(table["distance"].to_list(), sizes.tolist())]
    known = table["distance"].null_count() < table.height
    return Contests(
        table["date"].to_numpy().astype("datetime64[D]"),
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.array([code[name] for name in entries["entrant"]], np.int32),
        names,
        entries["place"].to_numpy(writable=True),
        entries["ended"].to_numpy().astype(np.int8),
        held,
        table["weight"].to_numpy(writable=True),
        np.arange(1, entries.height + 1),
        tuple(table["match_id"]),
        distance=np.array([one for contest in came for one in contest], float) if known else None,
        titles=tuple(table["title"].fill_null(table["match_id"])) if table["title"].drop_nulls().len() else None,
    )


def are_contests(payload: bytes) -> bool:
    """Whether a record of a journal holds contests and not matches; a removal alone holds neither."""
    line = parted_removal(payload)[1].partition(b"\n")[0]
    try:
        return "entrant" in json.loads(line)
    except (ValueError, TypeError):
        return False  # whoever applies the record says what is wrong with it


def _by_name(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Contests under their names, and those known by name and day under both."""
    named: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for name in {row["match_id"], row["match_id"].rsplit(" on ", 1)[0]}:
            named.setdefault(name, []).append(row)
    return named


def _same_contest(row: dict[str, Any], held: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any] | None:
    """The contest of a book that a row speaks of: that of its name, not more than a month away.

    Names that return are known by their day too, in a book and in a file of several seasons.
    """
    name, day = row["match_id"], row["date"]
    near = [one for one in held.get(name, ()) if abs(one["date"] - day) <= SAME_CONTEST.item()]
    plain = name.removesuffix(f" on {day}")
    if not near and plain != name:
        near = [one for one in held.get(plain, ()) if one["match_id"] == plain and one["date"] == day]
    return min(near, key=lambda one: abs(one["date"] - day), default=None)


def _are_distances(rows: pl.DataFrame) -> bool:
    """Whether what a journal says of distances is from 0 to 1, one for each entrant."""
    said = rows.filter(pl.col("distance").is_not_null())
    within = said["distance"].explode().drop_nulls().is_between(0.0, 1.0).all()
    return bool(within) and bool((said["distance"].list.len() == said["entrant"].list.len()).all())


class ContestLedger:
    """The contests of a book as its records tell them."""

    def __init__(self) -> None:
        self.table = pl.DataFrame(schema=CONTEST_SCHEMA)

    def apply(self, payload: bytes) -> bool:
        """Take in a record; whether it only adds contests behind all others."""
        removed, lines = parted_removal(payload)
        if removed:
            self.table = self.table.filter(~pl.col("match_id").is_in(removed))
        if not lines:
            return False
        rows = pl.read_ndjson(io.BytesIO(lines), schema=CONTEST_SCHEMA)
        strange = rows.drop(UNSAID).null_count().sum_horizontal().item()
        if strange or not rows["weight"].is_between(0.0, LARGEST_STORED).all() or not _are_distances(rows):
            raise InputError("A line holds what no contest is.")
        kept = self.table.filter(~pl.col("match_id").is_in(rows["match_id"].implode()))
        replaced = kept.height < self.table.height
        rows = rows.sort("date", maintain_order=True)
        last = kept["date"].max() if kept.height else None
        behind = not replaced and not removed and (last is None or bool(last <= rows["date"][0]))
        together = pl.concat([kept, rows])
        self.table = together if behind else together.sort("date", maintain_order=True)
        return behind

    def enter(self, contests: Contests) -> Entry:
        """What a table would add; nothing is changed yet."""
        if len(set(contests.identifiers)) < len(contests):
            raise InputError("Two of these contests have one name; give each its own, or add a column of seasons.")
        if self.table.height and tuple(self.table["kinds"][0]) != contests.kinds:
            raise InputError(
                f"The book rates {', '.join(self.table['kinds'][0])}, these contests {', '.join(contests.kinds)}; "
                "read them with the same slots=."
            )
        rows = contests_to_frame(contests)
        held = _by_name(self.table.iter_rows(named=True))
        fresh, changed, known, first, renamed = [], [], 0, "", []
        for row in rows.iter_rows(named=True):
            old = _same_contest(row, held)
            if old is not None:
                row["match_id"] = old["match_id"]
            elif row["match_id"] in held:
                renamed.append(f"{row['match_id']} of {row['date']}")
                row["match_id"] = f"{row['match_id']} on {row['date']}"
            if old is None:
                fresh.append(row)
            elif {**old, "title": ""} != {**row, "title": ""}:
                changed.append(row)
                first = min(filter(None, (first, str(old["date"]), str(row["date"]))))
            else:
                known += 1
        lines = "".join(
            json.dumps({name: cell for name, cell in row.items() if cell is not None}, default=str, ensure_ascii=False)
            + "\n"
            for row in [*fresh, *changed]
        ).encode()
        return Entry(lines or None, len(fresh), len(changed), known, first, renamed=tuple(renamed))
