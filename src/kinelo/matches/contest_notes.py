"""What is said of the columns of a long table that were not used."""

from __future__ import annotations

import polars as pl

from kinelo.matches.columns import listed, plain_name
from kinelo.matches.contest_rows import ContestRows
from kinelo.matches.names import as_text

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


def note_unused(rows: ContestRows) -> None:
    """Name the columns that were not used, and say what two sorts of them are good for."""
    outcomes = [kind for kind in ("place", "score", "time") if kind in rows.found]
    used = {column for key, column in rows.found.items() if key not in outcomes[1:]}
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values())
    used |= {rows.options.team, *(column for columns in kinds for column in columns)}
    unused = [column for column in rows.table.columns if column not in used]
    if unused:
        rows.notes.append(f"columns that were not used: {listed(unused)}")
    _note_teams(rows, unused)
    further = [column for column in unused if plain_name(column) in FURTHER_KINDS]
    if further and not rows.options.slots:
        rows.notes.append(
            f"{further[0]!r} could be rated too: slots=[{rows.found['entrant']!r}, {further[0]!r}] "
            f"(--slot {rows.found['entrant']} --slot {further[0]})"
        )


def _note_teams(rows: ContestRows, unused: list[str]) -> None:
    """Say how rows become one entrant where a column holds teams whose members share their places."""
    column = next((column for column in unused if plain_name(column) in TEAM_HEADERS), None)
    if column is None or not rows.good.any():
        return
    table = pl.DataFrame({"contest": rows.contest, "team": as_text(rows.table[column]), "value": rows.value})
    table = table.filter(pl.Series(rows.good)).drop_nulls("team").drop_nans("value")
    teams = table.group_by("contest", "team").agg(pl.len(), pl.col("value").n_unique())
    if teams.height and (teams["len"] > 1).mean() > 0.5 and teams["value"].max() == 1:  # type: ignore[operator]
        rows.notes.append(
            f"rows of one {column!r} share their places: team={column!r} (--team {column}) makes them one entrant "
            "whose members are rated"
        )
