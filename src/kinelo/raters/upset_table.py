"""The biggest upsets: what happened although it was given the smallest chance before the match or contest.

Surprises measure the same of margins: how far they lay from what was expected.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import winner_log_loss
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import Contests
from kinelo.matches.dated import check_played
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.raters.adapter import blank_of


def upsets(rater: Any, matches: Matches | Contests) -> pl.DataFrame:
    """Matches with the chance that was given to what happened, or contests with that of who won, the least first.

    ``chance`` is ``exp(−log-loss)`` of the forecast made one step ahead, from the matches before alone; the parameters
    of the rater are taken as they stand, and the rater itself is left alone.

    Returns
    -------
    polars.DataFrame
        date, home, away, result, margin, home_win, draw, away_win, chance; of contests date, contest, winner, chance,
        favourite and favourite_chance. Of several who share a win, the mean of logarithms counts.

    >>> import kinelo as kn
    >>> table = {"home": ["A"] * 9 + ["B"], "away": ["B"] * 9 + ["A"], "result": [1] * 10}
    >>> matches = kn.read_matches(table)
    >>> found = upsets(kn.TeamElo.classic(home_advantage=0).fit(matches), matches)
    >>> found["home"][0], bool(found["chance"][0] < 0.3)
    ('B', True)
    """
    check_played(matches)
    if not callable(getattr(rater, "one_step_ahead", None)):
        raise InputError(f"rater must be a rater such as TeamElo, not {type(rater).__name__}.")
    return UPSETS[matches.kind](rater, matches)


def surprises(rater: Any, matches: Matches) -> NDArray[np.float64]:
    """How far what each match showed lay from what :class:`kinelo.KalmanElo` or :class:`kinelo.PlayerElo` expected, in
    standard deviations.

    Where the model holds these are standard normal: mean square 1, and 80 % within ±1.28. The rater itself is left
    alone.

    >>> import kinelo as kn
    >>> league = kn.sample_league(teams=8, seasons=4, seed=1)
    >>> matches = kn.read_matches(league.results)
    >>> standard = surprises(kn.KalmanElo().fit(matches[:120]), matches[120:])
    >>> len(standard), bool(0.5 < (standard**2).mean() < 2.0)
    (104, True)
    """
    if not hasattr(rater, "_surprises"):
        raise InputError(f"rater must be a KalmanElo or a PlayerElo, not {type(rater).__name__}.")
    twin = copy.deepcopy(rater)
    twin._check_usable(matches)
    return twin._surprises(matches) if len(matches) else np.empty(0)


def _match_upsets(rater: Any, matches: Matches) -> pl.DataFrame:
    if len(matches) == 0 or np.isnan(matches.result).any():
        raise InputError("Upsets are found among matches that have a result; read them with played=True.")
    chances = blank_of(rater).one_step_ahead(matches).probabilities
    columns = {name: chances[:, k] for k, name in enumerate(("home_win", "draw", "away_win"))}
    table = matches.to_polars().select("date", "home", "away", "result", "margin")
    table = table.with_columns(**columns, chance=np.exp(-log_loss(chances, matches.result)))
    return table.sort("chance", maintain_order=True)


def _contest_upsets(rater: Any, contests: Contests) -> pl.DataFrame:
    if len(contests) == 0 or np.isnan(contests.place).any():
        raise InputError("Upsets are found among contests that have places; read them with played=True.")
    forecast = blank_of(rater).one_step_ahead(contests)
    rows = []
    for c, loss in enumerate(winner_log_loss(forecast).tolist()):
        part = slice(int(contests.first[c]), int(contests.first[c + 1]))
        names = [contests.entrants[code] for code in contests.entrant[part].tolist()]
        first = contests.place[part] == contests.place[part].min()
        likeliest = int(np.argmax(forecast.win[part]))
        rows.append(
            {
                "date": contests.date[c].item() if contests.dated else None,
                "contest": contests.identifiers[c],
                **({} if contests.titles is None else {"title": contests.titles[c]}),
                "winner": " and ".join(name for name, won in zip(names, first) if won),
                "chance": math.exp(-loss),
                "favourite": names[likeliest],
                "favourite_chance": float(forecast.win[part][likeliest]),
            }
        )
    table = pl.DataFrame(rows, schema_overrides={"date": pl.Date})
    return table.drop_nans("chance").sort("chance", maintain_order=True)  # nobody wins where nobody finishes


UPSETS: dict[Kind, Callable[[Any, Any], pl.DataFrame]] = {MATCHES: _match_upsets, CONTESTS: _contest_upsets}
