"""Choice of a rater on the user's own matches.

The candidates are fitted on the first half of the latest ``MOST_COMPARED`` matches and forecast the second half one
step ahead. With ``d`` the mean difference in log-loss to the reference and ``s`` its standard error, a candidate
replaces the reference only if ``d < −2s``: a few hundred matches cannot tell good raters apart, and the best of several
noisy scores is too often the luckiest. Among those who pass, the lowest log-loss wins. A candidate that
fails, in whatever way, is left out with its reason, and the next one takes its place.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from kinelo.errors import InputError, KineloWarning, in_one_line
from kinelo.forecasts.backtest import Backtest, Forecaster, put_to_the_test
from kinelo.matches.kinds import MATCHES
from kinelo.matches.matches import Matches
from kinelo.matches.scan import MatchScan
from kinelo.presentation import Column, Table, number, percent, words

MOST_COMPARED = 20_000
"""Matches on which raters are compared, the latest: more would cost time and change few choices."""

CLEAR_LEAD = 2.0
"""Standard errors by which a rater must be better than the reference to replace it."""

TABLED_SCORES = ("log_loss", "brier", "accuracy")
LEAST_COMPARED = 60
"""Below this number of matches nothing is compared, and the reference is taken."""


@dataclass(frozen=True, repr=False)
class RaterChoice:
    """A rater chosen on the earlier matches of a league.

    Attributes
    ----------
    name
        Which candidate was chosen.
    rater
        The chosen rater, fitted on all matches.
    reference
        The candidate that is kept unless another is better by more than two standard errors.
    test
        Forecasts and scores of all candidates on the second half of the matches compared, or None where there were too
        few to compare.
    fitted
        How many matches the candidates were fitted on for that.
    left_out
        Candidates that failed, and why; ``str(choice)`` says them too.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
    >>> raters = {"K = 20": kn.TeamElo.classic(k=20), "K = 200": kn.TeamElo.classic(k=200)}
    >>> choice = kn.raters.choose_rater(matches, raters)
    >>> choice.name, len(choice.test.matches), choice.rater.ratings_.height
    ('K = 20', 45, 6)
    """

    name: str
    rater: Any
    reference: str
    test: Backtest | None
    fitted: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def gaps(self) -> dict[str, tuple[float, float]]:
        """By candidate: its log-loss minus that of the chosen one, and the standard error of that; the best first."""
        if self.test is None:
            return {}
        found = {other: _gap(self.test, other, self.name) for other in self.test.forecasts if other != self.name}
        return dict(sorted(found.items(), key=lambda item: item[1][0]))

    def __str__(self) -> str:
        without = "".join(f" {name} is left out: {why.rstrip('.')}." for name, why in self.left_out.items())
        if self.test is None:
            which = "the usual rater" if self.name == self.reference else "the next in line"
            return f"{self.name}, {which}: fewer than {LEAST_COMPARED} matches cannot tell raters apart.{without}"
        loss = float(self.test.match_scores(self.name).mean())
        count = len(self.test.matches)
        chosen = f"{self.name}, with log-loss {loss:.4f} over {count:,} matches forecast one step ahead"
        gaps = {name: gap for name, gap in self.gaps.items() if name not in self.left_out}
        if not gaps:
            return f"{chosen}; no other rater can be used here.{without}"
        nearest, (gap, error) = next(iter(gaps.items()))
        if gap >= 0.0:
            return f"{chosen}; next is {nearest}, {gap:.4f} ± {error:.4f} behind.{without}"
        better = f"{nearest} was {-gap:.4f} ± {error:.4f} better"
        return f"{chosen}; {better}, which is too little to leave the usual rater.{without}"

    def __repr__(self) -> str:
        return f"RaterChoice of {self}"

    def _repr_html_(self) -> str:
        table = "" if self.test is None else choice_table(self).html()
        return f"<div class='kinelo-choice'><p>{escape(str(self))}</p>{table}</div>"

    def to_dict(self) -> dict[str, Any]:
        """What was chosen, how far the others were behind, and who was left out, as plain values."""
        scores = {} if self.test is None else {row["rater"]: row["log_loss"] for row in self.test.scores.to_dicts()}
        return {
            "rater": self.name,
            "reference": self.reference,
            "fitted": self.fitted,
            "tested": 0 if self.test is None else len(self.test.matches),
            "log_loss": scores,
            "behind": {name: {"difference": gap, "standard_error": error} for name, (gap, error) in self.gaps.items()},
            "left_out": dict(self.left_out),
        }


def choice_table(choice: RaterChoice) -> Table:
    """The chosen rater and the others: their scores, and how far they were behind it; a comparison must have been made.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=3, seed=1).results)
    >>> raters = {"K = 20": kn.TeamElo.classic(k=20), "K = 200": kn.TeamElo.classic(k=200)}
    >>> choice = kn.raters.choose_rater(matches, raters)
    >>> [row[2] for row in choice_table(choice).cells()]
    ['chosen', '0.1294 ± 0.1336']
    """
    assert choice.test is not None
    rows = [
        {"rater": name, "gap": gap, **{metric: choice.test.mean_score(name, metric) for metric in TABLED_SCORES}}
        for name, gap in {choice.name: None, **choice.gaps}.items()
    ]
    columns = [
        words("Rater", "rater"),
        number("Log-loss", "log_loss", ".4f"),
        Column("Behind", lambda row: f"{row['gap'][0]:.4f} ± {row['gap'][1]:.4f}" if row["gap"] else "chosen", True),
        number("Brier", "brier", ".3f"),
        Column("Right", lambda row: percent(row["accuracy"]), number=True),
    ]
    return Table(columns, rows)


def choose(
    matches: Matches | MatchScan,
    candidates: Mapping[str, Forecaster],
    reference: str,
    progress: Callable[[str], None] | None = None,
) -> RaterChoice:
    """Choose one of several raters by the latest of these matches, and fit it on all of them.

    Parameters
    ----------
    candidates
        By name; they are copied, not changed.
    reference
        The one that is kept unless another is better by more than two standard errors.
    progress
        Called with the name of the candidate that is tried next.
    """
    latest = latest_part(matches)
    if np.isnan(latest.result).any():
        raise InputError("Matches without a result cannot be fitted; read them with played=True to reject such rows.")
    half = len(latest) // 2
    test, left_out = None, {}
    order = [reference, *candidates]
    if len(latest) >= LEAST_COMPARED:
        test, left_out = compare(latest[:half], latest[half:], candidates, progress)
        order = [best_of(test, reference), *test.scores["rater"]]
    for name in dict.fromkeys(order):
        rater = fitted(candidates[name], matches, name, left_out)
        if rater is not None:
            return RaterChoice(name, rater, reference, test, half if test is not None else 0, left_out)
    raise InputError(next(iter(left_out.values())))


def fitted(candidate: Forecaster, matches: Matches | MatchScan, name: str, left_out: dict[str, str]) -> Any | None:
    """A copy of a candidate fitted to the matches; None where it fails, and why is noted in ``left_out``."""
    rater: Any = copy.deepcopy(candidate)
    try:
        rater.fit(matches)
    except Exception as error:  # a rater that fails costs that rater, not the answer
        left_out[name] = in_one_line(error)
        return None
    return rater


def latest_part(matches: Matches | MatchScan, most: int | None = None) -> Matches:
    """The latest matches of a table or of a scan, at most ``most`` (default: MOST_COMPARED)."""
    most = MOST_COMPARED if most is None else most
    MATCHES.check(matches, scans=True)
    return matches.latest(most)


def compare(
    train: Matches,
    later: Matches,
    candidates: Mapping[str, Forecaster],
    progress: Callable[[str], None] | None = None,
) -> tuple[Backtest, dict[str, str]]:
    """Scores of the candidates on the later matches; one that fails is left out, with the reason."""
    forecasts, raters, seconds, left_out = {}, {}, {}, {}
    for name, candidate in candidates.items():
        if progress is not None:
            progress(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KineloWarning)  # the fit on all matches says them again
                tested = put_to_the_test((name, copy.deepcopy(candidate)), train, later)
        except Exception as error:  # a rater that fails costs that rater, not the answer
            left_out[name] = in_one_line(error)
            continue
        forecasts[name], raters[name], seconds[name] = tested[0].about(later), tested[1], tested[2]
    if not forecasts:
        raise InputError(next(iter(left_out.values())))
    return Backtest(later, forecasts, raters, seconds, ("log_loss",)), left_out


def best_of(test: Backtest, reference: str) -> str:
    """The reference, or the best of those whose lead over it is clear."""
    if reference not in test.forecasts:
        return str(test.scores["rater"][0])
    gaps = {name: _gap(test, name, reference) for name in test.forecasts if name != reference}
    better = {name: gap for name, (gap, error) in gaps.items() if gap < -CLEAR_LEAD * error}
    return min(better, key=better.__getitem__) if better else reference


def _gap(test: Backtest, name: str, other: str) -> tuple[float, float]:
    """Mean log-loss of one rater minus that of another, and the standard error of the difference."""
    gap = test.match_scores(name) - test.match_scores(other)
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(gap.size))
