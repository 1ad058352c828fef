"""How a season or a cup may end, and what if a side were stronger: the library's seasons, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinelo.errors import InputError
from kinelo.forecasts.knockout import knockout, knockout_table
from kinelo.forecasts.season import Rules, season, season_table, table_places
from kinelo.lab.rate.standings import plain
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.presentation import Table, sentence
from kinelo.raters.adapter import conditions_of
from kinelo.raters.rater import Rater
from kinelo.raters.what_if import with_points

SEASONS = 4000
"""How often a season is played: a chance is then sure to ± 0.8 %."""
MOST_CUP_SIDES, MOST_FIXTURES = 64, 4000


def odds(
    rater: Rater,
    results: Matches,
    fixtures: Matches | None,
    best: Sequence[str],
    *,
    kind: str,
    points: Mapping[str, float],
    rules: Mapping[str, float],
    day: str,
) -> dict[str, Any]:
    """Chances of a season or of a knock-out; without fixtures, of the ``best`` sides.

    Of the ``results``, those of the season under way count for its table.
    """
    raised = with_points(rater, points) if points else rater
    if kind == "knockout":
        return _knockout(raised, _bracket(fixtures, best), day)
    if kind != "season":
        raise InputError(f"Odds are those of a season or of a knockout, not of {kind!r:.40}.")
    if fixtures is None:
        return _season(raised, results[:0], _round_robin(best, day, rater), rules)
    return _season(raised, results, fixtures, rules)


def can_raise(rater: Rater) -> bool:
    """Whether points can be added to the sides of a rater."""
    try:
        with_points(rater, {})
    except InputError:
        return False
    return True


def _season(rater: Rater, results: Matches, fixtures: Matches, rules: Mapping[str, float]) -> dict[str, Any]:
    sides = np.unique(np.concatenate([fixtures.home, fixtures.away])).size
    if sides > MOST_CUP_SIDES or len(fixtures) > MOST_FIXTURES:
        raise InputError(
            f"A season here has at most {MOST_CUP_SIDES} sides and {MOST_FIXTURES:,} fixtures, not {sides} and "
            f"{len(fixtures):,}; kinelo season on the command line takes more."
        )
    places = table_places(sides, int(rules["relegated"]))
    counted = Rules(rules["win"], rules["draw"], 0.0, places=places)
    end = season(rater, fixtures, results=results, rules=counted, realisations=SEASONS, seed=1)
    by_name = {row[0]: list(row[1:]) for row in end.place_chances().iter_rows()}
    table = season_table(end)
    rows = [{**row, "places": by_name[row["name"]]} for row in _shares(table)]
    left = int(np.isnan(fixtures.result).sum())
    notes = "".join(f" {sentence(note)}" for note in end.notes)
    played = f"{len(fixtures) - left} matches played, {left} to come, the rest of the season played {SEASONS:,} times."
    words = f"{end.rule} {played}{notes}"
    return {"rows": rows, "table": table.to_dict(), "words": words}


def _knockout(rater: Rater, bracket: Sequence[str], day: str) -> dict[str, Any]:
    found = knockout(rater, list(bracket), date=day, realisations=SEASONS, seed=1)
    table = knockout_table(found)
    words = f"On neutral ground, played {SEASONS:,} times; the bracket in order:"
    return {"rows": _shares(table), "table": table.to_dict(), "words": words, "bracket": list(bracket)}


def _shares(table: Table) -> list[dict[str, Any]]:
    """The name of every row of a table, and its numbers by column."""
    keys = [column.key for column in table.columns if column.key]
    return [{key: plain(row[key]) for key in keys} for row in table.rows]


def _bracket(fixtures: Matches | None, best: Sequence[str]) -> list[str]:
    """The first round as the fixtures pair it, or the best sides, so placed that the best two meet last."""
    if fixtures is not None:
        coming = fixtures[np.isnan(fixtures.result)]
        pairs = [fixtures.teams[code] for pair in zip(coming.home, coming.away) for code in pair]
        if len(pairs) < 2 or len(set(pairs)) != len(pairs) or len(pairs) & (len(pairs) - 1):
            raise InputError(
                "A cup is read from fixtures that are one round of it: 1, 2, 4, 8, … matches in order, every side once."
            )
        return pairs
    return [best[k] for k in seeded(len(best))]


def seeded(size: int) -> list[int]:
    """Order of the seeds 0, 1, … in a bracket of a power of two: the first two can meet only in the final.

    >>> seeded(8)
    [0, 7, 3, 4, 1, 6, 2, 5]
    """
    order = [0]
    while len(order) < size:
        order = [seed for one in order for seed in (one, 2 * len(order) - 1 - one)]
    return order


def _round_robin(best: Sequence[str], day: str, rater: Rater) -> Matches:
    """Everyone against everyone, at home and away."""
    pairs = [(one, other) for one in best for other in best if one != other]
    numbers = getattr(rater, "covariates", None) or ()
    table = {name: ["0" if name in numbers else ""] * len(pairs) for name in conditions_of(rater)} | {
        "date": [day] * len(pairs),
        "home": [one for one, _ in pairs],
        "away": [other for _, other in pairs],
        "match_id": [str(k) for k in range(len(pairs))],
    }
    return read_matches(table, played=False, conditions=list(conditions_of(rater)), ordered=True)
