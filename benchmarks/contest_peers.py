"""Other libraries' ratings of contests as forecasters, so that one table holds them and ours.

Each library rates contest by contest. Two numbers are its own to choose, by the log-loss of orders on the training
span, of which the first quarter is left out: how fast ratings change and how far newcomers spread, each doubled or
halved from the library's default for as long as that helps. What the library believes of an entrant, with its own noise
of a performance, is read as any other forecast is: a normal performance. Where an entrant has several slots (a driver
and a car), it is a team of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kinelo as kn
from kinelo.forecasts.contest_scores import order_log_loss, pooled
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests

Array = NDArray[np.float64]
WARM_UP = 0.25
MOST_TRIALS = 8


class Manner(NamedTuple):
    """Factors on a library's pace and on its spread of newcomers."""

    pace: float = 1.0
    spread: float = 1.0


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
        self.model = trueskill.TrueSkill(25.0, sigma, self.beta, 25.0 / 300.0 * manner.pace, draw_probability=0.02)

    def newcomer(self) -> Any:
        return self.model.create_rating()

    def rate(self, teams: list[list[Any]], ranks: list[int]) -> list[list[Any]]:
        return [list(team) for team in self.model.rate([tuple(team) for team in teams], ranks=ranks)]


class EloMMR:
    """elo-mmr-py, which rates names alone: the first slot of each entry."""

    def __init__(self, manner: Manner) -> None:
        import elo_mmr_py

        self.module = elo_mmr_py
        config = elo_mmr_py.EloMmrConfig(drift_per_day=manner.pace * 5.0)
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
    """choix: Plackett–Luce refitted before every twentieth contest on all before, with the ridge as its spread."""

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
            if c % 20 == 0 and self.past:
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


class Tuned:
    """A library whose manner is chosen on the training span."""

    def __init__(self, library: Callable[[Manner], Any], tuned: tuple[str, ...] = ("pace", "spread")) -> None:
        self.library, self.tuned, self.manner = library, tuned, Manner()
        self.rated: Any = None

    def _loss(self, contests: Contests, manner: Manner) -> float:
        said = self.library(manner).ahead(contests)
        scores = order_log_loss(said)
        scores[: int(WARM_UP * len(contests))] = np.nan
        return pooled("order_log_loss", said, scores)

    def fit(self, contests: Contests) -> Tuned:
        best, trials = self._loss(contests, self.manner), 1
        for name in self.tuned * 2:
            for factor in (2.0, 0.5):
                while trials < MOST_TRIALS:
                    tried = self.manner._replace(**{name: getattr(self.manner, name) * factor})
                    loss, trials = self._loss(contests, tried), trials + 1
                    if not loss < best:
                        break
                    best, self.manner = loss, tried
        self.rated = self.library(self.manner)
        self.rated.ahead(contests)
        return self

    def one_step_ahead(self, contests: Contests) -> ContestForecast:
        return self.rated.ahead(contests)


PEERS: dict[str, Callable[[], Any]] = {
    "RankElo": kn.RankElo,
    "plain Elo, K = 32": lambda: kn.TeamElo.classic(k=32),
    "openskill, tuned": lambda: Tuned(Openskill),
    "trueskill, tuned": lambda: Tuned(Trueskill),
    "elo-mmr-py, tuned": lambda: Tuned(EloMMR),
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


def made_up(kind: str, contests: int = 400, seed: int = 1) -> Contests:
    """Made-up contests of one kind."""
    table = kn.matches.sample_contests(**{"contests": contests, "seed": seed} | KINDS[kind])
    slots: Any = {"player": ["player_1", "player_2", "player_3"]} if kind == "teams" else ()
    return kn.read_contests(table, slots=slots)


def compare(contests: Contests, names: tuple[str, ...] = tuple(PEERS)) -> Any:
    """All of them on the same contests: fitted on the earlier half, the later half forecast one step ahead."""
    chosen = {name: PEERS[name]() for name in names}
    return kn.backtest(contests, chosen, train_until=contests.date[len(contests) // 2]).scores


def main() -> None:
    """Print a table for every kind of made-up contests, and for a file of races where one is named."""
    import sys

    import polars as pl

    pl.Config.set_tbl_width_chars(140)
    for kind in KINDS:
        print(kind, compare(made_up(kind)), sep="\n", flush=True)
    for path in sys.argv[1:]:
        for slots in (["driver"], ["driver", "constructor"]):
            races = kn.read_contests(path, slots=slots)
            names = tuple(
                name
                for name in PEERS
                if len(slots) == 1 or name.partition(",")[0] in ("RankElo", "openskill", "trueskill")
            )
            print(path, slots, compare(races, names), sep="\n", flush=True)


if __name__ == "__main__":
    main()
