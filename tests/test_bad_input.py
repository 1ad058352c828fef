"""Nonsense in any argument of any public name: a sentence (InputError) or a TypeError, never NaN, never a hang."""

import dataclasses
import math
import time
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numba.core import event

import kinelo as kn
from alarm import Alarm, Hang
from bad_input import CALLS, cells, made_of, matches, season, system
from bad_ratings import RATER_CALLS, played, to_come

NONSENSE = [
    math.nan, math.inf, -1, -1.5, 1e308, 10**400, "nonsense", None, [], [math.nan, 1.0], {"a": 1}, object(),
]  # fmt: skip

ALL = CALLS | RATER_CALLS
ALARM = Alarm(30)
"""Seconds of a processor after which a call hangs; one that waits for nothing is ended by the limit of all tests."""


@pytest.fixture(autouse=True)
def _no_hang(tmp_path, monkeypatch, few_replays):
    monkeypatch.chdir(tmp_path)
    with ALARM.armed():
        yield


def made(call, arguments):
    ALARM.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(**arguments)
    finally:
        ALARM.stop()


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_alarm_counts_processor_time_of_the_call_and_none_of_compiling(monkeypatch):
    monkeypatch.setattr(ALARM, "longest", 0.2)

    def compiles():
        with event.trigger_event("numba:compile"):
            busy(0.6)
        return 1

    assert made(compiles, {}) == 1
    assert made(lambda: time.sleep(0.6) or 1, {}) == 1
    with pytest.raises(Hang):
        made(busy, {"seconds": 5.0})


ODD = [np.array([1.0, 2.0]), np.array(["A", "B"]), np.array(5), b"x", 1j, len, [["A"], ["B"]], np.datetime64("NaT")]
"""More of it, for whatever is compared with a choice, counted or listed."""


def nonsense_for(argument):
    """Where matches are expected, also the file they stand in, none at all, and those without a result."""
    if argument not in ("matches", "fixtures"):
        return NONSENSE
    return [*NONSENSE, "league.csv", Path("league.csv"), played()[:0], to_come()]


def undefined(result, depth=0) -> int:
    """How many numbers in a result are NaN or infinite."""
    if isinstance(result, str | bytes | None.__class__) or depth > 4:
        return 0
    if isinstance(result, float | int | np.generic):
        return int(np.issubdtype(type(result), np.number) and not math.isfinite(float(result)))
    if isinstance(result, np.ndarray):
        return int((~np.isfinite(result)).sum()) if result.dtype.kind in "fc" else 0
    if hasattr(result, "get_columns"):
        return sum(undefined(column.to_numpy(), depth + 1) for column in result.get_columns())
    if isinstance(result, Mapping):
        return sum(undefined(value, depth + 1) for value in result.values())
    if isinstance(result, tuple | list):
        return sum(undefined(value, depth + 1) for value in result)
    if dataclasses.is_dataclass(result):
        return sum(undefined(getattr(result, field.name), depth + 1) for field in dataclasses.fields(result))
    return 0


MEANT_LATER = {
    ("KalmanElo", "covariance"), ("PlayerElo", "role_weights"), ("PlayerElo", "known"), ("PlayerElo", "strength"),
    ("BradleyTerry", "covariates"), ("BradleyTerry", "anchor"),
}  # fmt: skip
"""Constructors of raters store what they are given, and ``fit`` refuses it."""


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ALL)
def test_nonsense_is_refused_in_words(name, half):
    """Every other value into each argument, which ones differs by argument; the others in the long run."""
    call, good = ALL[name][0], made_of(ALL[name][1])
    undefined_before = undefined(made(call, good))
    complaints = []
    for argument in good:
        if (name, argument) in MEANT_LATER:
            continue
        odd = ODD if name in CALLS or name.startswith(("TeamElo", "Glicko.")) else []
        first = (zlib.crc32(f"{name} {argument}".encode()) + half) % 2
        for value in [*nonsense_for(argument), *odd][first::2]:
            shown = f"{name}({argument}={value if not isinstance(value, int) or value < 0 else '10**400'!r})"
            try:
                if undefined(made(call, {**good, argument: value})) > undefined_before:
                    complaints.append(f"{shown} gave a result that is not a number")
            except kn.InputError as error:
                if not str(error) or "\n" in str(error):
                    complaints.append(f"{shown} complained in no sentence: {error}")
            except TypeError:
                pass
            except (Exception, Hang) as error:
                complaints.append(f"{shown} raised {type(error).__name__}: {str(error)[:100]}")
    assert not complaints, "\n".join(complaints)


def spoilt(table):
    """The same matches or contests with an entry of nobody's, which a compiled loop would look up out of bounds."""
    if isinstance(table, kn.matches.Contests):
        return dataclasses.replace(table, first=table.first + 10**6)
    return dataclasses.replace(table, home=table.home + np.int32(10**6))


TABLES = {
    (name, argument)
    for name, (_, good) in ALL.items()
    if not callable(good)
    for argument in good
    if argument in ("matches", "fixtures", "results", "contests") and name not in ("sample_contests", "Forecast")
}


@pytest.mark.parametrize(("name", "argument"), sorted(TABLES))
def test_tables_that_do_not_hold_together_reach_no_loop(name, argument):
    call, good = ALL[name][0], made_of(ALL[name][1])
    if isinstance(good[argument], kn.matches.Matches | kn.matches.Contests):
        with pytest.raises(kn.InputError, match="do not hold together: "):
            made(call, {**good, argument: spoilt(good[argument])})


MADE_AT_ONCE = [
    "Tanh", "Probit", "Davidson", "Window", "Fixed", "Normal", "LineupLottery", "Empirical", "Scaled", "setup_r1",
    "setup_r2", "homogeneous", "RatingSystem", "DeviationSteps", "FallingSteps", "Period", "Continuum", "read_matches",
    "TeamElo", "Glicko", "Glicko2", "KalmanElo", "PlayerElo", "BradleyTerry", "ScoreElo", "Rules", "RatingBook",
    "sample_league",
    "Mixture", "Learning", "Form", "Walk", "Turnover", "Population", "Population.uniform", "Population.gaussian",
    "Population.concentrated", "satisfies_b_prime", "convergence_table", "scan_matches", "leaderboard",
]  # fmt: skip
"""Names whose calls take no time, so that none of them may take what means nothing."""


@pytest.mark.parametrize("name", MADE_AT_ONCE)
def test_what_means_nothing_is_not_taken(name):
    call, good = CALLS[name][0], made_of(CALLS[name][1])
    for argument in good:
        if (name, argument) not in MEANT_LATER:
            for value in (math.nan, 10**400, object(), [math.nan, 1.0]):
                with pytest.raises((kn.InputError, TypeError)):
                    made(call, {**good, argument: value})


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("simulate_matches", "matches"), ("Continuum", "nodes"), ("Continuum", "sigma_nodes"), ("design", "matches"),
        ("kinetic_states", "until"), ("simulate", "matches_per_step"), ("simulation_states", "matches_per_step"),
        ("simulation_states", "realisations"), ("RatingSystem.gammas", "teams"), ("FideSteps.juniors", "teams"),
    ],
)  # fmt: skip
def test_enormous_numbers_are_refused_before_the_work(name, argument):
    call, good = CALLS[name][0], made_of(CALLS[name][1])
    with pytest.raises(kn.InputError):
        made(call, {**good, argument: 10**18})


def test_a_name_in_the_place_of_raters_is_refused_at_once():
    for call in (kn.raters.Mixture, lambda raters: kn.backtest(matches(), raters, train_until="2020-01-15")):
        with pytest.raises(kn.InputError, match=r"^str is no rater"):
            made(call, {"raters": "A" * 20_000})


@pytest.mark.parametrize("cells", [cells(), {"theta": (4.0, 10.0, 3), "r": (4.0, 10.0, 3), "sigma": 1.0}])
def test_a_long_run_says_how_long_it_takes(cells):
    """Also one of few cells, of which each step takes little more than none."""
    with pytest.warns(
        kn.KineloWarning, match=r"Solving over a time of 1e\+09 in about .* steps takes at least \d+ (minutes|hours)"
    ):
        next(kn.macro.kinetic_states(system(), kn.macro.Population.uniform(**cells), until=1e9, device="cpu"))


def test_numbers_of_numpy_count_as_those_of_python():
    """Of every width, in every place where a rater or a board takes a number, and to the last bit."""
    usual = kn.TeamElo.classic(k=24.0, ties=0.25, home_advantage=50.0, initial=1500).fit(season())
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        rater = kn.TeamElo.classic(k=kind(24), ties=kind(0.25), home_advantage=kind(50), initial=np.int16(1500))
        assert rater.fit(season()).ratings_.equals(usual.ratings_) and repr(rater) == repr(usual)
        board, twin = (kn.leaderboard(usual, season(), caution=caution) for caution in (kind(2.5), 2.5))
        assert board.equals(twin) and board["surely"].dtype == twin["surely"].dtype
        assert season().pools(half_life=kind(90)).equals(season().pools(half_life=90.0))
        league = kn.sample_league(teams=4, seasons=1, seed=np.uint8(7), home_advantage=kind(0.5), turf=np.False_)
        assert league.results.equals(kn.sample_league(teams=4, seasons=1, seed=7, home_advantage=0.5).results)
    assert kn.Glicko(together=np.True_).together is True
    with pytest.raises(kn.InputError, match=r"strength=.* is not understood"):
        kn.PlayerElo(strength=np.zeros(2)).fit(played())
    with pytest.raises(kn.InputError, match="contest_walk is a finite number of at least 0 and at most 1000"):
        kn.RankElo(contest_walk=10**9)


@pytest.mark.parametrize("name", [name for name, (_, good) in CALLS.items() if "check" in good])
def test_whether_to_check_is_true_or_false(name):
    call, good = CALLS[name][0], made_of(CALLS[name][1])
    for value in ("no", 1, None, math.nan, []):
        with pytest.raises(kn.InputError, match="check must be True or False, not "):
            made(call, {**good, "check": value})
