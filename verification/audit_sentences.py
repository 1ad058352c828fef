"""How often is each kind of sentence of an audit said, and how often is it true?

    python verification/audit_sentences.py [--leagues 16] [--contests 4] [--others 8] [--from 0] [--into FILE]

Thirteen kinds of leagues (sizes, draws, home, walks, form, newcomers, growing juniors, the weak leave; paired by
chance, strength, rating, Swiss rounds and divisions with promotion), so many of each, seven K in use from 8 to 80 by
turns. A league is played for twice as long as is audited: what is said of the matches to come is held against how it
went on from the ratings in use, and a K that is advised against the K in use. Every sentence is held against the
strengths behind the results; what is said of K against the K that proves best when results are drawn anew between these
strengths. Contests of thirteen kinds (one series, a club, nobody moves, learners, unequal cohorts and fields,
divisions, two a year, fields chosen by strength, by rating, at random, along a chain and in pools), K in use from 10 to
400 by turns, are played on too and held against the strengths behind their orders; what is said of K against the K
whose forecasts of the later half, one contest ahead, lose least on average over how two of a field would end.
Luck by a column, line-ups and tables in use are asked of leagues of their own (`audit_others.py`).
With --into every league appends its lines to a file, and leagues that stand there already are not played again.

Exit code 1 if a kind of sentence that was said 20 times or more is true in less than 95 %, less two standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.special import ndtr

import audit_others
import contest_kinds
import kinelo as kn
from calendars import DIVISIONS, RANDOM, RATING, STRENGTH, SWISS, Kind, League, play
from kinelo.advice.audit.audit import Audit
from kinelo.advice.audit.backtest import lowest
from kinelo.advice.audit.contests import ContestAudit
from kinelo.advice.audit.in_use import SystemInUse, anew, with_results
from kinelo.advice.audit.words import advised, ahead, to_take
from kinelo.raters.bradley_terry.orders import pools_of_contests

KINDS = {
    "small": Kind(RANDOM, 1, 40, 100, 120.0, walk=4.0, form=0.0003),
    "large": Kind(RANDOM, 1, 150, 100, 200.0, home=50.0, walk=3.0),
    "draws": Kind(RANDOM, 1, 60, 120, 150.0, draws=0.5, walk=4.0),
    "home": Kind(RANDOM, 1, 60, 120, 150.0, home=70.0, draws=0.2, walk=5.0),
    "fast walk": Kind(RANDOM, 1, 60, 120, 120.0, walk=12.0, form=0.005),
    "form": Kind(RANDOM, 1, 60, 120, 100.0, walk=16.0, form=0.02),
    "newcomers": Kind(RANDOM, 1, 120, 80, 150.0, newcomers=0.5, level=-150.0, walk=3.0),
    "juniors": Kind(RANDOM, 1, 120, 120, 150.0, newcomers=0.4, level=-250.0, growth=50.0, years=8.0),
    "weak leave": Kind(RANDOM, 1, 120, 80, 150.0, newcomers=0.4, leave=0.3),
    "by strength": Kind(STRENGTH, 4, 100, 100, 200.0, home=30.0, walk=2.0, form=0.0001),
    "by rating": Kind(RATING, 4, 100, 100, 200.0, walk=2.0, form=0.0001),
    "Swiss": Kind(SWISS, 1, 100, 100, 200.0),
    "divisions": Kind(DIVISIONS, 1, 120, 100, 220.0, draws=0.3, home=60.0, walk=2.0, form=0.0001),
}
CONTESTS = {
    "one series": (contest_kinds.Kind(size=16, newcomers=0.1), 140),
    "a club": (contest_kinds.Kind(size=12, newcomers=0.1, once=0.1, keenness=0.4, walk=0.4, spread=0.8), 120),
    "nobody moves": (contest_kinds.Kind(size=14, newcomers=0.08, once=0.1, walk=0.0, entry=0.0), 120),
    "they learn": (contest_kinds.Kind(size=18, newcomers=0.12, learns=1.0, entry=-1.0, away=0.5), 140),
    "cohorts differ": (contest_kinds.Kind(size=18, newcomers=0.15, once=0.3, cohort=0.6), 140),
    "fields unlike": (contest_kinds.Kind(size=18, newcomers=0.1, unlike=1.0), 140),
    "divisions": (contest_kinds.Kind(size=20, newcomers=0.15, divisions=3), 150),
    "two a year": (contest_kinds.Kind(size=30, newcomers=0.1, per_year=2.0, keenness=0.5), 60),
    **{f"by {way}": (way, 0) for way in ("strength", "rating", "random", "chain", "pools")},
}
POINTS = 800.0 / math.log(10.0) / math.sqrt(math.pi)
"""Points of a unit of the noise of a performance."""
K_IN_USE = (8.0, 12.0, 20.0, 24.0, 32.0, 48.0, 80.0)
CONTEST_K = 6.0 * 1.35 ** np.arange(18.0)
CONTEST_K_IN_USE = (10.0, 20.0, 40.0, 80.0, 120.0, 240.0, 400.0)
REPLAYS = 10
LADDER = 1.5 ** np.arange(-7.0, 6.0)
LEAST_SAID, LEAST_TRUE = 20, 0.95


class Truth:
    """What is true of a league: strengths are known, and results are drawn anew between them."""

    def __init__(self, league: League, audited: int, found: Audit, seed: int) -> None:
        self.league, self.found, self.n = league, found, audited
        self.g = np.random.default_rng([seed, 7])
        self.matches, self.later = league.matches[:audited], league.matches[audited:]
        # The K that are said stand among those that are tried.
        self.ks = np.unique([*(found.k or 24.0) * LADDER, found.advice.k, found.outlook.k])
        self.past = self._losses(found.in_use, self.matches, league.played[:audited])
        start = found.in_use.blank().update(self.matches).ratings_
        carried = SystemInUse("", found.k, anew(found.in_use.rater, start=start))
        self.coming = self._losses(carried, self.later, league.played[audited:]).mean(axis=1)
        last = dict.fromkeys(self.matches.teams, 0.0)
        for n in range(audited):
            for side, code in enumerate((self.matches.home[n], self.matches.away[n])):
                last[self.matches.teams[code]] = league.played[n, side]
        self.strength = np.array([last[name] for name in self.matches.teams])
        table = dict(start.select("name", "rating").iter_rows())
        self.rating = np.array([table.get(name, 1500.0) for name in self.matches.teams])
        self.active = found.opponents.today.active
        played = np.bincount(np.concatenate([self.matches.home, self.matches.away]), minlength=self.active.size)
        # As in the audit: who has played little counts less.
        weight = np.minimum(played[self.active] / (0.5 * np.median(played[self.active])), 1.0)
        self.weight = weight / weight.sum()
        newcomer = dict(zip(league.matches.teams, league.newcomer))
        self.newcomer = np.array([newcomer[name] for name in self.matches.teams])

    def _losses(self, system: SystemInUse, matches: kn.matches.Matches, played: np.ndarray) -> np.ndarray:
        """Mean loss of every match (columns) at every K (rows).

        Where the calendar follows results, ratings are those of the results as they were, or luck would no longer go
        along with who meets whom; the loss is expected over the results of the match.
        """
        kind, total = self.league.kind, 0.0
        chances = self._chances(matches, played)
        if kind.pairing in (RATING, SWISS, DIVISIONS):
            return np.stack([self._expected(system.at(float(k)), matches, chances) for k in self.ks])
        for _ in range(REPLAYS):
            u = self.g.random(len(matches))
            result = np.where(u < chances[:, 0], 1.0, np.where(u < 1 - chances[:, 2], 0.0, -1.0))
            total = total + system.losses(with_results(matches, result), self.ks)
        return total / REPLAYS

    def _chances(self, matches: kn.matches.Matches, played: np.ndarray) -> np.ndarray:
        """Chances of win, draw and loss of every match."""
        home = np.where(matches.neutral, 0.0, self.league.kind.home)
        p = 1 / (1 + 10 ** (-(played[:, 0] - played[:, 1] + home) / 400))
        drawn = self.league.kind.draws * 4 * p * (1 - p)
        return np.column_stack([p - drawn / 2, drawn, 1 - p - drawn / 2])

    @staticmethod
    def _expected(rater: kn.TeamElo, matches: kn.matches.Matches, chances: np.ndarray) -> np.ndarray:
        """Expected loss of every match, of ratings from the results as they were."""
        return -(chances * np.log(np.maximum(rater.one_step_ahead(matches).probabilities, 1e-12))).sum(axis=1)

    def saved_by(self, rule: kn.model.FallingSteps, k: float) -> float:
        """How much more one K loses on the later half than steps that fall."""
        chances, elo = self._chances(self.matches, self.league.played[: self.n]), self.found.in_use.rater
        one, other = (self._expected(anew(elo, k=step, k_of=None), self.matches, chances) for step in (k, rule))
        return float((one - other)[self.found.since :].mean())

    def comes(self, k: float) -> float:
        """What a K that was tried loses on the matches to come."""
        return float(self.coming[np.argmin(np.abs(np.log(self.ks / k)))])

    def begun_anew(self) -> float:
        """What the K in use loses on the matches to come from the ratings of a filter that knows all sides together."""
        kalman = kn.KalmanElo().fit(self.matches).ratings_.select("name", "rating")
        rater = anew(self.found.in_use.rater, start=kalman)
        chances = self._chances(self.later, self.league.played[self.n :])
        return float(self._expected(rater, self.later, chances).mean())

    def best(self) -> float:
        """The best K of the later half."""
        return lowest(self.ks, self.past[:, self.found.since :].sum(axis=1)[:, None])[0]

    def spread_and_share(self) -> tuple[float, float]:
        """Standard deviation of the strengths of those who are active, and slope of ratings on them."""
        strength, rating = self.strength[self.active], self.rating[self.active]
        strength = strength - self.weight @ strength
        variance = float(self.weight @ strength**2)
        unbiased = 1 - float(self.weight @ self.weight)
        return math.sqrt(variance / unbiased), float((self.weight * strength) @ rating) / variance

    @property
    def best_to_come(self) -> float:
        """The best K of the matches to come."""
        return lowest(self.ks, self.coming[:, None])[0]

    @property
    def expected(self) -> np.ndarray:
        """Expected score of the first side in every match."""
        home = np.where(self.matches.neutral, 0.0, self.league.kind.home)
        apart = self.league.played[: self.n] @ np.array([1.0, -1.0])
        return 1 / (1 + 10 ** (-(apart + home) / 400))

    def inflation(self, stands_still: float = 0.0) -> float:
        """Points a year by which the mean of rating less strength rose over those who play, in eighths of the span."""
        years = self.league.kind.years / 2
        before = self.found.before
        part = (np.arange(self.n) * 8 // self.n).astype(int)
        seen: dict[tuple[int, int], list[float]] = defaultdict(list)
        for n in range(self.n):
            for side, code in enumerate((self.matches.home[n], self.matches.away[n])):
                seen[int(part[n]), int(code)].append(before[n, side] - self.league.played[n, side])
        means = [np.mean(some) for some in seen.values()]
        return float(np.polyfit([eighth / 8 * years for eighth, _ in seen], means, 1)[0]) + stands_still


def judge(found: Audit, truth: Truth) -> list[tuple[str, bool]]:
    """Every kind of sentence that was said, and whether it is true."""
    said: list[tuple[str, bool]] = []
    lead, best, k = found.lead, truth.best(), found.k or 24.0

    def way(words: str) -> bool:
        return best < k if "large" in words else best > k

    if ahead(found):
        to_come = truth.best_to_come
        if "not clearly" not in lead.answer:
            said.append(
                ("K is too large or small for the matches to come", (to_come < k) == ("too large" in lead.answer))
            )
        said.append(
            ("K … is best for the matches to come (interval)", found.outlook.low <= to_come <= found.outlook.high)
        )
        if "wanted more" in lead.caveat:
            said.append(("The past wanted more", best > to_come))
    else:
        held = found.advice.low <= best <= found.advice.high
        if re.search("is (probably )?(a little )?too", lead.answer):
            right = ("large" in lead.answer) == (truth.best_to_come < k)
            said.append(
                (f"K is {'probably ' * ('probably' in lead.answer)}too …: the matches to come say so too", right)
            )
        if "probably" in lead.answer:
            said.append(("K is probably too large or small", way(lead.answer)))
        elif "was too" in lead.answer:
            said.append(("K was too large or small on the later half", way(lead.answer)))
        elif "too large" in lead.answer or "too small" in lead.answer:
            said.append(("K is too large or small", way(lead.answer)))
        if "be right" in lead.answer or "been right" in lead.answer:
            said.append(("all K from … to … may be right", held))
        else:
            said.append(("K … is best (interval)", held))
    said.append(("No number lies outside of what a league can have", _sane(found)))
    return said + _of_findings(found, truth) + _of_rows(found, truth)


def _sane(found: Audit) -> bool:
    """Whether K, points, correlations and shares lie where those of some league could."""
    ks = (found.advice.k, found.advice.high, found.outlook.k, found.outlook.high, *(one.high for one in found.periods))
    shifts = [getattr(one, name) for one in found.groups for name in ("gain", "inflation", "bias")]
    starts = [one.entry for one in found.groups]
    if found.inflation is not None:
        shifts += [found.inflation.per_year, found.inflation.gain]
        starts.append(found.inflation.start)
    points = [abs(one.mean) + 2 * one.error for one in shifts if one is not None]
    points += [abs(one.mean - 1500) + 2 * one.error for one in starts if one is not None]
    points += [abs(one.strength) for one in found.misrated] + [found.opponents.spread.high, found.step, found.spread]
    alike, share = found.opponents.correlation, found.opponents.share_shown
    return (
        all(0 < k < 1000 for k in ks)
        and all(one < 3000 for one in points)
        and -1 <= alike.low <= alike.value <= alike.high <= 1
        and 0 <= share.low <= share.value <= share.high < 5
    )


def _of_findings(found: Audit, truth: Truth) -> list[tuple[str, bool]]:
    said, kind, active = [], truth.league.kind, truth.active
    off, new = truth.rating - truth.strength, truth.newcomer
    for one in found.findings:
        if one.kind == "K" and found.k is not None:
            better = truth.comes(to_take(found).k) < truth.comes(found.k)
            said.append(("Take K = …: it forecasts the matches to come better", better))
        elif one.kind == "hidden":
            alike = np.corrcoef(truth.league.played[: truth.n].ravel(), truth.league.played[: truth.n, ::-1].ravel())[
                0, 1
            ]
            share = truth.spread_and_share()[1]
            said.append(("Opponents are alike, and ratings show only …", alike > 0.3 and share < 0.8))
            if found.k is not None:
                better = truth.begun_anew() < truth.comes(found.k)
                said.append(
                    ("Begin anew from ratings by --rater kalman: the matches to come are forecast better", better)
                )
        elif one.kind == "start":
            start = found.inflation.start
            right = 1500 + float((off - 1500)[active & ~new].mean()) + _entry(truth)
            said.append(
                ("Newcomers are weaker or stronger than their start", (right < 1500) == ("weaker" in one.words))
            )
            said.append(("Let them start at … (interval)", start.low <= right <= start.high))
        elif one.kind == "inflation":
            real = truth.inflation()
            said.append(("A rating is worth less or more", (real > 0) == ("less" in one.words)))
            said.append(("… points a year against strengths (interval)",
                         found.inflation.per_year.low <= real <= found.inflation.per_year.high))  # fmt: skip
        elif one.kind == "group start":
            right = float(off[active & ~new].mean()) + _entry(truth)
            said.append(("Newcomers of a group are weaker or stronger", (right < 1500) == ("weaker" in one.words)))
        elif one.kind == "group bias":
            group = next(g for g in found.groups if quoted_in(g.group, one.words))
            members = active & (new if group.group == "late" else ~new)
            nought = off[active & ~new].mean() if found.reference else off[active].mean()
            real = float(off[members].mean() - nought)
            said.append(("A group is rated too high or too low", (real > 0) == ("too high" in one.words)))
        elif one.kind == "first steps":
            said.append(("A larger K for the first matches forecasts better",
                         truth.saved_by(found.outlook.first.rule, advised(found).k) > 0))  # fmt: skip
        elif one.kind == "home":
            near = abs(kind.home - found.home.today) < abs(kind.home - found.home.in_use)
            said.append(("Playing at home is worth …", near))
    return said


def quoted_in(group: str, words: str) -> bool:
    """Whether a sentence is about this group."""
    return f"group {group} are" in words


def _entry(truth: Truth) -> float:
    """Mean strength of newcomers when they enter."""
    seen, first = set(), []
    for n in range(truth.n):
        for side, code in enumerate((truth.matches.home[n], truth.matches.away[n])):
            if int(code) not in seen:
                seen.add(int(code))
                if n >= truth.n / 10 and truth.newcomer[code]:
                    first.append(truth.league.played[n, side])
    return float(np.mean(first)) if first else math.nan


def _of_rows(found: Audit, truth: Truth) -> list[tuple[str, bool]]:
    rows, kind, active = dict(found.rows()), truth.league.kind, truth.active
    played = truth.league.played[: truth.n]
    (spread, share), opponents = truth.spread_and_share(), found.opponents
    alike = float(np.corrcoef(played.ravel(), played[:, ::-1].ravel())[0, 1])
    said = [("K by backtest (interval)", found.measured.interval[0] <= truth.best() <= found.measured.interval[1])]
    intervals = [] if opponents.alike else [("K by theory", truth.best(), found.curve)]
    if opponents.told:
        intervals += [
            ("Strengths lie ± … apart", spread, opponents.spread),
            ("Correlation of opponents", alike, opponents.correlation),
            ("Ratings show … of the differences", share, opponents.share_shown),
        ]
    off = truth.rating - truth.strength
    for group in found.groups:
        members = active & (truth.newcomer if group.group == "late" else ~truth.newcomer)
        if group.bias is not None:
            nought = off[active & ~truth.newcomer] if found.reference else off[active]
            intervals.append(("A group is rated … too high or low", off[members].mean() - nought.mean(), group.bias))
        if group.group == "late" and found.reference and group.entry is not None:
            right = float(off[active & ~truth.newcomer].mean()) + _entry(truth)
            intervals.append(("Newcomers of a group belong at …", right, group.entry))
        if group.group == "late" and found.reference and group.gain is not None:
            intervals.append(("A group grows by … a year", kind.growth, group.gain))
    said += [(f"{words} (interval)", one.low <= real <= one.high) for words, real, one in intervals]
    if "Ratings" in rows:
        apart = (found.before - played)[found.since :] @ np.array([1.0, -1.0])
        real = math.sqrt(float((apart**2).mean()) / 2)
        said.append(("Ratings are off by … (within a quarter)", abs(math.log(found.now.error**0.5 / real)) < 0.25))
    if not truth.matches.neutral.all():
        home = found.home
        said.append(("Playing at home is worth … (interval)", abs(home.today - kind.home) < 1.96 * home.error))
    if kind.draws > 0:
        drawn = found.league.ties / (2 + found.league.ties)
        said.append(("Equal sides draw … % (within five points)", abs(drawn - kind.draws) < 0.05))
    if "like meets like" in rows["Opponents"]:
        said.append(("Like meets like", alike > 0.3))
    moves = kind.walk > 0 or kind.growth > 0
    if "move from" in rows["Strengths"]:
        said.append(("Strengths move", moves))
    for one in (found.misrated[0], found.misrated[-1]):
        if abs(one.off) > 2 * one.error:
            place = truth.matches.teams.index(one.side)
            mean = (truth.rating - truth.strength)[active].mean()
            real = truth.rating[place] - truth.strength[place] - mean
            said.append(("The best or worst side is rated too high or low", (real > 0) == (one.off > 0)))
    edge = found.before @ np.array([1.0, -1.0]) + np.where(truth.matches.neutral, 0.0, found.home.in_use)
    forecast = 1 / (1 + 10 ** (-edge / 400))
    later = slice(found.since, None)
    bold = float(((truth.expected - forecast) * edge)[later].sum()) < 0
    if "not clearly" not in rows["Forecasts"] and "do not follow" not in rows["Forecasts"]:
        said.append(("Forecasts are too bold or timid", bold == ("too bold" in rows["Forecasts"])))
    both, seen = found.before[later].ravel(order="F"), (truth.expected - forecast)[later]
    seen = np.concatenate([seen, -seen])
    for line in rows.get("Strong and weak sides", "").splitlines():
        if m := re.search(r"the (best|weakest) fifth is (under|over)rated", line):
            cut = np.quantile(both, 0.8 if m[1] == "best" else 0.2)
            members = both >= cut if m[1] == "best" else both <= cut
            said.append(("A fifth is underrated or overrated", (seen[members].sum() > 0) == (m[2] == "under")))
    if found.inflation is not None and "start where they should" in rows["Inflation"]:
        right = float((truth.rating - truth.strength)[active & ~truth.newcomer].mean()) + _entry(truth)
        said.append(("Newcomers start where they should", abs(right - 1500) < 60))
    return said


def one_league(name: str, seed: int) -> list[tuple[str, bool]]:
    """Play a league, audit its first half and judge what is said."""
    kind = KINDS[name]
    league = play(kind, 5000 + seed)
    audited = len(league.matches) // 2
    matches, k = league.matches[:audited], K_IN_USE[(seed + list(KINDS).index(name)) % len(K_IN_USE)]
    # One time in five a home advantage is given, and it is wrong.
    rater = kn.TeamElo.classic(k=k, home_advantage=2.0 * kind.home if kind.home and seed % 5 == 0 else None)
    by = reference = None
    if kind.newcomers and seed % 2:
        late = dict(zip(league.matches.teams, league.newcomer))
        by = {side: "late" if late[side] else "early" for side in matches.teams}
        reference = "early" if seed % 4 == 1 else None
    found = kn.audit(matches, rater, by=by, reference=reference)
    return judge(found, Truth(league, audited, found, seed))


def contests_by(way: str, seed: int) -> contest_kinds.Made:
    """Contests whose fields are chosen by strength, by rating, at random, along a chain or within pools that never
    meet, and true strengths.

    Fields of 4 to 30, entrants, spread, walk and the part that enters late are drawn by the seed.
    """
    g = np.random.default_rng([seed, 63])
    size, n = int(g.integers(4, 31)), int(g.integers(50, 121))
    n, spread, k = max(n, 3 * size), g.uniform(100.0, 260.0), 60.0
    contests, walk = 2 * int(np.clip(4000 // size, 120, 500)), g.choice([0.0, 0.0, 3.0, 8.0])
    enters = np.where(g.random(n) < g.choice([0.0, 0.3]), g.uniform(0.1, 0.9, n) * contests, 0.0)
    pool = g.integers(3, size=n)
    strength = spread * g.normal(size=n) + np.where(enters > 0, g.choice([0.0, -0.7]) * spread, 0.0)
    strength += 0.3 * spread * g.normal(size=3)[pool] * (way == "pools")
    rating, table, true = np.zeros(n), defaultdict(list), []
    for c in range(contests):
        there = np.flatnonzero(enters <= c)
        middle, field_size = g.choice(there), max(size - int(g.integers(0, 2)), 3)
        if way == "pools":
            there = there[pool[there] == pool[middle]]
        key = {"strength": strength, "rating": rating + 1e-6 * g.normal(size=n), "chain": np.arange(n)}.get(way)
        if key is not None:
            there = there[np.argsort(np.abs(key[there] - key[middle]))[: int(1.6 * size) + 1]]
        if there.size < 3:
            continue
        field = g.choice(there, min(field_size, there.size), replace=False)
        strength[field] += walk * g.normal(size=field.size)
        field = field[np.argsort(-strength[field] / POINTS - g.normal(size=field.size))]
        chance = 1 / (1 + 10 ** ((rating[field] - rating[field][:, None]) / 400))
        rating[field] += k * (np.arange(field.size)[::-1] - chance.sum(axis=1) + 0.5) / (field.size - 1)
        table["race"] += [c] * field.size
        table["date"] += [str(np.datetime64("2010-01-01") + 3 * c)] * field.size
        table["driver"] += [f"P{one:03d}" for one in field]
        table["place"] += list(range(1, field.size + 1))
        true.append(strength[field] / POINTS)
    return contest_kinds.Made(kn.read_contests(dict(table)), np.concatenate(true))


def orders_lost(races: kn.matches.Contests, r: np.ndarray, x: np.ndarray) -> float:
    """Expected log-loss of ratings before contests between these strengths, over how two of a field end."""
    total = pairs = 0.0
    for low, high in zip(races.first, races.first[1:]):
        i, j = np.triu_indices(high - low, 1)
        p = ndtr((x[low:high][i] - x[low:high][j]) / POINTS / math.sqrt(2))
        gap = (r[low:high][i] - r[low:high][j]) * math.log(10) / 400
        total, pairs = total + float((np.logaddexp(0, -gap) + (1 - p) * gap).sum()), pairs + i.size
    return total / pairs


def judge_contests(found: ContestAudit, x: np.ndarray, later: kn.matches.Contests, to_come: np.ndarray):
    """The same of contests between these strengths (points, of all entries), and of later ones."""
    races, k, initial = found.contests, found.k or 0.0, found.in_use.rater.initial
    cut = races.first[found.since]

    def rated(k: float) -> np.ndarray:
        return kn.TeamElo.classic(k=k).one_step_ahead(races).mean

    curve = np.array([orders_lost(races[found.since :], rated(one)[cut:], x[cut:]) for one in CONTEST_K])
    best = lowest(CONTEST_K, curve[:, None])[0]
    answer, held = found.lead.answer, found.advice.low <= best <= found.advice.high
    judged = [("Contests: all K from … to … may be right" if "may be right" in answer else
               "Contests: K … is best (interval)", held)]  # fmt: skip
    if "too large" in answer or "too small" in answer:
        sure = "probably " if "probably" in answer else ""
        judged.append((f"Contests: K is {sure}too large or small", (best < k) == ("too large" in answer)))
    if any(one.kind == "K" for one in found.findings):
        start = kn.TeamElo.classic(k=k).fit(races).ratings_
        used, taken = (
            orders_lost(later, kn.TeamElo.classic(k=one, start=start).one_step_ahead(later).mean, to_come)
            for one in (k, found.advice.k)
        )
        judged.append(("Contests: take K = …: it forecasts the contests to come better", taken < used))
    size = races.sizes.astype(float)
    mean = (np.bincount(races.contest, x) / size)[races.contest]
    # In the largest of the pools that never meet.
    there = pools_of_contests(races)[races.entrant] == 0
    free = (size - 1)[np.unique(races.contest[there])].sum()
    own = x[there]
    alike = 1 - float(((own - mean[there]) ** 2).sum()) / free / own.var()
    rows = dict(found.rows())
    if "ratings show less" in found.lead.caveat:
        late = there & (np.arange(x.size) >= races.first[found.since])
        share = float(np.polyfit(x[late], rated(found.advice.k)[late], 1)[0])
        judged.append(("Contests: fields are alike, and ratings show less", alike > 0.3 and share < 1.0))
    for words, true in (("like meets like", alike > 0.3), ("hardly differ", alike < 0.2)):
        if words in rows["Fields"]:
            judged.append((f"Contests: {words}", true))
    new = np.zeros(x.size, bool)
    new[np.unique(races.entrant, return_index=True)[1]] = True
    fresh = np.bincount(races.contest, new)
    there = (np.arange(size.size) >= found.since) & (fresh > 0) & (fresh < size)
    if found.start is not None and there.any():
        r, known = rated(found.measured.best), size - fresh
        beside, strong = (np.bincount(races.contest, np.where(new, 0.0, one))[there] / known[there] for one in (r, x))
        above = np.bincount(races.contest, np.where(new, x, 0.0))[there] / fresh[there] - strong
        right = float(np.average(beside + above, weights=fresh[there]))
        held = found.start.low <= right <= found.start.high
        judged.append(("Contests: newcomers belong at … (interval)", held))
        if "should start at" in rows["Newcomers"]:
            judged.append(
                ("Contests: newcomers should start elsewhere", (right < initial) == (found.start.mean < initial))
            )
        elif "start where they should" in rows["Newcomers"]:
            judged.append(("Contests: newcomers start where they should", abs(right - initial) < 60))
    if "move over" in rows["Strengths"]:
        still = all(np.ptp(x[races.entrant == one]) == 0 for one in np.unique(races.entrant)[:20])
        judged.append(("Contests: strengths move", not still))
    return judged


def some_contests(name: str, seed: int) -> list[tuple[str, bool]]:
    """Play contests of a kind, audit them and judge what is said."""
    kind, number = CONTESTS[name]
    made = contests_by(kind, seed) if isinstance(kind, str) else contest_kinds.make(kind, 2 * number, 700 + seed)
    half, x = len(made.contests) // 2, POINTS * made.strength
    k = CONTEST_K_IN_USE[(seed + list(CONTESTS).index(name)) % len(CONTEST_K_IN_USE)]
    found, cut = kn.audit(made.contests[:half], kn.TeamElo.classic(k=k)), made.contests.first[half]
    return judge_contests(found, x[:cut], made.contests[half:], x[cut:])


def main() -> int:
    """Play, count and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--leagues", type=int, default=16)
    parser.add_argument("--contests", type=int, default=4)
    parser.add_argument("--others", type=int, default=8)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--into", type=Path)
    asked = parser.parse_args()
    known: dict[tuple[str, int], list] = {}
    if asked.into is not None and asked.into.exists():
        for line in asked.into.read_text().splitlines():
            name, seed, judged = json.loads(line)
            known[name, seed] = judged
    wanted = [(f"contests, {name}", seed) for seed in range(asked.contests) for name in CONTESTS]
    wanted += [(name, seed) for seed in range(asked.leagues) for name in KINDS]
    wanted += [(name, seed) for seed in range(asked.others) for name in audit_others.KINDS]
    for name, seed in ((name, asked.first + seed) for name, seed in wanted):
        if (name, seed) not in known:
            kind = name.removeprefix("contests, ")
            other = audit_others.KINDS.get(name)
            judged = other(seed) if other else one_league(kind, seed) if name == kind else some_contests(kind, seed)
            known[name, seed] = [(words, bool(true)) for words, true in judged]
            if asked.into is not None:
                with asked.into.open("a") as lines:
                    lines.write(json.dumps([name, seed, known[name, seed]]) + "\n")
    counts: dict[str, list[bool]] = defaultdict(list)
    for judged in known.values():
        for words, true in judged:
            counts[words].append(true)
    races = sum(name.startswith("contests, ") for name, _ in known)
    others = sum(name in audit_others.KINDS for name, _ in known)
    leagues = f"{len(known) - races - others} leagues of {len(KINDS)} kinds, {races} of contests of {len(CONTESTS)}"
    print(f"{leagues}, {others} others of {len(audit_others.KINDS)}\n")
    print("| sentence | said | true, % |\n|---|---|---|")
    missed = 0
    for words, true in sorted(counts.items()):
        share, n = float(np.mean(true)), len(true)
        low = n >= LEAST_SAID and share < LEAST_TRUE - 2 * math.sqrt(LEAST_TRUE * (1 - LEAST_TRUE) / n)
        missed += low
        print(f"| {words} | {n} | {100 * share:.0f}{' missed' * low} |")
    return missed


if __name__ == "__main__":
    sys.exit(main() > 0)
