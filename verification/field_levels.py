"""How well `RankElo` forecasts contests in which the level of a field matters, beside a plain filter.

    .venv/bin/python verification/field_levels.py [KIND …]

The filter has fifteen lines and knows the parameters that made the contests. It takes ``z``, the normal score of a
place, for a performance ``level + spread z``, with the level of the field drawn by a part of the way to that of all
contests. `RankElo` estimates its parameters on the earlier half, all of them, without ``anchor``, and with
newcomers beside their field; the later half is scored. Contests of ``programmers`` have everything at once; pairs are
counted by how many contests players have seen, and `RankElo` is tried without experience and with bad days alone beside
it. Of ``many programmers``, 400 contests in four years, the first tenth is fitted and the rest scored, also without
walks by the contest and with newcomers beside their field. The exit code is 1 where one of the two costs more than
three standard errors of the log-loss of orders.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import kinelo as kn
from contest_kinds import KINDS, YEAR, Kind, Made, Programmers, make, make_programmers
from kinelo.forecasts.contest_scores import CONTEST_METRICS, OF_PAIRS, order_log_loss, pairs_of, pairs_right, pooled
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests
from kinelo.raters.rank.estimation import with_entries

Array = NDArray[np.float64]
CONTESTS, LARGEST_FIELD = 160, 300


def plain_filter(contests: Contests, kind: Kind, offset: float, drawn: float = 0.0) -> ContestForecast:
    """Forecasts one step ahead of a filter that knows how strengths move and where newcomers enter."""
    x, v, last, games = (np.zeros(len(contests.entrants)) for _ in range(4))
    mean, deviation = np.empty(contests.entrant.size), np.empty(contests.entrant.size)
    for c in range(len(contests)):
        own = slice(contests.first[c], contests.first[c + 1])
        who, new = contests.entrant[own], games[contests.entrant[own]] == 0
        now = x[who].copy()
        doubt = v[who] + kind.walk**2 * (contests.day[c] - last[who]) / YEAR + kind.walk_played**2
        now[new], doubt[new] = now[~new].mean() + offset if not new.all() else 0.0, kind.spread**2 + kind.cohort**2
        mean[own], deviation[own] = now, np.sqrt(doubt + 1.0)
        z = ndtri(1.0 - (contests.place[own] - 0.5) / who.size)
        shown = (1.0 - drawn) * now.mean() + np.sqrt((doubt + 1.0).mean() + now.var()) * z
        gain = doubt / (doubt + 1.0)
        x[who], v[who], last[who] = now + gain * (shown - now), doubt * (1.0 - gain), contests.day[c]
        games[who] += 1
    return ContestForecast(contests, mean, deviation)


def entry_offset(made: Made) -> float:
    """How far newcomers are from the others of their first field."""
    contests, strength = made
    new = np.zeros(contests.entrant.size, bool)
    new[np.unique(contests.entrant, return_index=True)[1]] = True
    gaps = []
    for lo, hi in zip(contests.first[3:-1], contests.first[4:]):
        if 0 < new[lo:hi].sum() < hi - lo:
            gaps.append(strength[lo:hi][new[lo:hi]].mean() - strength[lo:hi][~new[lo:hi]].mean())
    return float(np.mean(gaps))


def scores(forecast: ContestForecast) -> str:
    """Pairs right and rank deviation in percent, log-losses of order and winner."""
    weights = {m: pairs_of(forecast.contests) if m in OF_PAIRS else np.ones(len(forecast)) for m in CONTEST_METRICS}
    found = {m: float(np.average(score(forecast), weights=weights[m])) for m, score in CONTEST_METRICS.items()}
    return (
        f"{100 * found['pairs_right']:.2f} % pairs, rank deviation {100 * found['rank_deviation']:.2f} %, "
        f"order {found['order_log_loss']:.4f}, winner {found['winner_log_loss']:.4f}"
    )


def seen_before(contests: Contests) -> NDArray[np.int64]:
    """How many contests each entry's entrant has seen before."""
    order = np.argsort(contests.entrant, kind="stable")
    begin = np.append(0, np.flatnonzero(np.diff(contests.entrant[order])) + 1)
    seen = np.empty(order.size, np.int64)
    seen[order] = np.arange(order.size) - np.repeat(begin, np.diff(np.append(begin, order.size)))
    return seen


def pairs_among(forecast: ContestForecast, keep: NDArray[np.bool_]) -> float:
    """Percentage of pairs in the order forecast among some entries."""
    contests = forecast.contests
    keep = keep & (np.add.reduceat(keep, contests.first[:-1], dtype=np.int64) > 1)[contests.contest]
    part = ContestForecast(
        with_entries(contests, keep), forecast.mean[keep], forecast.deviation[keep], (), "normal", forecast.off,
        forecast.depth,
    )  # fmt: skip
    return 100.0 * pooled("pairs_right", part, pairs_right(part))


MANY = Programmers(contests=400, per_year=100.0, lower=250, upper=120, arrive=50, growth=0.15)
PROGRAMMERS = {
    "programmers": (Programmers(), 0.5, {"no experience, bad days": {"experience": 0.0, "depth": 3.0}}),
    "many programmers": (
        MANY,
        0.1,
        {"no walk by the contest, newcomers beside": {"contest_walk": 0.0, "newcomer_follows": 1.0}},
    ),
}
"""Contests with everything at once, the part that is fitted, and what `RankElo` is also tried with."""


def programmers(name: str, seed: int = 1) -> None:
    """Print pairs right by how many contests players have seen, in contests with everything at once."""
    kind, part, others = PROGRAMMERS[name]
    contests = make_programmers(kind, seed).contests
    begin = int(part * len(contests))
    seen = seen_before(contests)[contests.first[begin] :]
    print(f"{name}: {contests}; {begin} of them fitted")
    for said, given in {"": {}, **others}.items():
        forecast = kn.RankElo(**given).fit(contests[:begin]).one_step_ahead(contests[begin:])
        spans = {"known": (1, np.inf), "1–4": (1, 4), "5–14": (5, 14), "15 and more": (15, np.inf)}
        told = [f"{k} {pairs_among(forecast, (seen >= lo) & (seen <= hi)):.2f}" for k, (lo, hi) in spans.items()]
        print(f"  RankElo{said and f', {said}'}: {scores(forecast)}; {', '.join(told)}")


def main() -> int:
    """Print a table for each kind; how many of them lose by an anchor."""
    warnings.simplefilter("ignore")
    lost = 0
    for name in sys.argv[1:] or [*(name for name, kind in KINDS.items() if not kind.unfinished), *PROGRAMMERS]:
        if name in PROGRAMMERS:
            programmers(name)
            continue
        kind = KINDS[name]._replace(size=min(KINDS[name].size, LARGEST_FIELD))
        made = make(kind, CONTESTS, seed=3)
        contests, half = made.contests, CONTESTS // 2
        begin = contests.first[half]
        held = kn.RankElo().fit(contests[:half])
        forecast = held.one_step_ahead(contests[half:])
        print(f"{name}: {contests}\n  RankElo              {scores(forecast)}")
        for left_out, plain in (("anchor", 0.0), ("newcomer_follows", 1.0)):
            free = kn.RankElo(**{left_out: plain}).fit(contests[:half]).one_step_ahead(contests[half:])
            gain = order_log_loss(free) - order_log_loss(forecast)
            error = gain.std() / np.sqrt(gain.size)
            found = f"{held.parameters_[left_out]:.2f}, gain {gain.mean():.5f} ± {error:.5f}"
            print(f"  {left_out} {plain:.0f} for {found}: {scores(free)}")
            lost += bool(gain.mean() < -3.0 * error)
        for drawn in (0.0, 0.3):
            told = plain_filter(contests, kind, entry_offset(made), drawn)
            later = ContestForecast(contests[half:], told.mean[begin:], told.deviation[begin:])
            print(f"  plain filter, {drawn:.1f}    {scores(later)}")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
