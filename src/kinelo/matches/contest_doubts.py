"""Doubts about places (heats of one race, sprint and race of a day, a world ranking), and columns that were not used.

What the file itself decides is read so and noted; what it does not decide is asked about.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import MEETS, PARTS, ROUNDS, WORLD_RANKS, listed, plain_name
from kinelo.matches.contest_outcomes import NEARLY_ALL, Cells, gaps_without_sign, read_cells
from kinelo.matches.contests import FINISHED, UNFINISHED
from kinelo.matches.kind import counted
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

LEAST_ODD, SHARE_ODD = 3, 0.01
"""Rows, and share of those that can be used, from which on a word that is not known is asked about."""

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
        if teams and share_places(rows, column, value, there):
            return
    contests, number, first = np.unique(rows.contest[there]).size, repeated.size, int(repeated[0])
    shown = ", ".join(f"{place:g}" for place in value[there & (rows.contest == first)][:6])
    key = rows.found.get("contest", rows.found.get("date"))
    if number > MOST * contests:
        raise InputError(
            f"Places repeat throughout in {number:,} of {contests:,} contests "
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


def ask_about_places(rows: ContestRows) -> None:
    """Ask where places contradict times or scores, or count more than took part, as those of a world ranking do."""
    if rows.measure != "place" or "place" in rows.options.columns or rows.options.best is not None:
        return
    there = (rows.fault == 0) & (rows.contest >= 0) & np.isfinite(rows.value)
    place = rows.found["place"]
    doubtful = plain_name(place) in WORLD_RANKS
    for measure in ("time", "score"):
        if measure not in rows.found:
            continue
        # Both order the same entrants, in one direction or the other.
        column = rows.found[measure]
        other = read_cells(rows.table[column], measure)
        gaps = gaps_without_sign(rows, other) if measure == "time" else other.behind
        known = np.flatnonzero(there & np.isfinite(other.value) & ~other.behind & ~gaps)
        order = known[np.lexsort((rows.value[known], rows.contest[known]))]
        same = (rows.contest[order][1:] == rows.contest[order][:-1]) & (rows.value[order][1:] > rows.value[order][:-1])
        step = np.diff(other.value[order])
        rises, falls = int((same & (step > 0)).sum()), int((same & (step < 0)).sum())
        wrong = falls if measure == "time" else min(rises, falls)
        if rises + falls < LEAST_PLACED or wrong <= CONTRADICTED * (rises + falls):
            continue
        words = f"{place!r} and {column!r} contradict each other in {wrong:,} of {rises + falls:,} neighbours"
        if doubtful:
            raise InputError(
                f"{words}: one of them is not the result. Say columns={{'place': {place!r}}} or "
                f"columns={{{measure!r}: {column!r}}}."
            )
        rows.notes.append(f"{words}: the places count")
    if not doubtful:
        return
    table = pl.DataFrame({"contest": rows.contest, "place": rows.value, "there": there})
    sizes = table.filter(pl.Series(rows.contest >= 0)).group_by("contest").agg(
        pl.len().alias("rows"), pl.col("place").filter("there").max(),
        pl.col("place").filter("there").min().alias("first"),
    ).drop_nulls()  # fmt: skip
    beyond = (sizes["place"] > sizes["rows"]) & (sizes["first"] > 1)
    if sizes.height and float(beyond.mean() or 0.0) > MOST:  # type: ignore[arg-type]
        raise InputError(
            f"{place!r} goes up to {sizes.filter(beyond)['place'].max():g} in contests of fewer entrants, and nobody "
            f"is first: it may be a ranking from elsewhere. Say columns={{'place': {place!r}}} if it is the result, or "
            "name the column that is."
        )


def ask_about_unfinished(rows: ContestRows) -> None:
    """Ask what a word means by which half of a field did not finish: luck, or a cut."""
    if rows.options.unfinished != "behind" or not (rows.ended == UNFINISHED).any():
        return
    words = pl.Series([None] * rows.fault.size, dtype=pl.String)
    for column in (rows.found.get("outcome"), rows.found.get("status")):
        if column is not None:
            text = as_text(rows.table[column]).str.strip_chars()
            words = words.zip_with(words.is_not_null(), text.set(text.str.contains(r"^[\d\W]*$").fill_null(True), None))
    unfinished = pl.Series(rows.ended == UNFINISHED)
    table = pl.DataFrame({"contest": rows.contest, "word": words.set(~unfinished, None).str.to_lowercase()})
    table = table.filter(pl.Series((rows.fault == 0) & (rows.contest >= 0)))
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


def share_places(rows: ContestRows, column: str, value: NDArray[np.float64], there: NDArray[np.bool_]) -> bool:
    """Whether rows of one contest with the same entry in a column, several of each, have the same place."""
    table = pl.DataFrame({"contest": rows.contest, "team": as_text(rows.table[column]), "value": value})
    table = table.filter(pl.Series(there)).drop_nulls("team").drop_nans("value")
    teams = table.group_by("contest", "team").agg(pl.len(), pl.col("value").n_unique())
    return bool(teams.height and (teams["len"] > 1).mean() > 0.5 and teams["value"].max() == 1)  # type: ignore[operator]


def note_odd_words(rows: ContestRows) -> None:
    """Ask what a word means that stands in many cells of the outcome and is not known."""
    odd = rows.fault == rows.reasons.index("unreadable place")
    if not odd.any():
        return
    column = rows.found["outcome"]
    words = as_text(rows.table[column].filter(pl.Series(odd))).str.strip_chars()
    for word, number in words.value_counts(sort=True).rows()[:3]:
        if word and number >= max(LEAST_ODD, SHARE_ODD * (rows.fault == 0).sum()):
            rows.notes.append(
                f"{word!r:.40} stands in {number:,} rows of {column!r} and is no {rows.measure} that is known: they "
                f"were set aside. What does it mean? endings={{{word[:40]!r}: 'unfinished'}}, or 'last', "
                "'disqualified' or 'not started', says it"
            )


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
    if teams is not None and good.any() and share_places(rows, teams, rows.value, good):
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
