"""The season under way: which results count for its table beside the fixtures to come.

Where no fixture has a result, the season is found in the results themselves, by the first of these that decides:

1. a column of seasons, whose last entry (or that of the fixtures) names the season;
2. the latest day from which results and fixtures make a full season, every side at home to every other equally often;
3. a pause that is clearly the longest of the year before the fixtures, or results of one year without a long pause.

What none of them decides is asked for, in a sentence. Sides that play in the season and have no fixture left belong to
its table too; those that are met now and then, as in a cup, do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import Day, read_day
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import counted

Rows = NDArray[np.int64]
Answer = tuple[Rows, str] | None
YEAR_DAYS = 365
PAUSE = 42
"""Days without a match that may part two seasons; breaks inside a season are mostly shorter."""

LOOKED_BACK = 330
"""Days before the fixtures in which one pause between seasons begins or ends, and hardly ever two."""

CLEARLY_LONGER = 2.0
"""How many times as long as any other the pause between two seasons is."""

UNEVEN = 2
"""Matches by which sides of one season may differ, where some were put off."""

MOST_LOOKS = 6


@dataclass(frozen=True)
class SeasonSoFar:
    """Results that count for a table, apart from the fixtures, and the fixtures with the results that they have by now.

    ``note`` says what counts and why; it is empty where the fixtures hold the whole season.
    """

    results: Matches
    fixtures: Matches
    note: str = ""


def season_so_far(fixtures: Matches, results: Matches | None, since: Day | None = None) -> SeasonSoFar:
    """The results that count beside these fixtures: those ``since`` a day, or those of the season that is found.

    >>> import kinelo as kn
    >>> played = kn.read_matches({"date": ["2024-08-10", "2024-08-17"], "home": ["A", "B"], "away": ["B", "C"],
    ...                           "result": [1, 0.5]})
    >>> coming = kn.read_matches({"date": ["2024-08-24"], "home": ["C"], "away": ["A"]}, played=False)
    >>> season_so_far(coming, played).note
    '2 results since 2024-08-10 count for the table: all results lie within a year, without a long pause'
    """
    if results is None:
        if since is not None:
            raise InputError("since says which results count: give them too, results=matches.")
        return SeasonSoFar(fixtures[:0], fixtures)
    check_matches(results)
    begun = bool(np.isfinite(fixtures.result).any())
    used: Rows = np.empty(0, np.int64)
    if len(results) and results.dated and fixtures.dated:
        # Fixtures have the results that they have by now, of the same sides on their day or since.
        waiting: dict[tuple[str, str], list[int]] = {}
        for k in np.flatnonzero(np.isnan(fixtures.result) & (fixtures.day <= results.day[-1])):
            pair = fixtures.teams[fixtures.home[k]], fixtures.teams[fixtures.away[k]]
            waiting.setdefault(pair, []).append(int(k))
        result, margin, filled = fixtures.result.copy(), fixtures.margin.copy(), []
        for row in range(int(np.searchsorted(results.day, fixtures.day.min())), len(results) if waiting else 0):
            due = waiting.get((results.teams[results.home[row]], results.teams[results.away[row]]))
            if due and fixtures.day[due[0]] <= results.day[row] and np.isfinite(results.result[row]):
                k = due.pop(0)
                result[k], margin[k] = results.result[row], results.margin[row]
                filled.append(row)
        fixtures, used = replace(fixtures, result=result, margin=margin), np.array(filled, np.int64)
    if since is None and begun:
        return SeasonSoFar(results[:0], fixtures)  # they hold the season so far, and no further match belongs to it
    left = np.setdiff1d(np.arange(len(results)), used)
    rest = results[left]
    if since is None and not _among(_sides(fixtures, rest), rest).size:
        why = "everyone starts from 0 points: the results hold no match of these sides"
        return SeasonSoFar(results[:0], fixtures, why if len(rest) else "")
    answer = _of_season(fixtures, rest, None if since is None else read_day(since))
    if answer is None:
        raise InputError(
            "Nothing shows when this season began, so that its points so far are not known: give the day of its "
            "first match, since='2024-08-09', or fixtures that hold the results of the season so far."
        )
    rows, why = answer
    note = f"everyone starts from 0 points: {why}"
    if rows.size or used.size:
        both = np.append(left[rows], used)
        first = f" since {results.date[both.min()]}" if results.dated else ""
        note = f"{counted(both.size, f'result{first} counts', f'results{first} count')} for the table: {why}"
    return SeasonSoFar(rest[rows], fixtures, note)


def is_under_way(fixtures: Matches, results: Matches) -> bool:
    """Whether dated results seem to belong to the season of these fixtures, none of which has been played."""
    if not (len(results) and results.dated and fixtures.dated) or not np.isnan(fixtures.result).all():
        return False
    try:
        found = season_so_far(fixtures, results)
    except InputError:
        return True
    return len(found.results) > 0


def _of_season(fixtures: Matches, results: Matches, since: np.datetime64 | None) -> Answer:
    """Results of the season under way and why they are, or None where nothing decides; all of them since a day."""
    sides = _sides(fixtures, results)
    answer: Answer = None
    for _ in range(MOST_LOOKS):
        league = _League(fixtures, results, sides)
        if since is not None:
            answer = league.own[results.date[league.own] >= since], f"they were played since {since}"
        else:
            looks = (_long_ago, _by_column, _by_schedule, _by_pause)
            answer = next((found for look in looks if (found := look(league)) is not None), None)
        more = sides if answer is None or not answer[0].size else _grown(_names(fixtures), results, answer[0])
        if more == sides:
            break
        sides = more
    return answer


class _League:
    """The sides of a table, and who meets whom in fixtures and results, as one number for each pair."""

    def __init__(self, fixtures: Matches, results: Matches, sides: list[str]) -> None:
        self.fixtures, self.results, self.sides = fixtures, results, sides
        self.own = _among(sides, results)
        index = {name: k for k, name in enumerate(sides)}
        self.coming = self._pairs(fixtures, np.arange(len(fixtures)), index)
        self.played = self._pairs(results, self.own, index)

    def _pairs(self, matches: Matches, rows: Rows, index: dict[str, int]) -> Rows:
        at = np.array([*(index.get(name, -1) for name in matches.teams), -1])
        return at[matches.home[rows]] * len(self.sides) + at[matches.away[rows]]

    def pairs_of(self, rows: Rows) -> Rows:
        """Pairs of some of the results."""
        return self.played[np.searchsorted(self.own, rows)]

    def again(self, rows: Rows) -> bool:
        """Whether with the fixtures some pair would meet at one place more often than any does in either."""
        if not rows.size:
            return False
        before = self.pairs_of(rows)
        every, home_goals, away_goals = (
            np.unique(part, return_counts=True)[1].max()
            for part in (np.concatenate([before, self.coming]), before, self.coming)
        )
        return bool(every > max(home_goals, away_goals))

    def begins(self, k: int) -> bool:
        """Whether a season may begin with the ``k``-th result: after a longer pause than any since, or a long one."""
        if k == 0 or not self.results.dated:
            return True
        days = self.results.day[self.own]
        end = max(int(days[-1]), int(self.fixtures.day.min()) if self.fixtures.dated else 0)
        since = np.append(days[k:], end)
        pause = since[0] - days[k - 1]
        return bool(pause >= PAUSE or pause > np.diff(since).max(initial=0))

    def even(self, rows: Rows) -> bool:
        """Whether all sides have about as many matches in the season."""
        pairs = np.concatenate([self.pairs_of(rows), self.coming])
        sides = np.concatenate([pairs // len(self.sides), pairs % len(self.sides)])
        played = np.bincount(sides, minlength=len(self.sides))
        return bool(np.ptp(played) <= max(UNEVEN, played.max() // 10))


def _sides(fixtures: Matches, results: Matches) -> list[str]:
    """The sides to begin with: those of the fixtures, and whom they play if they have not met one another."""
    sides = _names(fixtures)
    if _among(sides, results).size or not len(results):
        return sides
    return _grown(sides, results, np.flatnonzero(results.day > results.day[-1] - YEAR_DAYS // 2))


def _grown(sides: list[str], results: Matches, season: Rows) -> list[str]:
    """These sides and others that met them as often as they met one another since the first of these results."""
    chosen = np.arange(season[0], len(results))
    if results.season is not None:
        chosen = chosen[np.isin(results.season.codes[chosen], results.season.codes[season])]
    home, away = results.home[chosen], results.away[chosen]
    fixed = np.isin(np.array(results.teams, object), sides)
    if not fixed.any():
        return sides
    member = fixed
    for _ in range(MOST_LOOKS):
        met = np.bincount(home[member[away]], minlength=member.size)
        met += np.bincount(away[member[home]], minlength=member.size)
        before, member = member, fixed | (met > 0.5 * np.median(met[member]))
        if np.array_equal(before, member):
            break
    own = set(sides)
    return [*sides, *(name for name, joins in zip(results.teams, member) if joins and name not in own)]


def _names(fixtures: Matches) -> list[str]:
    return [fixtures.teams[code] for code in np.unique(np.concatenate([fixtures.home, fixtures.away]))]


def _among(sides: Iterable[str], results: Matches) -> Rows:
    """Played matches between these sides."""
    wanted = set(sides)
    known = np.array([*(name in wanted for name in results.teams), False], bool)
    return np.flatnonzero(known[results.home] & known[results.away] & ~np.isnan(results.result))


def _long_ago(league: _League) -> Answer:
    """No result, where the last one is further from the fixtures than any two matches of one season."""
    results, fixtures = league.results, league.fixtures
    if results.dated and fixtures.dated and fixtures.day.min() - results.day[league.own[-1]] > YEAR_DAYS // 2:
        return league.own[:0], "nothing was played in the half year before the fixtures"
    return None


def _by_column(league: _League) -> Answer:
    """Results whose column of seasons says what the fixtures say, or what the last result does."""
    results, fixtures = league.results, league.fixtures
    if results.season is None:
        return None
    seasons = results.season.names().to_numpy()[league.own]
    label = seasons[-1]
    if fixtures.season is not None:
        named = set(fixtures.season.names().to_list())
        label = named.pop() if len(named) == 1 else None
    rows = league.own[seasons == label]
    if label is None or not rows.size or league.again(rows):
        return None  # seasons written in two ways, or the next one
    return rows, f"they are of the season {label}"


def _by_schedule(league: _League) -> Answer:
    """The latest day from which every side is at home to every other equally often, and as often as in a year.

    A season whose schedule is that of the year before is full from any round on to the same one a year later: it
    begins after a pause.
    """
    rows, sides, results = league.own, len(league.sides), league.results
    if league.coming.size + rows.size < sides * (sides - 1):
        return None
    count = np.bincount(league.coming, minlength=sides * sides)
    apart = ~np.eye(sides, dtype=bool).ravel()
    days = results.day[rows] if results.dated else np.arange(rows.size)
    usual = _usual(league.played, days) if results.dated else 1
    for k in range(rows.size, -1, -1):
        if k < rows.size:
            count[league.played[k]] += 1
        if 0 < k < rows.size and days[k] == days[k - 1]:
            continue
        least, most = count[apart].min(), count[apart].max()
        if least == most and least >= usual and league.begins(k):
            return rows[
                k:
            ], "with the fixtures they make a full season" if k < rows.size else "the fixtures are a season"
        if most > 2 * max(least, usual) + 2:
            return None
    return None


def _usual(pairs: Rows, days: Rows) -> int:
    """How often a pair meets at one place in a year, at least once."""
    years = min(3, int(days[-1] - days[0]) // YEAR_DAYS)
    if years == 0:
        return 1
    _, count = np.unique(pairs[days > days[-1] - years * YEAR_DAYS], return_counts=True)
    return max(1, round(float(np.median(count)) / years))


def _by_pause(league: _League) -> Answer:
    results, fixtures, played = league.results, league.fixtures, league.own
    if not results.dated:
        return None
    day = results.day[played]
    first = max(int(fixtures.day.min()) if fixtures.dated else 0, int(day[-1]))
    days = np.unique(np.append(day[max(0, int(np.searchsorted(day, first - LOOKED_BACK)) - 1) :], first))
    pauses = np.diff(days)
    longest = int(pauses.max(initial=0))
    if day[0] > first - YEAR_DAYS:
        rows, why = played, "all results lie within a year, without a long pause"
        if longest >= PAUSE:
            return None
    else:
        if longest < PAUSE or longest < CLEARLY_LONGER * np.sort(pauses)[:-1].max(initial=1):
            return None
        rows = played[day >= days[int(pauses.argmax()) + 1]]
        why = f"a pause of {longest} days came before"
    # Fixtures without a day may be those of the next season, which pairs that meet again give away.
    return (rows, why) if league.even(rows) and (fixtures.dated or not league.again(rows)) else None
