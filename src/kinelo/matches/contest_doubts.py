"""Doubts about places: heats of one race, sprint and race of a day, a world ranking in place of a result.

What the file itself decides is read so and noted; what it does not decide is asked about.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import MEETS, PARTS, ROUNDS, WORLD_RANKS, plain_name
from kinelo.matches.contest_outcomes import NEARLY_ALL, Cells, gaps_without_sign, read_cells
from kinelo.matches.contests import FINISHED, UNFINISHED
from kinelo.matches.names import as_text, encode_names
from kinelo.matches.rows import ContestRows
from kinelo.matches.words import BROKEN_OFF, meaning_of

LEAST_PLACED = 4
"""Places of a contest below which repeats tell nothing."""

FEW_DIFFERENT = 0.67
"""Different places for each entry, below which places repeat throughout, as in heats."""

MOST, SOME = 0.5, 0.05

REST_DAYS = 2
"""Days between rounds of one event, at most."""

CONTRADICTED = 0.25
"""Share of neighbours by place whose times stand the other way round, from which on both cannot be results."""


def split_parts(rows: ContestRows, cells: Cells) -> None:
    """Part contests whose places repeat by the column that makes them unique, such as ``heat``; else ask."""
    if rows.options.team is not None:
        return
    value = np.where((cells.ended == FINISHED) & np.isfinite(cells.value), cells.value, np.nan)
    there = rows.good & (rows.contest >= 0) & np.isfinite(value)
    if not there.any():
        return
    _part_by_meets(rows, there)
    parts = _unused_parts(rows, PARTS)
    if rows.kind != "place":
        if rows.events is not None and "contest" in rows.found:
            _ask_about_rounds(rows, there, rows.events, [c for c in parts if _of_days_in_a_row(rows, there, c)])
        _ask_about_rounds(rows, there, rows.contest, parts)
        return
    repeated = _repeated(rows, value, there)
    if not repeated.any():
        return
    used: list[str] = []
    contest, keys = rows.contest, rows.identifiers
    for column in parts:
        split, names = _split(rows, contest, keys, column)
        if _duplicates(split, value, there) < _duplicates(contest, value, there):
            contest, keys = split, names
            used.append(column)
        if used and _duplicates(contest, value, there) <= (1.0 - NEARLY_ALL) * there.sum():
            break
    if (
        used
        and _duplicates(contest, value, there) <= (1.0 - NEARLY_ALL) * there.sum()
        and _begin_at_1(contest, value, there)
    ):
        before = f"{rows.found['contest']!r}" if "contest" in rows.found else "day"
        rows.contest, rows.identifiers = contest, keys
        rows.order_columns = (*rows.order_columns, *used)
        said = " and ".join(map(repr, used))
        rows.notes.append(
            f"places repeat within one {before} and are unique within each {said}, which is a contest of its own"
        )
        return
    _ask_about_repeats(rows, value, there, repeated)


def _repeated(rows: ContestRows, value: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Contests in which places repeat throughout: 1, 2, 1, 2; ties that skip places, as 1, 1, 3, 3, are none."""
    table = pl.DataFrame({"contest": rows.contest, "place": value}).filter(pl.Series(there))
    found = table.group_by("contest").agg(
        pl.len().alias("n"), pl.col("place").n_unique().alias("different"), pl.col("place").max().alias("last"),
        (pl.col("place") == pl.col("place").min()).sum().alias("first"),
    )  # fmt: skip
    many = (found["n"] >= LEAST_PLACED) & (found["different"] <= FEW_DIFFERENT * found["n"]) & (found["first"] > 1)
    many &= found["last"] <= found["different"]
    repeated = np.zeros(len(rows.identifiers), bool)
    repeated[found["contest"].filter(many).to_numpy()] = True
    return repeated


def _entrants_repeat(rows: ContestRows, there: NDArray[np.bool_], contest: NDArray[np.int64]) -> bool:
    """Whether most entrants stand more than once in most contests."""
    table = pl.DataFrame({"contest": contest, "entrant": rows.entrant}).filter(pl.Series(there))
    found = table.group_by("contest").agg(pl.len().alias("n"), pl.col("entrant").n_unique().alias("different"))
    many = (found["n"] >= LEAST_PLACED) & (found["different"] <= FEW_DIFFERENT * found["n"])
    return float(many.mean() or 0.0) > MOST  # type: ignore[arg-type]


def _of_days_in_a_row(rows: ContestRows, there: NDArray[np.bool_], column: str) -> bool:
    """Whether a column numbers the days of events that last few days: rounds of golf, stages of a tour."""
    if plain_name(column) not in ROUNDS:
        return False
    (level,), _ = encode_names(rows.table[column])
    table = pl.DataFrame({"event": rows.events, "day": rows.date, "level": level}).filter(pl.Series(there))
    days = table.unique().sort("event", "day")
    gaps = days.select(pl.col("day").diff().over("event").dt.total_days()).to_series().drop_nulls()
    return bool(gaps.len() and gaps.max() <= REST_DAYS)  # type: ignore[operator]


def _part_by_meets(rows: ContestRows, there: NDArray[np.bool_]) -> None:
    """Part contests of one name, on one day or on neighbouring ones, that stand under several meets."""
    for column in _unused_parts(rows, MEETS):
        (level,), _ = encode_names(rows.table[column])
        table = pl.DataFrame({"contest": rows.contest, "level": level}).filter(pl.Series(there & (level >= 0)))
        several = table.unique().group_by("contest").len().filter(pl.col("len") > 1).height
        if several:
            rows.contest, rows.identifiers = _split(rows, rows.contest, rows.identifiers, column)
            rows.events = None
            rows.order_columns = (*rows.order_columns, column)
            named = "1 contest stands" if several == 1 else f"{several:,} contests stand"
            rows.notes.append(f"{named} under more than one {column!r}: each is a contest of its own")


def _unused_parts(rows: ContestRows, words: tuple[str, ...]) -> list[str]:
    """Columns that may part contests, the likeliest first."""
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    used = {*rows.found.values(), *(column for columns in kinds for column in columns)} - {rows.found.get("title")}
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


def _begin_at_1(contest: NDArray[np.int64], value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether nearly every contest has a first place."""
    table = pl.DataFrame({"contest": contest, "place": value}).filter(pl.Series(there))
    return float((table.group_by("contest").agg(pl.col("place").min())["place"] == 1.0).mean() or 0.0) >= NEARLY_ALL  # type: ignore[arg-type]


def _ask_about_repeats(
    rows: ContestRows, value: NDArray[np.float64], there: NDArray[np.bool_], repeated: NDArray[np.bool_]
) -> None:
    present = np.unique(rows.contest[there])
    if _team_mates(rows, value, there) or rows.options.best is not None:
        return
    first = int(present[repeated[present]][0])
    shown = ", ".join(f"{place:g}" for place in value[there & (rows.contest == first)][:6])
    key = rows.found.get("contest", rows.found.get("date"))
    if repeated[present].mean() > MOST:
        raise InputError(
            f"Places repeat throughout in {int(repeated[present].sum()):,} of {present.size:,} contests "
            f"({rows.identifiers[first]!r:.60}: {shown}, …). If they are heats, classes or races of one day, name the "
            f"columns that part them with columns={{'contest': [{key!r}, ...]}}; if they are ties, say best='lowest'."
        )
    if repeated[present].mean() <= SOME:  # a shared drive, a slip
        return
    rows.notes.append(
        f"in {int(repeated[present].sum()):,} contests places repeat as in heats ({rows.identifiers[first]!r:.60}: "
        f"{shown}, …): they count as ties; columns={{'contest': [{key!r}, ...]}} parts them"
    )


def _team_mates(rows: ContestRows, value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether places repeat because rows of one team, in some column, share theirs."""

    columns = [column for column in rows.table.columns if plain_name(column) in TEAM_HEADERS]
    columns = [column for column in columns if column != rows.found["entrant"]]
    return any(share_places(rows, column, value, there) for column in columns)


def _ask_about_rounds(
    rows: ContestRows, there: NDArray[np.bool_], contest: NDArray[np.int64], parts: list[str]
) -> None:
    """Ask whether rounds of one event are contests or parts of a total, where entrants stand in each of them."""
    if not parts or not _entrants_repeat(rows, there, contest):
        return
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


def ask_about_places(rows: ContestRows) -> None:
    """Ask where places contradict times or scores, or count more than took part, as those of a world ranking do."""
    if rows.kind != "place" or rows.named("place") or rows.options.best is not None:
        return
    there = rows.good & (rows.contest >= 0) & np.isfinite(rows.value)
    doubtful = plain_name(rows.found["place"]) in WORLD_RANKS
    for kind in ("time", "score"):
        if kind in rows.found:
            _hold_against(rows, kind, there, doubtful)
    if not doubtful:
        return
    table = pl.DataFrame({"contest": rows.contest, "place": rows.value, "there": there})
    sizes = table.filter(pl.Series(rows.contest >= 0)).group_by("contest").agg(
        pl.len().alias("rows"), pl.col("place").filter("there").max(),
        pl.col("place").filter("there").min().alias("first"),
    ).drop_nulls()  # fmt: skip
    beyond = (sizes["place"] > sizes["rows"]) & (sizes["first"] > 1)
    if sizes.height and float(beyond.mean() or 0.0) > MOST:  # type: ignore[arg-type]
        most = sizes.filter(beyond)["place"].max()
        column = rows.found["place"]
        raise InputError(
            f"{column!r} goes up to {most:g} in contests of fewer entrants, and nobody is first: it may be a ranking "
            f"from elsewhere. Say columns={{'place': {column!r}}} if it is the result, or "
            "name the column that is."
        )


def ask_about_unfinished(rows: ContestRows) -> None:
    """Ask what a word means by which half of a field did not finish: luck, or a cut."""
    if rows.options.unfinished != "behind":
        return
    words = pl.Series([None] * rows.fault.size, dtype=pl.String)
    for column in (rows.outcome, rows.found.get("status")):
        if column is not None:
            text = as_text(rows.table[column]).str.strip_chars()
            words = words.zip_with(words.is_not_null(), text.set(text.str.contains(r"^[\d\W]*$").fill_null(True), None))
    unfinished = pl.Series(rows.ended == UNFINISHED)
    table = pl.DataFrame({"contest": rows.contest, "word": words.set(~unfinished, None).str.to_lowercase()})
    table = table.filter(pl.Series(rows.good & (rows.contest >= 0)))
    large = table.filter(pl.len().over("contest") >= LEAST_PLACED)
    shares = (
        large.group_by("contest", "word").len().with_columns(share=pl.col("len") / pl.col("len").sum().over("contest"))
    )
    half = shares.drop_nulls("word").filter(pl.col("share") >= MOST).group_by("word").len().sort("len", "word")
    contests = large["contest"].n_unique()
    if not half.height or half["len"][-1] <= MOST * contests or half["word"][-1] in rows.options.endings:
        return
    word = str(words.filter(words.str.to_lowercase() == half["word"][-1])[0])[:40]
    words = (
        f"n {half['len'][-1]:,} of {contests:,} contests half of the entrants or more did not finish ({word!r}): "
        f"endings={{{word!r}: 'last'}} says that they were behind all others, as after a cut, and "
        f"endings={{{word!r}: 'unfinished'}} that they may have been unlucky"
    )
    if meaning_of(word, "match") != BROKEN_OFF:
        raise InputError(f"I{words}.")
    rows.notes.append(f"i{words}, as was taken for granted")


def _hold_against(rows: ContestRows, kind: str, there: NDArray[np.bool_], doubtful: bool) -> None:
    """Compare places with times or scores: both order the same entrants, in one direction or the other."""
    column = rows.found[kind]
    other = read_cells(rows.table[column], kind)
    gaps = gaps_without_sign(rows, other) if kind == "time" else other.behind
    known = np.flatnonzero(there & np.isfinite(other.value) & ~other.behind & ~gaps)
    order = known[np.lexsort((rows.value[known], rows.contest[known]))]
    same = (rows.contest[order][1:] == rows.contest[order][:-1]) & (rows.value[order][1:] > rows.value[order][:-1])
    step = np.diff(other.value[order])
    rises, falls = int((same & (step > 0)).sum()), int((same & (step < 0)).sum())
    wrong = falls if kind == "time" else min(rises, falls)
    if rises + falls < LEAST_PLACED or wrong <= CONTRADICTED * (rises + falls):
        return
    place = rows.found["place"]
    words = f"{place!r} and {column!r} contradict each other in {wrong:,} of {rises + falls:,} neighbours"
    if doubtful:
        raise InputError(
            f"{words}: one of them is not the result. Say columns={{'place': {place!r}}} or "
            f"columns={{{kind!r}: {column!r}}}."
        )
    rows.notes.append(f"{words}: the places count")


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


def share_places(rows: ContestRows, column: str, value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether rows of one contest with the same entry in a column, several of each, have the same place."""
    table = pl.DataFrame({"contest": rows.contest, "team": as_text(rows.table[column]), "value": value})
    table = table.filter(pl.Series(there)).drop_nulls("team").drop_nans("value")
    teams = table.group_by("contest", "team").agg(pl.len(), pl.col("value").n_unique())
    return bool(teams.height and (teams["len"] > 1).mean() > 0.5 and teams["value"].max() == 1)  # type: ignore[operator]
