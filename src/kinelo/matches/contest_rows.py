"""From a long table to rows of contests: names, dates, which rows belong together, and what had to be assumed.

Also what a file calls each contest beside its identifier (British Grand Prix, where the column of contests says 833),
and how far each entrant came: a column of laps, kilometres or stages, as a part of what the winner did.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    NATIONS,
    ORDER_COLUMNS,
    find_columns,
    find_contest_columns,
    listed,
    needed_columns,
    plain_name,
    with_one_key,
)
from kinelo.matches.contest_doubts import (
    TEAM_HEADERS,
    ask_about_places,
    ask_about_unfinished,
    share_places,
    split_parts,
)
from kinelo.matches.contest_outcomes import cells_of_outcome, note_odd_words, read_endings, read_outcomes
from kinelo.matches.contests import FINISHED
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.matches.names import as_text, could_be_names, encode_names, read_numbers, without_stand_ins
from kinelo.matches.rows import ContestOptions, ContestRows, listed_names, with_group
from kinelo.matches.same_side import DIVISIONS, likely_entrants, note_of_likely
from kinelo.matches.shapes import fill_blocks, from_wide_sheet
from kinelo.matches.words import LAST

SAME_CONTEST = np.timedelta64(31, "D")
"""Rows of one contest id that lie further apart are of different contests: ids repeat from season to season."""

SAME_ENTRANTS = 1.25
"""Days with an entrant under one name, for each entrant, from which on each day has a contest of its own."""

MOST = 0.5
"""Share of contests from which on a column that differs between their entrants says nothing of contests."""

FIRST_PLACE = r"^\D{0,2}0*1(\D|$)"
NEARLY_ALL = 0.9
"""Share of contests, or of their years, with one first place from which on years are those of entrants, or seasons."""

SEASON = r"\b(1[789]\d\d|2[01]\d\d)(?:\D|$)"


def interpret_contests(opened: Opened, options: ContestOptions, name: str) -> ContestRows:
    """Read every column of a long table and mark the rows that cannot be used."""
    long = from_wide_sheet(opened, options.columns, options.played) or opened
    table, columns = with_one_key(long.table, options.columns)
    column_of = find_contest_columns(table.columns, columns)
    helping = [column for named in options.advantages.values() for column in named]
    if column_of.get("weight") in helping and "weight" not in (columns or {}):
        column_of.pop("weight")  # what a horse carries is not how much its race counts
    needed_columns(column_of, table.columns, name, options.played)
    if plain_name(column_of.get("status", "")) in ("state", "estado", "outcome") and "status" not in (columns or {}):
        ended, said = read_endings(table[column_of["status"]], options.endings)
        if (ended[said] >= FINISHED).mean() < MOST if said.any() else True:
            del column_of["status"]  # where somebody comes from
    notes = list(long.notes)
    order = find_columns(table.columns, {"round": ORDER_COLUMNS["round"]}, None)
    blocks = [column_of[key] for key in ("date", "contest", "season", "title") if key in column_of]
    table = fill_blocks(table, dict.fromkeys([*blocks, *order.values()]), notes)
    n = table.height
    team = _column(table, options.team, "team=") if options.team else column_of["entrant"]
    (entrant,), entrants = encode_names(table[team])
    rows = ContestRows(
        table, column_of, options, entrant, entrants, _read_slots(table, column_of, options), np.zeros(n, np.int8),
        notes, np.zeros(n, "datetime64[D]"), np.full(n, -1), np.full(n, np.nan),
        np.zeros(n, np.int8), np.ones(n), row=np.arange(n) if long.rows is None else long.rows,
    )  # fmt: skip
    rows.begin(long.broken, rows.entrant < 0)
    rows.kind = next((kind for kind in ("place", "score", "time") if kind in column_of), "")
    _check_season(rows)
    _read_days(rows)
    _group(rows)
    _read_weight(rows)
    _check_names(rows)
    cells = cells_of_outcome(rows)
    if cells is not None:
        split_parts(rows, cells)
    read_titles(rows)
    if cells is not None:
        read_outcomes(rows, cells)
        read_distances(rows)
        ask_about_places(rows)
        ask_about_unfinished(rows)
        note_odd_words(rows)
    else:
        rows.notes.append("there is no place, score or time: these contests have not taken place yet")
    good = np.flatnonzero(rows.good)
    day = rows.date[good].view(np.int64) if "date" in column_of else None
    if likely := likely_entrants(rows.entrants, rows.entrant[good], rows.contest[good], day):
        rows.notes.append(note_of_likely(likely, "entrant"))
    return rows


def _column(table: pl.DataFrame, column: object, said: str) -> str:
    if column not in table.columns:
        raise InputError(f"{said} names {column!r:.60}, but the columns are {listed(table.columns)}.")
    return str(column)


def _read_slots(table: pl.DataFrame, found: dict[str, str], options: ContestOptions) -> dict:
    """Codes of what is rated, by kind; team-mates in several columns share the names of their kind."""
    wanted = options.slots or {found["entrant"]: (found["entrant"],)}
    both = [kind for kind in options.advantages if kind in wanted]
    if both:
        raise InputError(f"{both[0]!r:.60} is named among slots= and advantages=; it is one or the other.")
    slots = {}
    for kind, columns in (*wanted.items(), *options.advantages.items()):
        said = "advantages=" if kind in options.advantages else "slots="
        series = [table[_column(table, column, said)] for column in columns]
        codes, names = encode_names(*series)
        slots[kind] = np.stack(codes, axis=1), names
    return slots


def _check_names(rows: ContestRows) -> None:
    rows.reject(rows.entrant < 0, "missing entrant")
    rated = [kind for kind in rows.slots if kind not in rows.options.advantages]
    if "group" in rows.found:
        (level,), levels = encode_names(rows.table[rows.found["group"]])
        (rows.entrant,), rows.entrants = with_group([rows.entrant], rows.entrants, level, levels)
        for kind in rated[:1]:
            codes, names = with_group(list(rows.slots[kind][0].T), rows.slots[kind][1], level, levels)
            rows.slots[kind] = np.stack(codes, axis=1), names
    (entrants, rows.entrants), *slots = rows.rename(
        ([rows.entrant], rows.entrants), *((list(codes.T), names) for codes, names in rows.slots.values())
    )
    [rows.entrant] = entrants
    rows.slots = {kind: (np.stack(codes, axis=1), names) for kind, (codes, names) in zip(rows.slots, slots)}
    _check_stand_ins(rows)
    for kind in rated:
        rows.reject(rows.slots[kind][0].max(axis=1) < 0, "missing slot")
    for names in dict.fromkeys((rows.entrants, *(names for _, names in rows.slots.values()))):
        rows.note_spelling(names)
    note_namesakes(rows)


def _check_stand_ins(rows: ContestRows) -> None:
    """Set rows aside whose name stands for none; NULL or None is a name where it is in no contest twice."""
    named = without_stand_ins(rows.entrants)
    if named.all():
        return
    there = rows.good & (rows.contest >= 0)
    pairs, number = np.unique(np.stack([rows.entrant[there], rows.contest[there]]), axis=1, return_counts=True)
    twice = np.zeros(len(rows.entrants) + 1, bool)
    twice[pairs[0][number > 1]] = True
    handles = ~named & could_be_names(rows.entrants) & ~twice[:-1]
    rows.note_handles(rows.entrants, handles)
    rows.reject(~np.append(named | handles, True)[rows.entrant], "a name that stands for none")


def _read_days(rows: ContestRows) -> None:
    """Days from their column; without one a season gives the year, as far as it does for all."""
    if "date" in rows.found or "season" not in rows.found:
        rows.read_days()
        return
    column = rows.found["season"]
    year = read_numbers(as_text(rows.table[column]).str.extract(SEASON, 1))
    if not np.isfinite(year[rows.good]).all() or not rows.good.any():
        rows.read_days()
        return
    first = (np.nan_to_num(year, nan=1970.0).astype(np.int64) - 1970).astype("datetime64[Y]")
    rows.date = first.astype("datetime64[D]")
    rows.notes.append(f"there is no date column: {column!r} gives the year of each contest")


def _check_season(rows: ContestRows) -> None:
    """Leave out a year that says something of entrants, as that of their birth does, and nothing of contests."""
    if "season" not in rows.found or "contest" not in rows.found or rows.named("season"):
        return
    column = rows.found["season"]
    keys = ("contest", "season", "date", "entrant", "place")
    table = pl.DataFrame({key: as_text(rows.table[rows.found[key]]) for key in keys if key in rows.found})
    table = table.filter(pl.Series(rows.good)).drop_nulls([key for key in table.columns if key != "place"])
    of_contests = table.group_by(pl.col("^contest|date$")).agg(pl.col("season").n_unique(), pl.len())
    several = of_contests.filter(pl.col("len") > 1)["season"] > 1
    of_entrants = table.group_by("entrant").agg(pl.col("season").n_unique())["season"]
    alone = not table.select(pl.col("^contest|date|entrant$")).is_duplicated().any()
    if "date" in rows.found:
        birth = several.len() > 0 and float(several.mean() or 0.0) > MOST  # type: ignore[arg-type]
    else:
        birth = bool(several.any()) and alone and of_entrants.max() == 1 and _are_born_in(column, table)
    if birth:
        rows.notes.append(
            f"{column!r} differs between the entrants of one contest: it says something of them, is no season, and was "
            f"not used; columns={{'season': {column!r}}} makes it one"
        )
        del rows.found["season"]


def _are_born_in(column: str, table: pl.DataFrame) -> bool:
    """Whether years are those in which entrants were born, where nobody is in two of them and no date tells.

    A season of a contest has its own first place, and more than one entrant; a year of birth has neither.
    """
    if column.strip().casefold() != "year":
        return False
    place = table["place"] if "place" in table.columns else pl.Series(values=[None] * table.height, dtype=pl.String)
    table = table.with_columns(won=place.str.contains(FIRST_PLACE).fill_null(False))
    groups = table.group_by("contest", "season").agg(pl.len(), pl.col("won").any())
    contests = groups.group_by("contest").agg(pl.col("won").sum()).filter(pl.col("won") > 0)
    if contests.height:
        if (contests["won"] == 1).mean() >= NEARLY_ALL:  # type: ignore[operator]
            return True
        if groups["won"].mean() >= NEARLY_ALL:  # type: ignore[operator]
            return False
    elif (groups["len"] == 1).mean() > MOST:  # type: ignore[operator]
        return True
    raise InputError(
        f"{column!r} may be the season of contests or the year in which entrants were born: there are no dates, and "
        f"nobody is in two of them. Say columns={{'season': {column!r}}} where it is the "
        "season, or call the column 'born'."
    )


def _read_weight(rows: ContestRows) -> None:
    """How much each contest counts; what each entrant carries is something else."""
    if "weight" in rows.found:
        column = rows.found["weight"]
        table = pl.DataFrame({"contest": rows.contest, "weight": as_text(rows.table[column])})
        table = table.filter(pl.Series(rows.good & (rows.contest >= 0))).drop_nulls()
        of_contests = table.group_by("contest").agg(pl.col("weight").n_unique(), pl.len())
        several = of_contests.filter(pl.col("len") > 1)["weight"] > 1
        if not rows.named("weight") and several.len() and float(several.mean() or 0.0) > MOST:  # type: ignore[arg-type]
            rows.notes.append(
                f"{column!r} differs between the entrants of one contest: it does not say how much a contest counts, "
                f"and was not used; columns={{'weight': {column!r}}} counts the largest"
            )
            del rows.found["weight"]
            return
        rows.weight = read_numbers(rows.table[column])
        if several.any():
            number = int(several.sum())
            within = "1 contest" if number == 1 else f"{number:,} contests"
            rows.notes.append(f"{column!r} differs within {within}: the largest of each counts")
        rows.reject(~((rows.weight >= 0) & (rows.weight <= LARGEST_WEIGHT)), "impossible weight")


def _group(rows: ContestRows) -> None:
    """Number the contests: by their id (and season), apart where its dates lie apart, else by day."""
    column_of, table = rows.found, rows.table
    if "contest" in column_of:
        (codes,), keys = encode_names(table[column_of["contest"]])
        rows.reject(codes < 0, "missing contest")
        if "season" in column_of:
            season = as_text(table[column_of["season"]]).str.strip_chars().fill_null("?")
            both = season + " " + pl.Series([*keys, ""]).gather(np.where(codes < 0, len(keys), codes))
            (codes,), keys = encode_names(both.set(pl.Series(codes < 0), None))
    else:
        (codes,), keys = encode_names(pl.Series(rows.date.astype(str)).set(pl.Series(np.isnat(rows.date)), None))
        rows.notes.append("there is no column of contests: rows of one day are one contest")
    contest = codes.astype(np.int64)
    if "date" in column_of and "contest" in column_of and rows.good.any():
        contest, keys = _split_by_date(rows, contest, keys)
    rows.contest, rows.identifiers = contest, tuple(keys)


def _split_by_date(rows: ContestRows, contest: np.ndarray, keys: tuple[str, ...]) -> tuple[np.ndarray, list[str]]:
    """Contests whose rows lie more than a month apart, or whose entrants return from day to day as in Race 1 of every
    day, are several, each named with its day.
    """
    good = np.flatnonzero(rows.good)
    order = good[np.lexsort((rows.date[good], contest[good]))]
    same = contest[order][1:] == contest[order][:-1]
    gap = np.diff(rows.date[order])
    far = same & (gap > SAME_CONTEST)
    days = same & (gap > np.timedelta64(0, "D")) & ~far
    daily = days & _same_entrants(rows, order, np.concatenate([[0], np.cumsum(~same | far)]))[1:]
    apart = far | daily
    if (days & ~daily).any():
        number = np.unique(contest[order][1:][days & ~daily]).size
        rows.notes.append(f"{number:,} contests have rows of several days: each is dated by its last day")
    if not apart.any():
        return contest, list(keys)
    rows.events = np.full(contest.size, -1)
    rows.events[order] = np.concatenate([[0], np.cumsum(~same | far)])
    split = np.concatenate([[0], np.cumsum(~same | apart)])
    new = np.full(contest.size, -1)
    new[order] = split
    begins = order[np.flatnonzero(np.concatenate([[True], ~same | apart]))]
    often = np.zeros(len(keys), bool)
    often[contest[order][1:][apart]] = True
    names = [f"{keys[c]} on {rows.date[k]}" if often[c] else keys[c] for k, c in zip(begins, contest[begins])]
    month = f"after more than {int(SAME_CONTEST.astype(int))} days"
    for returns, how in ((far, month), (daily, "on other days with the same entrants")):
        number = np.unique(contest[order][1:][returns]).size
        if number:
            named = "1 name of a contest returns" if number == 1 else f"{number:,} names of contests return"
            rows.notes.append(f"{named} {how}: each time counts as a contest of its own")
    return new, names


def _same_entrants(rows: ContestRows, order: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Which rows, in this order, belong to a run of days on which the same entrants return."""
    table = pl.DataFrame({"run": run, "entrant": rows.entrant[order], "day": rows.date[order]})
    entrants = table.unique(["run", "entrant"])["run"].to_numpy()
    entries = table.unique()["run"].to_numpy()
    size = int(run.max(initial=0)) + 1
    return (np.bincount(entries, minlength=size) >= SAME_ENTRANTS * np.bincount(entrants, minlength=size))[run]


def read_titles(rows: ContestRows) -> None:
    """Read the titles, after contests are numbered; ``found`` loses a column that does not name contests.

    It does where it says one thing of each contest, and no two contests of one day have the same title.
    """
    column = rows.found.get("title")
    if column is None:
        return
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    there = rows.good & (rows.contest >= 0)
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    table = pl.DataFrame({"contest": rows.contest, "title": text, "date": rows.date}).filter(pl.Series(there))
    table = table.filter(pl.col("title") != "").group_by("contest").agg(
        pl.col("title").first(), pl.col("title").n_unique().alias("titles"), pl.col("date").max()
    )  # fmt: skip
    asked = "title" in (rows.options.columns or {})
    names_contests = table.height > 0 and table["titles"].max() == 1
    names_contests &= asked or not table.select("title", "date").is_duplicated().any()
    if any(column in columns for columns in kinds) or not names_contests:
        if asked:
            rows.notes.append(f"{column!r} differs between rows of one contest, so that it names no contest")
        del rows.found["title"]
        return
    titles = np.array(rows.identifiers, object)
    titles[table["contest"].to_numpy()] = table["title"].to_numpy()
    rows.titles = tuple(titles.tolist())


def read_distances(rows: ContestRows) -> None:
    """Read how far each came, after the outcome; ``found`` loses a column that turns out to say something else."""
    column = rows.found.get("distance")
    rated = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    if column is None:
        return
    if any(column in columns for columns in rated) and "distance" not in (rows.options.columns or {}):
        del rows.found["distance"]
        return
    there = rows.good & (rows.contest >= 0)
    came = _distances(rows, column, there)
    whole = _of_winners(rows, came, there)[rows.contest]
    retired = there & (rows.ended > FINISHED) & (rows.ended != LAST) & np.isfinite(came)
    lost = retired & ~(whole > 0.0)
    if lost.any():
        number = np.unique(rows.contest[lost]).size
        rows.notes.append(
            f"{number:,} {'contest has' if number == 1 else 'contests have'} no {column!r} of anybody who finished: "
            "how far the others came is unknown"
        )
    part = np.where(whole > 0.0, came / np.where(whole > 0.0, whole, 1.0), np.nan)
    told = retired & ~lost
    if told.any() and (part[told] == 1.0).all():
        rows.notes.append(
            f"{column!r} is the same for who finished and who did not: it is how long a contest is, not how far each "
            "came, and was not used"
        )
        del rows.found["distance"]
        return
    if told.any():
        rows.notes.append(f"{column!r} says how far who did not finish came, as a part of what the winner did")
    _note_longer(rows, column, there & (part > 1.0))
    rows.distance = np.minimum(part, 1.0)


def _distances(rows: ContestRows, column: str, there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distances from 0 on, NaN where there is none; cells that are no distance are noted."""
    came = np.array(read_numbers(rows.table[column], rows.notes))
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    wrong = there & ~((came >= 0.0) & (came < np.inf)) & (text != "").to_numpy()
    if wrong.any():
        shown = text[int(np.flatnonzero(wrong)[0])]
        cells = "cell is" if wrong.sum() == 1 else "cells are"
        rows.notes.append(
            f"{int(wrong.sum()):,} {cells} no distance in {column!r}, such as {shown!r:.40}: how far these "
            "entries came is unknown"
        )
    return np.where((came >= 0.0) & (came < np.inf), came, np.nan)


def _of_winners(rows: ContestRows, came: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distance of the best of each contest (contests, and NaN for none); of who finished, the first who has one."""
    whole = np.full(len(rows.identifiers) + 1, np.nan)
    known = np.flatnonzero(there & (rows.ended == FINISHED) & np.isfinite(rows.value) & np.isfinite(came))
    order = known[np.lexsort((-came[known], rows.value[known], rows.contest[known]))]
    contest, at = np.unique(rows.contest[order], return_index=True)
    whole[contest] = came[order[at]]
    return whole


def _note_longer(rows: ContestRows, column: str, longer: NDArray[np.bool_]) -> None:
    if not longer.any():
        return
    row, number = int(np.flatnonzero(longer)[0]), int(longer.sum())
    name = rows.entrants[rows.entrant[row]]
    rows.notes.append(
        f"{number:,} {'entry' if number == 1 else 'entries'} came further in {column!r} than the winner, such as "
        f"{name} in row {row + 1:,}; that counts as all the way"
    )


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
