"""Names to show in place of what a file calls its players and sides: from a column of it, or from a file of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import polars as pl

from kinelo.errors import InputError
from kinelo.matches.names import as_text


def labels_from(pairs: Iterable[tuple[str | None, str | None]], wanted: set[str]) -> dict[str, str]:
    """What to show of everyone wanted who has a name; those who share one are shown with their own key beside it.

    >>> labels_from([("p1", "Ann Lee"), ("p2", "Bo"), ("p3", "Bo"), ("p9", "Nobody")], {"p1", "p2", "p3"})
    {'p1': 'Ann Lee', 'p2': 'Bo (p2)', 'p3': 'Bo (p3)'}
    """
    found: dict[str, str] = {}
    for key, name in pairs:
        if key in wanted and name and name.strip():
            found[key] = name.strip()  # the last of several: a name of today
    shared = Counter(found.values())
    return {key: name if shared[name] == 1 else f"{name} ({key})" for key, name in found.items()}


def pairs_of(frame: pl.DataFrame, key: str, name: str) -> list[tuple[str | None, str | None]]:
    """Two columns of a table, as text, each pair once."""
    for column in (key, name):
        if column not in frame.columns:
            raise InputError(f"There is no column {column!r:.80} to take names from.")
    table = pl.DataFrame({"key": as_text(frame[key]), "name": as_text(frame[name])}).unique(maintain_order=True)
    return list(table.iter_rows())


def all_labels(tables: Mapping[str, pl.DataFrame], columns: Mapping[str, str], wanted: set[str]) -> dict[str, str]:
    """Names from the line-ups' own column and from the file of names, which counts more."""
    pairs: list[tuple[str | None, str | None]] = []
    if "lineups" in tables and {"player", "player_name"} <= columns.keys():
        pairs += pairs_of(tables["lineups"], columns["player"], columns["player_name"])
    if "names" in tables and {"name_key", "name_shown"} <= columns.keys():
        pairs += pairs_of(tables["names"], columns["name_key"], columns["name_shown"])
    return labels_from(pairs, wanted)
