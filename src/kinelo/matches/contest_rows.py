"""From a long table to rows of contests: names, dates, which rows belong together, and what had to be assumed.

Also what a file calls each contest beside its identifier (British Grand Prix, where the column of contests says 833),
and how far each entrant came: a column of laps, kilometres or stages, as a part of what the winner did.
"""

from __future__ import annotations

from itertools import chain
from operator import itemgetter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    MEETS,
    NATIONS,
    ORDER_COLUMNS,
    PARTS,
    ROUNDS,
    find_columns,
    find_contest_columns,
    listed,
    plain_name,
    with_one_key,
)
from kinelo.matches.contest_outcomes import (
    LEAST_PLACED,
    Cells,
    ask_about_places,
    ask_about_unfinished,
    note_odd_words,
    read_endings,
    read_outcome_cells,
    read_outcomes,
)
from kinelo.matches.contests import FINISHED
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.matches.names import as_text, encode_names, read_numbers
from kinelo.matches.rows import ContestOptions, ContestRows, fill_blocks, listed_names, with_group
from kinelo.matches.same_side import DIVISIONS, likely_entrants, note_of_likely
from kinelo.matches.shapes import from_wide_sheet
from kinelo.matches.words import LAST
from kinelo.presentation import counted

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
TIMES = (*ORDER_COLUMNS["time"], "off")
"""Columns of times of day; a horse race is off at 14:35, while in tables of matches `off` counts attacks."""

SOME = 0.05
FEW_DIFFERENT = 0.67
"""Different places for each entry, below which places repeat throughout, as in heats."""

REST_DAYS = 2
"""Days between rounds of one event, at most."""

FURTHER_SLOTS = ("constructor", "car", "horse", "jockey", "codriver", "chassis", "engine", "boat", "crew", "trainer")
"""Columns that could be rated beside the entrant; they are named in a note."""

CIRCUMSTANCES = (
    "track", "tracktype", "circuit", "circuittype", "surface", "course", "racecourse", "venue", "weather", "going",
    "terrain", "format", "discipline", "length", "strecke", "pista", "piste", "circuito",
)  # fmt: skip
"""Columns on which the part of luck may depend, where they say one thing of each contest."""

LEAST_CONTESTS = 5
"""Contests for each level, on average, from which on a circumstance is worth asking about."""

TEAM_HEADERS = (
    "team", "teamid", "teamname", "squad", "squadid", "group", "party", "crew", "mannschaft", "equipe", "squadra",
)  # fmt: skip
"""Columns that may say which rows play together."""


def read_contest_rows(opened: Opened, options: ContestOptions, name: str) -> ContestRows:
    """Read every column of a long table and mark the rows that cannot be used."""
    table, columns = with_one_key(opened.table, options.columns)
    column_of = find_contest_columns(table.columns, columns)
    if not {"contest", "date"} & column_of.keys() and (wide := from_wide_sheet(opened, columns, options.played)):
        opened, table = wide, wide.table
        column_of = find_contest_columns(table.columns, columns)
    order = find_columns(table.columns, ORDER_COLUMNS | {"time": TIMES}, None)
    _check_columns(table, column_of, options, name)
    notes = list(opened.notes)
    blocks = [column_of[key] for key in ("date", "contest", "season", "title") if key in column_of]
    blocks += [order["round"]] if "round" in order else []
    table = fill_blocks(table, dict.fromkeys(blocks), notes)
    if options.team is not None and options.team not in table.columns:
        raise InputError(f"team= names {options.team!r:.60}, but the columns are {listed(table.columns)}.")
    (entrant,), entrants = encode_names(table[options.team or column_of["entrant"]])
    slots = _read_slots(table, column_of, options)
    measure = next((key for key in ("place", "score", "time") if key in column_of), "")
    if measure:
        column_of["outcome"] = column_of[measure]
    named = (*options.slots.values(), *options.advantages.values(), (options.team or column_of["entrant"],))
    n = table.height
    rows = ContestRows(
        table, column_of, order, options, entrant, entrants, slots, {*chain(*named)}, measure, notes,
        np.zeros(n, "datetime64[D]"), np.full(n, -1), np.full(n, np.nan), np.zeros(n, np.int8), np.ones(n),
        np.zeros(n, np.int8), np.arange(n) if opened.rows is None else opened.rows,
    )  # fmt: skip
    rows.begin(opened.broken, rows.entrant < 0)
    if "season" in column_of and "contest" in column_of and "season" not in options.columns:
        _check_season(rows)
    if "date" in column_of or "season" not in column_of or not _years_from_seasons(rows):
        rows.read_days()
    _number_contests(rows)
    if "weight" in column_of:
        _read_weight(rows)
    _check_names(rows)
    cells = read_outcome_cells(rows)
    if cells is not None:
        split_parts(rows, cells)
    if "title" in column_of:
        _read_titles(rows)
    if cells is not None:
        read_outcomes(rows, cells)
        if "distance" in column_of:
            _read_distances(rows)
        ask_about_places(rows)
        ask_about_unfinished(rows)
        note_odd_words(rows)
    else:
        rows.notes.append("there is no place, score or time: these contests have not taken place yet")
    good = np.flatnonzero(rows.fault == 0)
    day = rows.date[good].view(np.int64) if "date" in column_of else None
    if likely := likely_entrants(rows.entrants, rows.entrant[good], rows.contest[good], day):
        rows.notes.append(note_of_likely(likely, "entrant"))
    return rows


def _check_columns(table: pl.DataFrame, column_of: dict[str, str], options: ContestOptions, name: str) -> None:
    """Refuse a table that lacks what makes a contest, and leave out columns that say something else of entrants."""
    lacks = ""
    if "entrant" not in column_of:
        lacks = "no column of entrants; name it with columns={'entrant': ...}"
    elif "contest" not in column_of and "date" not in column_of:
        lacks = (
            "neither contests nor dates, so that nothing tells which rows belong together; name a column with "
            "columns={'contest': ...}"
        )
    elif options.played and not {"place", "score", "time"} & column_of.keys():
        lacks = "no places, scores or times; name one with columns={'place': ...} (or 'score', 'time')"
    if lacks:
        raise InputError(f"{name} has {lacks}, its columns are {listed(table.columns)}.")
    if column_of.get("weight") in {*chain(*options.advantages.values())} and "weight" not in options.columns:
        column_of.pop("weight")  # what a horse carries is not how much its race counts
    if plain_name(column_of.get("status", "")) in ("state", "estado", "outcome") and "status" not in options.columns:
        ended, says = read_endings(table[column_of["status"]], options.endings)
        if (ended[says] >= FINISHED).mean() < MOST if says.any() else True:
            del column_of["status"]  # where somebody comes from


def _read_slots(table: pl.DataFrame, found: dict[str, str], options: ContestOptions) -> dict:
    """Codes of what is rated, by kind of slot; team-mates in several columns share the names of their kind."""
    wanted = options.slots or {found["entrant"]: (found["entrant"],)}
    both = [slot for slot in options.advantages if slot in wanted]
    if both:
        raise InputError(f"{both[0]!r:.60} is named among slots= and advantages=; it is one or the other.")
    slots = {}
    for argument, several in (("slots", wanted), ("advantages", options.advantages)):
        for slot, columns in several.items():
            if missing := [column for column in columns if column not in table.columns]:
                raise InputError(f"{argument}= names {missing[0]!r:.60}, but the columns are {listed(table.columns)}.")
            codes, names = encode_names(*(table[column] for column in columns))
            slots[slot] = np.stack(codes, axis=1), names
    return slots


def _check_names(rows: ContestRows) -> None:
    """Set rows without a name aside, join names by aliases, and say which may be one, or two."""
    rated = [slot for slot in rows.slots if slot not in rows.options.advantages]
    rows.reject(rows.entrant < 0, "missing entrant")
    if "group" in rows.found:
        group = rows.table[rows.found["group"]]
        (rows.entrant,), rows.entrants = with_group([rows.entrant], rows.entrants, group)
        for slot in rated[:1]:
            codes, names = with_group(list(rows.slots[slot][0].T), rows.slots[slot][1], group)
            rows.slots[slot] = np.stack(codes, axis=1), names
    if rows.options.aliases:
        spelt = [(list(codes.T), names) for codes, names in rows.slots.values()]
        ((rows.entrant,), rows.entrants), *slots = rows.rename(([rows.entrant], rows.entrants), *spelt)
        rows.slots = {slot: (np.stack(codes, axis=1), names) for slot, (codes, names) in zip(rows.slots, slots)}

    def plays(code: int) -> bool:  # in no contest twice
        contests = rows.contest[(rows.entrant == code) & (rows.fault == 0) & (rows.contest >= 0)]
        return np.unique(contests).size == contests.size

    rows.check_stand_ins(rows.entrants, [rows.entrant], plays)
    for slot in rated:
        rows.reject(rows.slots[slot][0].max(axis=1) < 0, "missing slot")
    for names in dict.fromkeys((rows.entrants, *map(itemgetter(1), rows.slots.values()))):
        rows.note_spelling(names)
    if "group" in rows.found:
        return
    # Names that stand under two nations, or in two divisions, may be two.
    used = {*rows.found.values(), *rows.rated}
    for column in rows.table.columns:
        if column in used or plain_name(column) not in (*NATIONS, *DIVISIONS):
            continue
        (level,), levels = encode_names(rows.table[column])
        there = (rows.fault == 0) & (level >= 0) & (rows.entrant >= 0)
        pairs = np.unique(np.stack([rows.entrant[there], level[there]]), axis=1)[0]
        codes = np.flatnonzero(np.bincount(pairs, minlength=len(rows.entrants)) > 1)
        if codes.size:
            first = [levels[k] for k in np.unique(level[there & (rows.entrant == codes[0])])[:3]]
            rows.notes.append(
                f"{counted(codes.size, 'name stands', 'names stand')} under more than one {column!r} and "
                f"{'counts as one' if codes.size == 1 else 'count as one each'}: "
                f"{listed_names([rows.entrants[k] for k in codes[:3]], 2)} ({', '.join(first)}); say "
                f"columns={{'group': {column!r}}} if they are different"
            )


def _years_from_seasons(rows: ContestRows) -> bool:
    """Whether a season gives the year of each contest, where no column gives its day; then it is its first day."""
    column, good = rows.found["season"], rows.fault == 0
    year = read_numbers(as_text(rows.table[column]).str.extract(SEASON, 1))
    if not good.any() or not np.isfinite(year[good]).all():
        return False
    first = (np.nan_to_num(year, nan=1970.0).astype(np.int64) - 1970).astype("datetime64[Y]")
    rows.date = first.astype("datetime64[D]")
    rows.notes.append(f"there is no date column: {column!r} gives the year of each contest")
    return True


def _check_season(rows: ContestRows) -> None:
    """Leave out a year that says something of entrants, as that of their birth does, and nothing of contests."""
    column = rows.found["season"]
    keys = ("contest", "season", "date", "entrant", "place")
    table = pl.DataFrame({key: as_text(rows.table[rows.found[key]]) for key in keys if key in rows.found})
    table = table.filter(pl.Series(rows.fault == 0)).drop_nulls([key for key in table.columns if key != "place"])
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
    column = rows.found["weight"]
    table = pl.DataFrame({"contest": rows.contest, "weight": as_text(rows.table[column])})
    table = table.filter(pl.Series((rows.fault == 0) & (rows.contest >= 0))).drop_nulls()
    of_contests = table.group_by("contest").agg(pl.col("weight").n_unique(), pl.len())
    several = of_contests.filter(pl.col("len") > 1)["weight"] > 1
    if "weight" not in rows.options.columns and several.len() and float(several.mean() or 0.0) > MOST:  # type: ignore[arg-type]
        rows.notes.append(
            f"{column!r} differs between the entrants of one contest: it does not say how much a contest counts, "
            f"and was not used; columns={{'weight': {column!r}}} counts the largest"
        )
        del rows.found["weight"]
        return
    rows.weight = read_numbers(rows.table[column])
    if number := int(several.sum()):
        within = counted(number, "contest", "contests")
        rows.notes.append(f"{column!r} differs within {within}: the largest of each counts")
    rows.reject(~((rows.weight >= 0) & (rows.weight <= LARGEST_WEIGHT)), "impossible weight")


def _number_contests(rows: ContestRows) -> None:
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
    rows.contest, rows.identifiers = codes.astype(np.int64), keys
    good, contest = np.flatnonzero(rows.fault == 0), rows.contest
    if "date" not in column_of or "contest" not in column_of or not good.size:
        return
    # Contests whose rows lie more than a month apart, or whose entrants return from day to day as in Race 1 of every
    # day, are several, each named with its day.
    order = good[np.lexsort((rows.date[good], contest[good]))]
    same = contest[order][1:] == contest[order][:-1]
    gap = np.diff(rows.date[order])
    far = same & (gap > SAME_CONTEST)
    days = same & (gap > np.timedelta64(0, "D")) & ~far
    # Runs of days: do the same entrants return on them?
    run = np.concatenate([[0], np.cumsum(~same | far)])
    runs = pl.DataFrame({"run": run, "entrant": rows.entrant[order], "day": rows.date[order]})
    entrants, entries = (
        np.bincount(part["run"].to_numpy(), minlength=int(run.max(initial=0)) + 1)
        for part in (runs.unique(["run", "entrant"]), runs.unique())
    )
    daily = days & (entries >= SAME_ENTRANTS * entrants)[run][1:]
    apart = far | daily
    if number := np.unique(contest[order][1:][days & ~daily]).size:
        several = counted(number, "contest has", "contests have")
        rows.notes.append(f"{several} rows of several days: {'it' if number == 1 else 'each'} is dated by its last day")
    if not apart.any():
        return
    rows.events = np.full(contest.size, -1)
    rows.events[order] = run
    rows.contest = np.full(contest.size, -1)
    rows.contest[order] = np.concatenate([[0], np.cumsum(~same | apart)])
    begins = order[np.flatnonzero(np.concatenate([[True], ~same | apart]))]
    often = np.zeros(len(keys), bool)
    often[contest[order][1:][apart]] = True
    rows.identifiers = tuple(
        f"{keys[c]} on {rows.date[k]}" if often[c] else keys[c] for k, c in zip(begins, contest[begins])
    )
    month = f"after more than {int(SAME_CONTEST.astype(int))} days"
    for returns, how in ((far, month), (daily, "on other days with the same entrants")):
        if number := np.unique(contest[order][1:][returns]).size:
            named = counted(number, "name of a contest returns", "names of contests return")
            rows.notes.append(f"{named} {how}: each time counts as a contest of its own")


def _read_titles(rows: ContestRows) -> None:
    """Read the titles, after contests are numbered; ``found`` loses a column that does not name contests.

    It does where it says one thing of each contest, and no two contests of one day have the same title.
    """
    column = rows.found["title"]
    there = (rows.fault == 0) & (rows.contest >= 0)
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    table = pl.DataFrame({"contest": rows.contest, "title": text, "date": rows.date}).filter(pl.Series(there))
    table = table.filter(pl.col("title") != "").group_by("contest").agg(
        pl.col("title").first(), pl.col("title").n_unique().alias("titles"), pl.col("date").max()
    )  # fmt: skip
    names_contests = table.height > 0 and table["titles"].max() == 1
    names_contests &= "title" in rows.options.columns or not table.select("title", "date").is_duplicated().any()
    if column in rows.rated or not names_contests:
        if "title" in rows.options.columns:
            rows.notes.append(f"{column!r} differs between rows of one contest, so that it names no contest")
        del rows.found["title"]
        return
    titles = np.array(rows.identifiers, object)
    titles[table["contest"].to_numpy()] = table["title"].to_numpy()
    rows.titles = tuple(titles.tolist())


def _read_distances(rows: ContestRows) -> None:
    """Read how far each came, after the outcome; ``found`` loses a column that turns out to say something else."""
    column = rows.found["distance"]
    if column in rows.rated and "distance" not in rows.options.columns:
        del rows.found["distance"]
        return
    there = (rows.fault == 0) & (rows.contest >= 0)
    came = np.array(read_numbers(rows.table[column], rows.notes))
    sound = (came >= 0.0) & (came < np.inf)
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    if (wrong := there & ~sound & (text != "").to_numpy()).any():
        cells = counted(int(wrong.sum()), "cell is", "cells are")
        rows.notes.append(
            f"{cells} no distance in {column!r}, such as {text[int(np.argmax(wrong))]!r:.40}: how far these entries "
            "came is unknown"
        )
    came = np.where(sound, came, np.nan)
    # What is all the way: the distance of the best of each contest, of who finished the first who has one.
    whole = np.full(len(rows.identifiers) + 1, np.nan)
    known = np.flatnonzero(there & (rows.ended == FINISHED) & np.isfinite(rows.value) & np.isfinite(came))
    order = known[np.lexsort((-came[known], rows.value[known], rows.contest[known]))]
    contest, at = np.unique(rows.contest[order], return_index=True)
    whole[contest] = came[order[at]]
    whole = whole[rows.contest]
    retired = there & (rows.ended > FINISHED) & (rows.ended != LAST) & np.isfinite(came)
    lost = retired & ~(whole > 0.0)
    if number := np.unique(rows.contest[lost]).size:
        rows.notes.append(
            f"{counted(number, 'contest has', 'contests have')} no {column!r} of anybody who finished: how far the "
            "others came is unknown"
        )
    part = np.where(whole > 0.0, came / np.where(whole > 0.0, whole, 1.0), np.nan)
    measured = retired & ~lost
    if measured.any() and (part[measured] == 1.0).all():
        rows.notes.append(
            f"{column!r} is the same for who finished and who did not: it is how long a contest is, not how far each "
            "came, and was not used"
        )
        del rows.found["distance"]
        return
    if measured.any():
        rows.notes.append(f"{column!r} says how far who did not finish came, as a part of what the winner did")
    if (longer := there & (part > 1.0)).any():
        row = int(np.argmax(longer))
        rows.notes.append(
            f"{counted(int(longer.sum()), 'entry', 'entries')} came further in {column!r} than the winner, such as "
            f"{rows.entrants[rows.entrant[row]]} in row {row + 1:,}; that counts as all the way"
        )
    rows.distance = np.minimum(part, 1.0)


def split_parts(rows: ContestRows, cells: Cells) -> None:
    """Part contests whose places repeat by the column that makes them unique, such as ``heat``; else ask."""
    if rows.options.team is not None:
        return
    value = np.where((cells.ended == FINISHED) & np.isfinite(cells.value), cells.value, np.nan)
    there = (rows.fault == 0) & (rows.contest >= 0) & np.isfinite(value)
    if not there.any():
        return
    for column in _unused_parts(rows, MEETS):
        # Contests of one name, on one day or on neighbouring ones, may stand under several meets.
        (level,), _ = encode_names(rows.table[column])
        table = pl.DataFrame({"contest": rows.contest, "level": level}).filter(pl.Series(there & (level >= 0)))
        if several := table.unique().group_by("contest").len().filter(pl.col("len") > 1).height:
            rows.contest, rows.identifiers = _split(rows, rows.contest, rows.identifiers, column)
            rows.order_columns = (*rows.order_columns, column)
            named = counted(several, "contest stands", "contests stand")
            rows.notes.append(f"{named} under more than one {column!r}: each is a contest of its own")
    parts = _unused_parts(rows, PARTS)
    if rows.measure != "place":
        if rows.events is not None and "contest" in rows.found:
            rounds = []
            for column in (column for column in parts if plain_name(column) in ROUNDS):
                # Does it number the days of events that last few days: rounds of golf, stages of a tour?
                (level,), _ = encode_names(rows.table[column])
                table = pl.DataFrame({"event": rows.events, "day": rows.date, "level": level})
                days = table.filter(pl.Series(there)).unique().sort("event", "day")
                gaps = days.select(pl.col("day").diff().over("event").dt.total_days()).to_series().drop_nulls()
                rounds += [column] if gaps.len() and gaps.max() <= REST_DAYS else []  # type: ignore[operator]
            _ask_about_rounds(rows, there, rows.events, rounds)
        _ask_about_rounds(rows, there, rows.contest, parts)
        return
    # Contests in which places repeat throughout: 1, 2, 1, 2; ties that skip places, as 1, 1, 3, 3, are none.
    table = pl.DataFrame({"contest": rows.contest, "place": value}).filter(pl.Series(there))
    places = table.group_by("contest").agg(
        pl.len().alias("n"), pl.col("place").n_unique().alias("different"), pl.col("place").max().alias("last"),
        (pl.col("place") == pl.col("place").min()).sum().alias("first"),
    )  # fmt: skip
    many = (places["n"] >= LEAST_PLACED) & (places["different"] <= FEW_DIFFERENT * places["n"]) & (places["first"] > 1)
    many &= places["last"] <= places["different"]
    if not many.any():
        return
    used: list[str] = []
    contest, keys, few = rows.contest, rows.identifiers, (1.0 - NEARLY_ALL) * there.sum()
    for column in parts:
        split, names = _split(rows, contest, keys, column)
        if _duplicates(split, value, there) < _duplicates(contest, value, there):
            contest, keys = split, names
            used.append(column)
        if used and _duplicates(contest, value, there) <= few:
            break
    if used and _duplicates(contest, value, there) <= few:
        table = pl.DataFrame({"contest": contest, "place": value}).filter(pl.Series(there))
        first = table.group_by("contest").agg(pl.col("place").min())["place"] == 1.0
        if float(first.mean() or 0.0) >= NEARLY_ALL:  # type: ignore[arg-type]
            before = f"{rows.found['contest']!r}" if "contest" in rows.found else "day"
            rows.contest, rows.identifiers = contest, keys
            rows.order_columns = (*rows.order_columns, *used)
            rows.notes.append(
                f"places repeat within one {before} and are unique within each {' and '.join(map(repr, used))}, which "
                "is a contest of its own"
            )
            return
    _ask_about_repeats(rows, value, there, places["contest"].filter(many).sort().to_numpy())


def _unused_parts(rows: ContestRows, words: tuple[str, ...]) -> list[str]:
    """Columns that may part contests, the likeliest first."""
    used = {*rows.found.values(), *rows.rated} - {rows.found.get("title")}
    names = {plain_name(column): column for column in rows.table.columns if column not in used}
    return [names[word] for word in words if word in names]


def _split(
    rows: ContestRows, contest: NDArray[np.int64], keys: tuple[str, ...], column: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    (level,), levels = encode_names(rows.table[column])
    pairs, code = np.unique(np.stack([contest, level]), axis=1, return_inverse=True)
    names = tuple(f"{keys[c] if c >= 0 else ''} {levels[k] if k >= 0 else ''}".strip() for c, k in pairs.T.tolist())
    return np.where(contest < 0, -1, code.ravel()), names


def _duplicates(contest: NDArray[np.int64], value: NDArray[np.float64], there: NDArray[np.bool_]) -> int:
    """Entries that have the place of an earlier one of their contest."""
    table = pl.DataFrame({"contest": contest, "place": value}).filter(pl.Series(there))
    return table.height - table.unique().height


def _ask_about_repeats(
    rows: ContestRows, value: NDArray[np.float64], there: NDArray[np.bool_], repeated: NDArray[np.int64]
) -> None:
    """Ask about the contests in which places repeat, unless rows of one team, in some column, share theirs."""
    if rows.options.best is not None:
        return
    for column in rows.table.columns:
        teams = plain_name(column) in TEAM_HEADERS and column != rows.found["entrant"]
        if teams and _share_places(rows, column, value, there):
            return
    contests, number, first = np.unique(rows.contest[there]).size, repeated.size, int(repeated[0])
    shown = ", ".join(f"{place:g}" for place in value[there & (rows.contest == first)][:6])
    key = rows.found.get("contest", rows.found.get("date"))
    if number > MOST * contests:
        raise InputError(
            f"Places repeat throughout in {number:,} of {counted(contests, 'contest', 'contests')} "
            f"({rows.identifiers[first]!r:.60}: {shown}, …). If they are heats, classes or races of one day, name the "
            f"columns that part them with columns={{'contest': [{key!r}, ...]}}; if they are ties, say best='lowest'."
        )
    if number > SOME * contests:  # fewer are a shared drive, a slip
        rows.notes.append(
            f"in {counted(number, 'contest', 'contests')} places repeat as in heats "
            f"({rows.identifiers[first]!r:.60}: {shown}, …): they count as ties; columns={{'contest': [{key!r}, "
            "...]} parts them"
        )


def _ask_about_rounds(
    rows: ContestRows, there: NDArray[np.bool_], contest: NDArray[np.int64], parts: list[str]
) -> None:
    """Ask whether rounds of one event are contests or parts of a total, where entrants stand in each of them."""
    if not parts:
        return
    table = pl.DataFrame({"contest": contest, "entrant": rows.entrant}).filter(pl.Series(there))
    sizes = table.group_by("contest").agg(pl.len().alias("n"), pl.col("entrant").n_unique().alias("different"))
    many = (sizes["n"] >= LEAST_PLACED) & (sizes["different"] <= FEW_DIFFERENT * sizes["n"])
    if float(many.mean() or 0.0) <= MOST:  # type: ignore[arg-type]
        return  # most entrants stand once in most contests
    for column in parts:
        split, _ = _split(rows, contest, ("",) * (int(contest.max()) + 1), column)
        table = pl.DataFrame({"contest": split, "entrant": rows.entrant}).filter(pl.Series(there))
        if table.unique().height >= NEARLY_ALL * table.height:
            key = rows.found.get("contest", rows.found.get("date"))
            raise InputError(
                f"Each entrant stands once in every {column!r} of one {key!r}: say columns={{'contest': [{key!r}, "
                f"{column!r}]}} if each is a contest of its own; if "
                "the total counts, hand over one row with the total for each entrant."
            )


def _share_places(rows: ContestRows, column: str, value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether rows of one contest with the same entry in a column, several of each, have the same place."""
    table = pl.DataFrame({"contest": rows.contest, "team": as_text(rows.table[column]), "value": value})
    table = table.filter(pl.Series(there)).drop_nulls("team").drop_nans("value")
    teams = table.group_by("contest", "team").agg(pl.len(), pl.col("value").n_unique())
    return bool(teams.height and (teams["len"] > 1).mean() > 0.5 and teams["value"].max() == 1)  # type: ignore[operator]


def note_unused(rows: ContestRows) -> None:
    """Name the columns that were not used, and say what some of them are good for."""
    measures = [key for key in ("place", "score", "time") if key in rows.found]
    used = {column for key, column in rows.found.items() if key not in measures[1:]}
    used |= {*rows.order_columns, *rows.rated}
    unused = [column for column in rows.table.columns if column not in used]
    if unused:
        rows.notes.append(f"columns that were not used: {listed(unused)}")
    good = rows.fault == 0
    teams = next((column for column in unused if plain_name(column) in TEAM_HEADERS), None)
    if teams is not None and good.any() and _share_places(rows, teams, rows.value, good):
        rows.notes.append(
            f"rows of one {teams!r} share their places: team={teams!r} makes them one entrant whose members are rated"
        )
    for column in (column for column in unused if plain_name(column) in CIRCUMSTANCES):
        # Luck may differ by a circumstance of contests that returns.
        table = pl.DataFrame({"contest": rows.contest, "level": as_text(rows.table[column])})
        levels = table.filter(pl.Series(good & (rows.contest >= 0))).drop_nulls().unique()
        number = levels["level"].n_unique()
        if number > 1 and levels["contest"].is_unique().all() and levels.height >= LEAST_CONTESTS * number:
            rows.notes.append(
                f"luck may differ by {column!r}: advantages=[{column!r}] and RankElo(noise_by=[{column!r}]) find out"
            )
            break
    further = [column for column in unused if plain_name(column) in FURTHER_SLOTS]
    if further and not rows.options.slots:
        rows.notes.append(f"{further[0]!r} could be rated too: slots=[{rows.found['entrant']!r}, {further[0]!r}]")
