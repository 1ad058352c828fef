"""What is said of the columns of a long table that were not used."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.columns import listed, plain_name
from kinelo.matches.contest_columns import NATIONS
from kinelo.matches.contest_rows import ContestRows
from kinelo.matches.groups import DIVISIONS
from kinelo.matches.names import as_text, encode_names
from kinelo.matches.table_rows import listed_names

LEAST_ODD, SHARE_ODD = 3, 0.01
"""Rows, and share of those that can be used, from which on a word that is not known is asked about."""

TEAM_HEADERS = (
    "team",
    "teamid",
    "teamname",
    "squad",
    "squadid",
    "group",
    "party",
    "crew",
    "mannschaft",
    "equipe",
    "squadra",
)
"""Columns that may say which rows play together."""

FURTHER_KINDS = ("constructor", "car", "horse", "jockey", "codriver", "chassis", "engine", "boat", "crew", "trainer")
"""Columns that could be rated beside the entrant; they are named in a note."""


CIRCUMSTANCES = (
    "track", "tracktype", "circuit", "circuittype", "surface", "course", "racecourse", "venue", "weather", "going",
    "terrain", "format", "discipline", "length", "strecke", "pista", "piste", "circuito",
)  # fmt: skip
"""Columns on which the part of luck may depend, where they say one thing of each contest."""

LEAST_CONTESTS = 5
"""Contests for each level, on average, from which on a circumstance is worth asking about."""


def note_unused(rows: ContestRows) -> None:
    """Name the columns that were not used, and say what two sorts of them are good for."""
    outcomes = [kind for kind in ("place", "score", "time") if kind in rows.found]
    used = {column for key, column in rows.found.items() if key not in outcomes[1:]} | {*rows.order_columns}
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values())
    used |= {rows.options.team, *(column for columns in kinds for column in columns)}
    unused = [column for column in rows.table.columns if column not in used]
    if unused:
        rows.notes.append(f"columns that were not used: {listed(unused)}")
    _note_teams(rows, unused)
    _note_circumstances(rows, unused)
    further = [column for column in unused if plain_name(column) in FURTHER_KINDS]
    if further and not rows.options.slots:
        rows.notes.append(f"{further[0]!r} could be rated too: slots=[{rows.found['entrant']!r}, {further[0]!r}]")


def _note_circumstances(rows: ContestRows, unused: list[str]) -> None:
    """Say how luck that differs is found, where a column holds a circumstance of contests that return."""
    for column in unused:
        if plain_name(column) not in CIRCUMSTANCES:
            continue
        table = pl.DataFrame({"contest": rows.contest, "level": as_text(rows.table[column])})
        levels = table.filter(pl.Series(rows.good & (rows.contest >= 0))).drop_nulls().unique()
        number = levels["level"].n_unique()
        if number > 1 and levels["contest"].is_unique().all() and levels.height >= LEAST_CONTESTS * number:
            rows.notes.append(
                f"luck may differ by {column!r}: advantages=[{column!r}] and RankElo(noise_by=[{column!r}]) find out"
            )
            return


def _note_teams(rows: ContestRows, unused: list[str]) -> None:
    """Say how rows become one entrant where a column holds teams whose members share their places."""
    column = next((column for column in unused if plain_name(column) in TEAM_HEADERS), None)
    if column is None or not rows.good.any():
        return
    if share_places(rows, column, rows.value, rows.good):
        rows.notes.append(
            f"rows of one {column!r} share their places: team={column!r} makes them one entrant whose members are rated"
        )


def share_places(rows: ContestRows, column: str, value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether rows of one contest with the same entry in a column, several of each, have the same place."""
    table = pl.DataFrame({"contest": rows.contest, "team": as_text(rows.table[column]), "value": value})
    table = table.filter(pl.Series(there)).drop_nulls("team").drop_nans("value")
    teams = table.group_by("contest", "team").agg(pl.len(), pl.col("value").n_unique())
    return bool(teams.height and (teams["len"] > 1).mean() > 0.5 and teams["value"].max() == 1)  # type: ignore[operator]


def note_namesakes(rows: ContestRows) -> None:
    """Say which names stand under two nations, or in two divisions: they may be two."""
    if "group" in rows.found:
        return
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    used = {*rows.found.values(), *(column for columns in kinds for column in columns)}
    for column in rows.table.columns:
        if column in used or plain_name(column) not in (*NATIONS, *DIVISIONS):
            continue
        (level,), levels = encode_names(rows.table[column])
        there = rows.good & (level >= 0) & (rows.entrant >= 0)
        pairs = np.unique(np.stack([rows.entrant[there], level[there]]), axis=1)[0]
        codes = np.flatnonzero(np.bincount(pairs, minlength=len(rows.entrants)) > 1)
        if codes.size:
            number = "1 name stands" if codes.size == 1 else f"{codes.size:,} names stand"
            first = [levels[k] for k in np.unique(level[there & (rows.entrant == codes[0])])[:3]]
            rows.notes.append(
                f"{number} under more than one {column!r} and count as one each: "
                f"{listed_names([rows.entrants[k] for k in codes[:3]], 2)} ({', '.join(first)}); say "
                f"columns={{'group': {column!r}}} if they are different"
            )


def note_odd_words(rows: ContestRows) -> None:
    """Ask what a word means that stands in many cells of the outcome and is not known."""
    odd = rows.fault == rows.reasons.index("unreadable place")
    if not odd.any() or rows.outcome is None:
        return
    words = as_text(rows.table[rows.outcome].filter(pl.Series(odd))).str.strip_chars()
    for word, number in words.value_counts(sort=True).rows()[:3]:
        if word and number >= max(LEAST_ODD, SHARE_ODD * rows.good.sum()):
            rows.notes.append(
                f"{word!r:.40} stands in {number:,} rows of {rows.outcome!r} and is no {rows.kind} that is known: they "
                f"were set aside. What does it mean? endings={{{word[:40]!r}: 'unfinished'}}, or 'last', "
                "'disqualified' or 'not started', says it"
            )
