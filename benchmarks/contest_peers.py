"""Other libraries' ratings of contests as forecasters, so that one table holds them and ours.

    python benchmarks/contest_peers.py [--write] [--samples N] [FILE …]

Each library rates contest by contest. Its numbers are chosen by the log-loss of orders on the training span, of which
the first quarter is left out: how fast ratings change and how far newcomers spread (and, of trueskill, the chance of a
draw), each doubled or halved from the library's default for as long as that helps. What the library believes of an
entrant, with its own noise of a performance, is read as a normal performance, all deviations times one factor, which is
chosen on the training span as well. Where an entrant has several slots (a driver and a car), it is a team of them.
Differences are of the same contests; their standard errors come from contests drawn with replacement.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

import kinelo as kn
from conftest import Section, write_sections
from kinelo.forecasts.comparison import weighted_mean
from kinelo.forecasts.contest_scores import CONTEST_METRICS, OF_PAIRS, order_log_loss, pairs_of, pooled
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests

Array = NDArray[np.float64]
WARM_UP = 0.25
MOST_TRIALS = 12
OF_ALL = ("one series", "divisions")
"""Kinds in which the level of a field matters that every library is tried on; thousands of names take some hours."""
SLOW = ("openskill", "trueskill", "choix")
RESAMPLES = 1000
SAMPLES = 2
REFITTED = 10
"""Contests after which a batch fit is made again."""
TITLE = "Contests: who comes before whom, one step ahead"


class Manner(NamedTuple):
    """Factors on a library's pace, on its spread of newcomers, on its chance of a draw and on its pace by days."""

    pace: float = 1.0
    spread: float = 1.0
    draws: float = 1.0
    daily: float = 1.0


def members(contests: Contests) -> list[list[tuple[str, str]]]:
    """Slots of every entry as (kind, name)."""
    found: list[list[tuple[str, str]]] = [[] for _ in range(contests.entrant.size)]
    for kind, slots in contests.slots.items():
        for entry, codes in zip(found, slots.codes.tolist()):
            entry += [(kind, slots.names[code]) for code in codes if code >= 0]
    return found


class Library:
    """A rating of another library: a belief (mean, deviation) per slot, and an update by one contest."""

    beta = 1.0

    def __init__(self, manner: Manner) -> None:
        self.beliefs: dict[tuple[str, str], Any] = {}
        self.prepare(manner)

    def prepare(self, manner: Manner) -> None:
        raise NotImplementedError

    def newcomer(self) -> Any:
        raise NotImplementedError

    def rate(self, teams: list[list[Any]], ranks: list[int]) -> list[list[Any]]:
        raise NotImplementedError

    def belief(self, one: Any) -> tuple[float, float]:
        return one.mu, one.sigma

    def ahead(self, contests: Contests) -> ContestForecast:
        """Forecast each contest before it is used, and use it; who does not finish does not count."""
        slots, mean, deviation = members(contests), np.empty(contests.entrant.size), np.empty(contests.entrant.size)
        for c in range(len(contests)):
            entries = range(int(contests.first[c]), int(contests.first[c + 1]))
            for e in entries:
                held = [self.belief(self.beliefs.setdefault(s, self.newcomer())) for s in slots[e]]
                mean[e] = sum(m for m, _ in held)
                deviation[e] = math.sqrt(sum(s * s for _, s in held) + len(held) * self.beta**2)
            counted = [e for e in entries if contests.ended[e] == 0]
            if len(counted) > 1:
                ranks = np.unique(contests.place[counted], return_inverse=True)[1].tolist()
                rated = self.rate([[self.beliefs[s] for s in slots[e]] for e in counted], ranks)
                for e, team in zip(counted, rated):
                    self.beliefs.update(zip(slots[e], team))
        return ContestForecast(contests, mean, deviation)


class Openskill(Library):
    """openskill's Plackett–Luce."""

    def prepare(self, manner: Manner) -> None:
        from openskill.models import PlackettLuce

        sigma = 25.0 / 3.0 * manner.spread
        self.model = PlackettLuce(mu=25.0, sigma=sigma, beta=25.0 / 6.0, tau=25.0 / 300.0 * manner.pace)
        self.beta = 25.0 / 6.0

    def newcomer(self) -> Any:
        return self.model.rating()

    def rate(self, teams: list[list[Any]], ranks: list[int]) -> list[list[Any]]:
        return self.model.rate(teams, ranks=[float(r) for r in ranks])


class Trueskill(Library):
    """trueskill."""

    def prepare(self, manner: Manner) -> None:
        import trueskill

        sigma = 25.0 / 3.0 * manner.spread
        self.beta = 25.0 / 6.0
        draws = min(0.02 * manner.draws, 0.9)
        self.model = trueskill.TrueSkill(25.0, sigma, self.beta, 25.0 / 300.0 * manner.pace, draw_probability=draws)

    def newcomer(self) -> Any:
        return self.model.create_rating()

    def rate(self, teams: list[list[Any]], ranks: list[int]) -> list[list[Any]]:
        return [list(team) for team in self.model.rate([tuple(team) for team in teams], ranks=ranks)]


class EloMMR:
    """elo-mmr-py, which rates names alone: the first slot of each entry; without a manner as its authors set it."""

    def __init__(self, manner: Manner | None) -> None:
        import elo_mmr_py

        self.module = elo_mmr_py
        config = elo_mmr_py.EloMmrConfig()
        if manner is not None:
            config = elo_mmr_py.EloMmrConfig(drift_per_day=manner.daily * 5.0, sig_limit=manner.pace * 80.0)
        manner = manner or Manner()
        self.rater = elo_mmr_py.Rater(system=config, mu_noob=1500.0, sig_noob=350.0 * manner.spread)

    def ahead(self, contests: Contests) -> ContestForecast:
        slots = members(contests)
        mean, deviation = np.full(contests.entrant.size, 1500.0), np.full(contests.entrant.size, 350.0)
        known: dict[str, Any] = dict(self.rater.ratings)
        for c in range(len(contests)):
            entries = range(int(contests.first[c]), int(contests.first[c + 1]))
            for e in entries:
                if (one := known.get(slots[e][0][1])) is not None:
                    mean[e], deviation[e] = one.mu, one.sig
            counted = [e for e in entries if contests.ended[e] == 0]
            if len(counted) < 2:
                continue
            ranks = np.unique(contests.place[counted], return_inverse=True)[1]
            low = {r: int((ranks < r).sum()) for r in set(ranks.tolist())}
            standings = [(slots[e][0][1], low[r], low[r] + int((ranks == r).sum()) - 1) for e, r in zip(counted, ranks)]
            seconds = int((contests.day[c] + 40_000) * 86_400)
            self.rater.add(self.module.Contest(standings, time_seconds=seconds, name=str(c)))
            known = self.rater.ratings
        return ContestForecast(contests, mean, np.hypot(deviation, 200.0))


class BatchPlackettLuce:
    """choix: Plackett–Luce refitted every few contests on all before, with the ridge as its spread."""

    def __init__(self, manner: Manner) -> None:
        self.alpha, self.past = 0.02 / manner.spread, []

    def ahead(self, contests: Contests) -> ContestForecast:
        import choix

        slots, mean = members(contests), np.zeros(contests.entrant.size)
        names: dict[str, int] = {}
        for _, name in (entry[0] for past in self.past for entry in past):
            names.setdefault(name, len(names))
        strength = np.zeros(0)
        for c in range(len(contests)):
            entries = range(int(contests.first[c]), int(contests.first[c + 1]))
            if c % REFITTED == 0 and self.past:
                for past in self.past:
                    for entry in past:
                        names.setdefault(entry[0][1], len(names))
                data = [tuple(names[entry[0][1]] for entry in past) for past in self.past]
                strength = choix.ilsr_rankings(len(names), data, alpha=self.alpha)
            for e in entries:
                at = names.get(slots[e][0][1], len(strength))
                mean[e] = strength[at] if at < len(strength) else (strength.mean() if strength.size else 0.0)
            counted = [slots[e] for e in entries if contests.ended[e] == 0]
            if len(counted) > 1:
                self.past.append(counted)
        return ContestForecast(contests, mean, np.full(mean.size, math.pi / math.sqrt(6.0)), (), "gumbel")


class DecayingMean:
    """The mean of past places as normal scores, older ones counting less, drawn to 0 like ``drawn`` contests."""

    def __init__(self, manner: Manner) -> None:
        self.kept, self.drawn = 0.9**manner.pace, 1.0 / manner.spread
        self.sums: dict[str, tuple[float, float]] = {}

    def ahead(self, contests: Contests) -> ContestForecast:
        slots, mean = members(contests), np.zeros(contests.entrant.size)
        for c in range(len(contests)):
            entries = range(int(contests.first[c]), int(contests.first[c + 1]))
            for e in entries:
                total, weight = self.sums.get(slots[e][0][1], (0.0, 0.0))
                mean[e] = total / (weight + self.drawn)
            counted = [e for e in entries if contests.ended[e] == 0]
            for e in counted:
                score = float(ndtri(1.0 - (contests.place[e] - 0.5) / len(counted)))
                total, weight = self.sums.get(slots[e][0][1], (0.0, 0.0))
                self.sums[slots[e][0][1]] = self.kept * total + score, self.kept * weight + 1.0
        return ContestForecast(contests, mean, np.ones(mean.size))


class Tuned:
    """A library whose manner, and a factor on its deviations, are chosen on the training span."""

    def __init__(self, library: Callable[[Manner], Any], tuned: tuple[str, ...] = ("pace", "spread")) -> None:
        self.library, self.tuned, self.manner, self.factor = library, tuned, Manner(), 1.0
        self.rated: Any = None

    def _loss(self, contests: Contests, manner: Manner) -> tuple[float, float]:
        """Loss of the contests after the first ones with the best factor, and that factor."""
        said = self.library(manner).ahead(contests)
        begin = int(WARM_UP * len(contests))
        entries = slice(int(contests.first[begin]), None)
        later = replace(said, contests=contests[begin:], mean=said.mean[entries], deviation=said.deviation[entries])

        def loss(log_factor: float) -> float:
            told = replace(later, deviation=later.deviation * math.exp(log_factor))
            return pooled("order_log_loss", told, order_log_loss(told))

        found = minimize_scalar(loss, bounds=(-2.0, 3.0), method="bounded", options={"xatol": 0.02})
        return float(found.fun), math.exp(found.x)

    def fit(self, contests: Contests) -> Tuned:
        (best, self.factor), trials = self._loss(contests, self.manner), 1
        for name in self.tuned * 2:
            for change in (2.0, 0.5):
                while trials < MOST_TRIALS:
                    tried = self.manner._replace(**{name: getattr(self.manner, name) * change})
                    (loss, factor), trials = self._loss(contests, tried), trials + 1
                    if not loss < best:
                        break
                    best, self.manner, self.factor = loss, tried, factor
        self.rated = self.library(self.manner)
        self.rated.ahead(contests)
        return self

    def one_step_ahead(self, contests: Contests) -> ContestForecast:
        said = self.rated.ahead(contests)
        return replace(said, deviation=said.deviation * self.factor)


PEERS: dict[str, Callable[[], Any]] = {
    "RankElo": kn.RankElo,
    "plain Elo, K = 32": lambda: kn.TeamElo.classic(k=32),
    "openskill, tuned": lambda: Tuned(Openskill),
    "trueskill, tuned": lambda: Tuned(Trueskill, ("pace", "spread", "draws")),
    "elo-mmr-py, tuned": lambda: Tuned(EloMMR, ("pace", "spread", "daily")),
    "elo-mmr-py, as published": lambda: Tuned(lambda manner: EloMMR(None), ()),
    "decaying mean of places, tuned": lambda: Tuned(DecayingMean),
    "choix, refitted": lambda: Tuned(BatchPlackettLuce, ("spread",)),
}

KINDS: dict[str, dict[str, Any]] = {
    "still": {},
    "walking": {"walk": 1.0},
    "teams": {"team": 3, "entrants": 60, "size": 8},
    "newcomers": {"newcomers": 0.4, "walk": 0.3},
    "unequal fields": {"size": (2, 30)},
    "many ties": {"levels": 3, "size": 12},
}


FIELDS = {"one series": 60, "divisions": 60, "many once": 60, "two a year": 60, "they learn": 60, "huge fields": 500}
"""Kinds of ``verification/contest_kinds.py`` in which the level of a field matters, with the size of their fields."""
FIELD_CONTESTS = 240


def fields_of(kind: str, seed: int = 1) -> Contests:
    """Made-up contests of a kind in which the level of a field matters."""
    sys.path.append(str(Path(__file__).parents[1] / "verification"))
    from contest_kinds import KINDS as LEVELS
    from contest_kinds import make

    return make(LEVELS[kind]._replace(size=FIELDS[kind]), FIELD_CONTESTS, seed).contests


def made_up(kind: str, contests: int = 400, seed: int = 1) -> Contests:
    """Made-up contests of one kind."""
    table = kn.matches.sample_contests(**{"contests": contests, "seed": seed} | KINDS[kind])
    slots: Any = {"player": ["player_1", "player_2", "player_3"]} if kind == "teams" else ()
    return kn.read_contests(table, slots=slots)


def compare(contests: Contests, names: tuple[str, ...] = tuple(PEERS)) -> Any:
    """All of them on the same contests: fitted on the earlier half, the later half forecast one step ahead."""
    chosen = {name: PEERS[name]() for name in names}
    return kn.backtest(contests, chosen, train_until=contests.date[len(contests) // 2])


class Line(NamedTuple):
    """Scores of one rater over some samples, and pairs right less RankElo's with the standard error (%)."""

    name: str
    pairs: float
    order: float
    winner: float
    behind: float
    error: float

    def said(self) -> str:
        gap = "" if self.name == "RankElo" else f"{self.behind:+.2f} ± {self.error:.2f}; "
        return f"{self.pairs:.2f} % ({gap}order {self.order:.4f}, winner {self.winner:.4f})"


def lines_of(tests: list[Any], reference: str = "RankElo") -> list[Line]:
    """Scores over the contests of all samples together, the most pairs right first."""
    weights = {m: np.concatenate([pairs_of(t.contests) if m in OF_PAIRS else np.ones(t.number) for t in tests])
               for m in CONTEST_METRICS}  # fmt: skip
    of = lambda name, metric: np.concatenate([t.contest_scores(name, metric) for t in tests])  # noqa: E731
    mean = lambda x, metric: weighted_mean(x, np.where(np.isnan(x), 0.0, weights[metric]))  # noqa: E731
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, weights["pairs_right"].size, (RESAMPLES, weights["pairs_right"].size))
    base, found = of(reference, "pairs_right"), []
    for name in tests[0].forecasts:
        gap = of(name, "pairs_right") - base
        counts = np.where(np.isnan(gap), 0.0, weights["pairs_right"])
        resampled = (np.nan_to_num(gap) * counts)[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
        scores = {metric: mean(of(name, metric), metric) for metric in CONTEST_METRICS}
        found.append(
            Line(name, 100 * scores["pairs_right"], scores["order_log_loss"], scores["winner_log_loss"],
                 100 * mean(gap, "pairs_right"), 100 * float(resampled.std()))
        )  # fmt: skip
    return sorted(found, key=lambda line: -line.pairs)


def add_rows(section: Section, what: str, lines: list[Line]) -> None:
    """Print the lines of one table and put them into the report."""
    best = max(line.pairs for line in lines if line.name != "RankElo")
    for line in lines:
        print(f"{what}: {line.name}: {line.said()}", flush=True)
        ours = line.name == "RankElo"
        target = f"above {best:.2f} % (every peer)" if ours else ""
        section.row(f"{what}: {line.name}", line.said(), target, line.pairs > best if ours else None)


def main() -> None:
    """Table every kind of made-up contests, and files of races where some are named."""
    asked = argparse.ArgumentParser(description=main.__doc__)
    asked.add_argument("files", nargs="*")
    asked.add_argument("--samples", type=int, default=SAMPLES, help="made-up samples of each kind")
    asked.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = asked.parse_args()
    section = Section(TITLE)
    section.note = (
        f"benchmarks/contest_peers.py, one run: {options.samples} samples of 400 made-up contests of each kind, of "
        f"{FIELD_CONTESTS} where fields have a size, and 1,143 races of Formula 1 (1950–2025), the earlier half to fit "
        "and to tune, the later half scored. Other libraries choose pace, spread of newcomers, a factor on deviations "
        "and, of trueskill, the chance of a draw, of elo-mmr-py the pace by days, on the earlier half (at most "
        f"{MOST_TRIALS} trials); elo-mmr-py as published chooses that factor alone; choix is refitted every "
        f"{REFITTED} contests; RankElo estimates its parameters. Pairs of finishers in the order forecast, then what "
        "they are above RankElo's ± one standard error, then log-losses of order and winner. elo-mmr-py, choix and "
        "plain Elo rate names alone: teams are new to them each time. openskill, trueskill and choix are slow, and are "
        "not tried where thousands of names come and go."
    )
    for kind in KINDS:
        tests = [compare(made_up(kind, seed=1 + k)) for k in range(options.samples)]
        add_rows(section, kind, lines_of(tests))
    for kind in FIELDS:
        names = tuple(name for name in PEERS if kind in OF_ALL or name.split(",")[0] not in SLOW)
        tests = [compare(fields_of(kind, seed=1 + k), names) for k in range(options.samples)]
        add_rows(section, f"{kind}, fields of {FIELDS[kind]}", lines_of(tests))
    for path in options.files:
        for slots in (["driver"], ["driver", "constructor"]):
            races = kn.read_contests(path, slots=slots)
            alone = len(slots) == 1
            names = tuple(n for n in PEERS if alone or n.partition(",")[0] in ("RankElo", "openskill", "trueskill"))
            what = "races, drivers alone" if alone else "races, drivers and cars"
            add_rows(section, what, lines_of([compare(races, names)]))
    if options.write:
        write_sections([section])


if __name__ == "__main__":
    main()
