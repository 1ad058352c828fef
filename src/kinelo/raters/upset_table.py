"""The biggest upsets of a league: what happened although it was given the smallest chance before the match."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches, check_matches
from kinelo.raters.adapter import blank_of


def upsets(rater: Any, matches: Matches) -> pl.DataFrame:
    """Matches with the chance that was given to what happened, the least expected first.

    ``chance`` is ``exp(−log-loss)`` of the forecast made one step ahead, from the matches before alone; the parameters
    of the rater are taken as they stand, and the rater itself is left alone.

    Returns
    -------
    polars.DataFrame
        date, home, away, result, margin, home_win, draw, away_win, chance.

    >>> import kinelo as kn
    >>> table = {"home": ["A"] * 9 + ["B"], "away": ["B"] * 9 + ["A"], "result": [1] * 10}
    >>> matches = kn.read_matches(table)
    >>> found = upsets(kn.TeamElo.classic(home_advantage=0).fit(matches), matches)
    >>> found["home"][0], bool(found["chance"][0] < 0.3)
    ('B', True)
    """
    check_matches(matches)
    if not callable(getattr(rater, "one_step_ahead", None)):
        raise InputError(f"rater must be a rater such as TeamElo, not {type(rater).__name__}.")
    if len(matches) == 0 or np.isnan(matches.result).any():
        raise InputError("Upsets are found among matches that have a result; read them with played=True.")
    said = blank_of(rater).one_step_ahead(matches).probabilities
    columns = {name: said[:, k] for k, name in enumerate(("home_win", "draw", "away_win"))}
    table = matches.to_polars().select("date", "home", "away", "result", "margin")
    table = table.with_columns(**columns, chance=np.exp(-log_loss(said, matches.result)))
    return table.sort("chance", maintain_order=True)
