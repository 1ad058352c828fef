"""Of several ways to the same answer each is taken up to its bound, and the next one beyond; refusals begin there too.

Answers of both ways agree, so that no answer shows which was taken: here the ways tell, before they compute anything.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice import charts, diagnosis, league_evidence, matchmaking
from kinelo.macro.grid import Axis, Grid
from kinelo.macro.state import stationary_map
from kinelo.macro.velocity import FaceAverages, interaction
from kinelo.micro.simulate import loop_of
from kinelo.micro.sweep_points import common_kind
from kinelo.model import (
    AllPlayAll,
    DeviationSteps,
    FallingSteps,
    FideSteps,
    Field,
    Form,
    LineupLottery,
    Local,
    Outcome,
    Period,
    Rounds,
    Turnover,
    Walk,
    Window,
)
from kinelo.model.expectation import expected_result
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import rating_noise
from kinelo.theory.many_teams import merge_many
from kinelo.theory.moving import best, following, glicko, open_league
from kinelo.theory.recovery import _pull, _standard_error, _with_step_size
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.teams import Continuum, teams_of

TANH, PLAIN = kn.Tanh(0.6), kn.RatingSystem(kn.Tanh(0.6), gamma=0.05)
EVERYONE, FORM = AllPlayAll(), Form(0.03, 0.5)


class Taken(Exception):
    """Raised by a way that is taken."""


def system(**other):
    return kn.RatingSystem(**{"outcome": TANH, "gamma": 0.05, **other})


def equal(count):
    return kn.Fixed(np.zeros(count))


def one_each(count):
    return tuple(np.full(count, 0.05))


def nodes(count, sigma=0.4):
    return teams_of(Continuum((-0.4, 0.9), sigma, nodes=count))


MASTERS = teams_of(kn.Fixed(np.linspace(1900.0, 2600.0, 301)))


def at_rest(count, pairing=EVERYONE):
    teams = teams_of(equal(count))
    return SimpleNamespace(
        teams=teams, system=system(pairing=pairing), closure="exact", rating=teams.theta, variance=np.zeros(count),
        covariance=None, sides=2,
    )  # fmt: skip


def noise(of, method="auto", **other):
    return rating_noise(system(**other), of, "exact", of.theta, method)


def few(count, **other):
    return noise(teams_of(equal(count)), **other)


def played(count=3, outcome=TANH, sampling=False, dynamics=None, **other):
    league, asked = equal(count), kn.RatingSystem(outcome, **{"gamma": 0.05, **other})
    encoded = encode(asked, league, dynamics, literal=sampling)
    return loop_of(asked, league, encoded, realisation_keys(1, range(2)))


def simulated(realisations):
    return kn.simulate(PLAIN, equal(3), steps=1, realisations=realisations, seed=1, threads=1)


def labels(theta, sigma):
    return Grid(Axis(0.0, 1.0, theta), Axis(0.1, 0.5, sigma), Axis(0.0, 1.0, 5))


def settled(count):
    velocity = SimpleNamespace(separates=True, label=np.zeros(count), grid=labels(count, 1))
    return stationary_map(TANH, velocity, np.ones(count), 0.5, moving=False)


def own_law(z):
    return z / (1.0 + abs(z))


STATIONARY = ("theory.limit.DensePull", "theory.limit.WavePull")
NOISE = tuple(f"theory.limit.{name}" for name in ("LeagueClosure", "large_league", "mean_field", "few_groups"))
RELAXATION = ("theory.relaxation._dense_gap", "theory.relaxation._Laplacian")
RECOVERY = ("theory.recovery.LeagueClosure", "theory.recovery.rating_noise")
LOOPS = tuple(f"micro.simulate.{name}" for name in ("table_play", "rounds_play", "general_play", "field_play"))
TAYLOR = ("advice.diagnosis.representatives", "advice.diagnosis.taylor_result")
SELECTIVE = ("theory.limit.expected_result",)
TOGETHER = ("micro.league.play_alone", "micro.league.play_table")


@pytest.mark.parametrize(
    ("ways", "ask", "taken"),
    [
        (STATIONARY, lambda: kn.stationary(PLAIN, equal(800)), "DensePull"),
        (STATIONARY, lambda: kn.stationary(PLAIN, equal(801)), "WavePull"),
        (STATIONARY, lambda: kn.stationary(PLAIN, equal(801), method="dense"), "DensePull"),
        (STATIONARY, lambda: kn.stationary(PLAIN, equal(3), method="matrix-free"), "WavePull"),
        (NOISE, lambda: few(300), "LeagueClosure"),
        (NOISE, lambda: few(301), "large_league"),
        (NOISE, lambda: few(301, method="dense"), "LeagueClosure"),
        (NOISE, lambda: few(3, method="matrix-free"), "large_league"),
        (NOISE, lambda: few(301, gamma=one_each(301)), "LeagueClosure"),
        (NOISE, lambda: noise(MASTERS, outcome=kn.Tanh.elo(), gamma=FideSteps()), "LeagueClosure"),
        (NOISE, lambda: few(301, gamma=FallingSteps(0.05, 2, 9)), "large_league"),
        (NOISE, lambda: few(301, pairing=Local()), "LeagueClosure"),
        (NOISE, lambda: few(301, schedule=Field(3)), "LeagueClosure"),
        (NOISE, lambda: few(100, schedule=Period(3)), "LeagueClosure"),
        (NOISE, lambda: few(101, schedule=Period(3)), "few_groups"),
        (NOISE, lambda: few(101, schedule=Period(3), method="dense"), "LeagueClosure"),
        (NOISE, lambda: few(101, schedule=Period(3), gamma=one_each(101)), "LeagueClosure"),
        (NOISE, lambda: noise(nodes(100)), "LeagueClosure"),
        (NOISE, lambda: noise(nodes(101)), "mean_field"),
        (NOISE, lambda: noise(nodes(101), method="dense"), "LeagueClosure"),
        (NOISE, lambda: noise(nodes(7), method="matrix-free"), "mean_field"),
        (RELAXATION, lambda: relaxation_of(at_rest(800)), "_dense_gap"),
        (RELAXATION, lambda: relaxation_of(at_rest(801)), "_Laplacian"),
        (RELAXATION, lambda: relaxation_of(at_rest(801, Window(1.0))), "_dense_gap"),
        (RECOVERY, lambda: _with_step_size(PLAIN, teams_of(equal(300)), np.zeros(300)), "LeagueClosure"),
        (RECOVERY, lambda: _with_step_size(PLAIN, teams_of(equal(301)), np.zeros(301)), "rating_noise"),
        (("theory.recovery.laplacian", "theory.recovery.WavePull"), lambda: doubt(800), "laplacian"),
        (("theory.recovery.laplacian", "theory.recovery.WavePull"), lambda: doubt(801), "WavePull"),
        (("macro.state.DensePull", "macro.state.WavePull"), lambda: settled(800), "DensePull"),
        (("macro.state.DensePull", "macro.state.WavePull"), lambda: settled(801), "WavePull"),
        (("macro.velocity.convolve", "macro.velocity.rfft"), lambda: faces(600), "convolve"),
        (("macro.velocity.convolve", "macro.velocity.rfft"), lambda: faces(601), "rfft"),
        (("model.expectation._kept", "model.expectation._exact"), lambda: lottery(1000), "_kept"),
        (("model.expectation._kept", "model.expectation._exact"), lambda: lottery(1001), "_exact"),
        (LOOPS, lambda: played(), "table_play"),
        (LOOPS, lambda: played(sampling=True), "general_play"),
        (LOOPS, lambda: played(outcome=Outcome.from_function(own_law)), "general_play"),
        (LOOPS, lambda: played(gamma=(0.1, 0.2, 0.3)), "general_play"),
        (LOOPS, lambda: played(gamma=FallingSteps(0.05, 2, 9)), "general_play"),
        (LOOPS, lambda: played(schedule=Period(2)), "general_play"),
        (LOOPS, lambda: played(schedule=Rounds()), "rounds_play"),
        (LOOPS, lambda: played(schedule=Rounds(), gamma=(0.1, 0.2, 0.3)), "rounds_play"),
        (LOOPS, lambda: played(schedule=Rounds(), gamma=FallingSteps(0.05, 2, 9)), "general_play"),
        (LOOPS, lambda: played(schedule=Rounds(), dynamics=Walk(0.1)), "general_play"),
        (LOOPS, lambda: played(schedule=Field(3)), "field_play"),
        (LOOPS, lambda: played(4097), "general_play"),
        (TOGETHER, lambda: simulated(2), "play_alone"),
        (TOGETHER, lambda: simulated(3), "play_table"),
        (("play.encoding.result_table",), lambda: played(4096), "result_table"),
        (("play.encoding.all_pairs",), lambda: played(4096, schedule=Rounds(), sampling=True), "all_pairs"),
        (("advice.diagnosis.largest_gain",), lambda: farming(800), "largest_gain"),
        (TAYLOR, lambda: diagnosis._taylor(TANH, teams_of(equal(801))), "representatives"),
        (TAYLOR, lambda: diagnosis._taylor(TANH, teams_of(equal(800))), "taylor_result"),
        (SELECTIVE, lambda: kn.stationary(system(pairing=Local()), equal(3000)), "expected_result"),
        (("theory.moving.rounds.stationary",), lambda: kn.theory.critical_gamma(TANH, equal(2000)), "stationary"),
        (("theory.fixed_point.one_blas_thread",), lambda: few_threads(1000), "one_blas_thread"),
        (("theory.fixed_point.nullcontext",), lambda: few_threads(1001), "nullcontext"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_way_meant_for_a_size_is_taken(ways, ask, taken, monkeypatch):
    def tell(name):
        def way(*args, **options):
            raise Taken(name)

        return way

    for name in ways:
        monkeypatch.setattr(f"kinelo.{name}", tell(name.rpartition(".")[2]))
    with pytest.raises(Taken, match=f"^{taken}$"):
        ask()


def doubt(count):
    return _standard_error(TANH, teams_of(equal(count)), np.zeros(count), SimpleNamespace(
        rating=np.zeros(count), variance=np.ones(count), covariance=None
    ))  # fmt: skip


def faces(cells):
    return FaceAverages(np.ones(2 * cells))(np.ones(cells))


def lottery(teams):
    return expected_result(TANH, LineupLottery(np.ones((teams, 2)) * np.arange(2.0), 1))


def farming(teams):
    state = kn.stationary(PLAIN, equal(3))
    return diagnosis._farming(replace(state, teams=teams_of(equal(teams))), equal(teams))


def whole(count, motion=None, **other):
    return LeagueClosure(system(**other), teams_of(equal(count)), motion=motion or StrengthMotion()).whole


def kept(count, dynamics=FORM, sigma=0.3, **other):
    """How many teams or groups of them a curve over step sizes is solved for, and whether with all covariances."""
    curve = best._FormCurve(system(**other), kn.Normal(np.linspace(-1.0, 2.0, count), sigma), dynamics)
    return curve._teams.size, curve._closure.whole


def pool(count):
    return open_league._pool(
        teams_of(kn.Normal([0.1, 0.7], 0.3)), Turnover(0.01, np.linspace(0.2, 0.9, count), 0.4)
    ).size


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda: (whole(300), whole(301)), (True, False)),
        (lambda: (whole(300, schedule=Rounds()), whole(301, schedule=Rounds())), (True, False)),
        (lambda: (whole(300, gamma=one_each(300)), whole(301, gamma=one_each(301))), (True, False)),
        (lambda: (whole(100, schedule=Period(2)), whole(101, schedule=Period(2))), (True, False)),
        (lambda: (whole(100, StrengthMotion(0.2, 0.1)), whole(101, StrengthMotion(0.2, 0.1))), (True, False)),
        (lambda: LeagueClosure(PLAIN, nodes(7)).whole, False),
        (lambda: (merge_many(teams_of(equal(300))).size, merge_many(nodes(301)).size), (300, 301)),
        (lambda: merge_many(teams_of(kn.Fixed(np.arange(401.0)))).size, 320),
        (lambda: (kept(40), kept(41), kept(100), kept(101)), ((40, True), (41, False), (100, False), (80, False))),
        (lambda: (kept(80, schedule=Rounds()), kept(81, schedule=Rounds())), ((80, True), (80, False))),
        (lambda: (type(_pull(TANH, teams_of(equal(n)), None)).__name__ for n in (800, 801)), ("DensePull", "WavePull")),
        (lambda: (pool(60), pool(61), pool(1)), (60, 60, 2)),
        (lambda: (type(interaction(TANH, labels(n, 4), "exact")).__name__ for n in (100, 101)),
         ("MatrixInteraction", "BasisInteraction")),
        (lambda: (common_kind(PLAIN, equal(n)) is None for n in (4096, 4097)), (False, True)),
        (lambda: (farming(801), diagnosis._farming(at_rest(3), Continuum((0, 1)))), (None, None)),
        (lambda: (dots(3999), dots(4000)), (3999, 2000)),
        (lambda: (named(12), named(13), named(0)), (12, 0, 0)),
        (lambda: (snapshots(1023), snapshots(1024), snapshots(1025)), ((1023, 1.0), (512, 2.0), (513, 2.0))),
        (lambda: (late(38), late(39)), (None, 20)),
    ],
)  # fmt: skip
def test_leagues_are_merged_thinned_and_kept_whole_at_their_bounds(ask, answer):
    found = ask()
    assert (found if not hasattr(found, "__next__") else tuple(found)) == answer


def dots(teams):
    state = SimpleNamespace(**{**vars(at_rest(teams)), "theta": np.zeros(teams)})
    return len(charts._teams(state, state.theta)[0].x)


def named(count):
    names = [f"Side {k}" for k in range(count)] + [f"Team {k}" for k in range(9)]
    teams = teams_of(kn.Fixed(np.zeros(len(names)), names=names))
    state = SimpleNamespace(teams=teams, theta=teams.theta, rating=teams.theta, variance=np.zeros(teams.size))
    return sum(len(trace.notes) for trace in charts._teams(state, teams.theta)[1:])


def snapshots(count):
    rows = league_evidence._Snapshots()
    for time in range(count):
        rows._keep(float(time), 0.0)
    return len(rows._rows), rows._every


def late(count):
    rows = league_evidence._Snapshots()
    for time in range(count):
        rows._keep(float(time + 1), 0.0)
    found = rows._late()
    return None if found is None else len(found[0])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda n: kn.stationary(system(pairing=Local()), equal(3000 + n)), "at most 3,000 teams, not 3,001"),
        (lambda n: kn.theory.critical_gamma(TANH, equal(2000 + n)), "at most 2000 teams, not 2001"),
        (lambda n: matchmaking._check_asked(PLAIN, equal(600 + n), None, None), "at most 600 teams, not 601"),
        (lambda n: Continuum((0, 1), nodes=4000 + n), "nodes must be at most 4,000, not 4,001"),
        (lambda n: played(4096 + n, schedule=Rounds(), sampling=True), "at most 4096 teams, not 4097"),
    ],
)  # fmt: skip
def test_one_more_than_the_most_is_refused(ask, words):
    with pytest.raises(kn.InputError, match=words):
        ask(1)


def test_glicko_is_followed_by_groups_of_more_than_120_teams(monkeypatch):
    sizes = []

    def league(outcome, teams, *rest):
        sizes.append(teams.size)
        raise Taken

    monkeypatch.setattr(glicko, "GlickoLeague", league)
    for count in (120, 240, 360):
        with pytest.raises(Taken):
            glicko.deviation_tracking(
                TANH, teams_of(kn.Normal(np.arange(count) / 9.0, 0.3)), DeviationSteps(0.1, 0.9), Walk(0.1)
            )
    assert sizes == [120, 120, 120]


def test_two_teams_correct_leagues_of_three_to_forty(monkeypatch):
    monkeypatch.setattr(following, "_closure_error", lambda asked, gap, sigma, form: (gap, 2 * gap))
    known = {
        count: following.two_team_correction(PLAIN, teams_of(kn.Fixed(np.linspace(0.0, 1.0, count))), FORM)
        for count in (2, 3, 40, 41)
    }
    assert known[2] is None and known[41] is None
    # C is 2/N times the mean over pairs, here of the gaps ½, ½ and 1, which is 2/3.
    C, U = known[3].C, known[3].U
    assert pytest.approx(C) == 4 / 9 and pytest.approx(U) == 8 / 9
    assert known[40] is not None
    assert following.two_team_correction(system(schedule=Rounds()), teams_of(equal(3)), FORM) is None
    assert following.two_team_correction(PLAIN, nodes(7), FORM) is None
