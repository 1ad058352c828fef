"""What the league shows: averages with errors that are neither too small nor too large."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import kinelo as kn
from kinelo.advice.league_evidence import LeagueRecord, MovingRecord, averaged
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.live import LiveRun


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_two_standard_errors_hold_the_mean_of_a_series_that_remembers(memory):
    """Of 400 series, 95 % ± 5 % would hold it by chance in all but one case of 10,000; above too, so not too wide."""
    noise = np.random.default_rng(5).standard_normal((400, 1500))
    series = lfilter([1.0], [1.0, -memory], noise, axis=1)[:, 500:]
    held = np.mean([abs(averaged(one).z_score(0.0)) < 2 for one in series])
    assert 0.90 < held < 0.99


def test_a_short_record_counts_for_no_more_than_the_league_can_forget():
    noise = np.random.default_rng(1).normal(5.0, 0.01, 60)  # sixty like snapshots of a league that hardly moved
    assert averaged(noise).error == pytest.approx(0.01 / np.sqrt(60), rel=0.5)
    assert averaged(noise, length=15.0, spread=0.5).error == pytest.approx(0.25, rel=1e-6)
    assert averaged(noise, length=600.0, spread=0.5).independent == pytest.approx(0.1)


def league_of(controls: Controls, seed: int, times: np.ndarray) -> LeagueRecord:
    strengths, teams = controls.strengths(), controls.teams
    record = LeagueRecord(strengths.theta, controls.system)
    states = kn.micro.simulation_states(
        controls.system, strengths, stops=[round(t * teams / 2) for t in times], matches_per_step=1, seed=seed,
        start=controls.first_ratings(seed), sampling="literal", threads=1,
    )  # fmt: skip
    for time, state in zip(times, states, strict=True):
        record.add(float(time), state.rating[0])
    return record


@pytest.mark.long
def test_standard_errors_of_leagues_are_honest():
    """Sixty leagues of other seeds against one long one; 95 % of 60 is 57 ± 1.7."""
    controls = Controls(teams=30, gamma=0.5)
    long = league_of(controls, 99, np.arange(20.0, 20_000.0, 20.0)).evidence(0.0)
    assert long is not None and long.settled
    z = []
    for seed in range(60):
        found = league_of(controls, seed, np.arange(4.0, 800.0, 4.0)).evidence(800.0)
        assert found is not None
        z.append((found.slope.z_score(long.slope.value), found.luck.z_score(long.luck.value)))
    spread = np.std(z, axis=0)
    assert np.all(spread < 1.3) and np.all(spread > 0.6), spread
    assert np.mean(np.abs(z) < 2) > 0.88


def test_a_league_on_its_way_has_not_settled():
    controls = Controls(teams=30, start="equal")
    early = league_of(controls, 1, np.arange(1.0, 120.0)).evidence(120.0)
    late = league_of(controls, 1, np.arange(5.0, 3000.0, 5.0)).evidence(3000.0)
    assert early is not None and not early.settled
    assert late is not None and late.settled
    assert early.slope.value < late.slope.value - 0.1


def test_slope_and_luck_are_those_of_a_league_made_by_hand():
    theta = np.linspace(4.0, 10.0, 50)
    record = LeagueRecord(theta, Controls().system)
    jitter = np.random.default_rng(2).normal(0.0, 0.3, (80, 50))
    for k in range(80):
        record.add(float(10 * k), 7 + 0.8 * (theta - 7) + 0.01 * (theta - 7) ** 3 + jitter[k])
    found = record.evidence(800.0)
    late = [np.polyfit(theta, 0.8 * theta + 0.01 * (theta - 7) ** 3 + jitter[k], 1)[0] for k in range(40, 80)]
    assert found is not None and found.slope.value == pytest.approx(np.mean(late), rel=1e-9)
    assert found.luck.value == pytest.approx(0.3, rel=0.05)  # a bent line is no luck


def test_the_memory_of_a_slope_is_how_long_the_league_takes_to_forget_one():
    """Two leagues with the same matches but for a slope: they come together at the rate that was said."""
    controls = Controls(teams=20, gamma=0.02, sigma=0.0)
    strengths = controls.strengths()
    start = strengths.theta.copy()
    said, _ = LeagueRecord(strengths.theta, controls.system).memory(start)
    ends = []
    for tilt in (0.0, 0.01):
        [state] = kn.micro.simulation_states(
            controls.system, strengths, stops=[round(said * 10)], matches_per_step=1, realisations=60, seed=7,
            start=np.broadcast_to(start + tilt * (start - start.mean()), (60, 20)), threads=1,
        )  # fmt: skip
        ends.append(state.rating.mean(axis=0))
    left = np.polyfit(start, ends[1] - ends[0], 1)[0]
    assert left / 0.01 == pytest.approx(np.exp(-1), abs=0.06)


def test_a_long_run_is_no_larger_than_a_short_one():
    record = LeagueRecord(np.linspace(4, 10, 10), Controls().system)
    for k in range(3_000):
        record.add(float(k), np.linspace(4, 10, 10))
    assert len(record._rows) < 1024 and record._rows[-1][0] > 2_990


def test_where_not_every_pair_plays_the_clock_counts_matches():
    run = LiveRun(1, Controls(teams=40, pairing="window", window=1.0))
    for _ in range(50):
        run.advance(4.0)
    played, time = int(run._state.played[0]), run.time
    run.close()
    assert run.matches == pytest.approx(2 * played / 40)
    assert 120 < run.matches < 230 and time > 1.3 * run.matches


def test_a_moving_league_is_measured_by_averaged_squares():
    """Slope C/V and error √E of the later half; strengths and ratings drawn anew at every snapshot."""
    rng = np.random.default_rng(3)
    record, kept = MovingRecord(np.linspace(4, 10, 12), 1.0, widens=False), []
    for time in range(1, 401):
        strength = 7 + 2 * rng.standard_normal(12)
        rating = 100 + 0.6 * strength + rng.standard_normal(12)
        record.add(float(time), rating, strength)
        if time > 200:
            p, r = strength - strength.mean(), rating - rating.mean()
            kept.append(((p * r).mean(), (p * p).mean(), ((r - p) ** 2).mean()))
    C, V, E = np.array(kept).T
    found = record.evidence(400.0)
    assert found.slope.value == pytest.approx(C.mean() / V.mean()) and found.luck.value == pytest.approx(
        E.mean() ** 0.5
    )
    # Of 2200 free pairs the slope strays by 1/(2 √2200), and 200 independent snapshots say so within 20 %.
    assert found.slope.error == pytest.approx(0.5 / 2200**0.5, rel=0.2) and not found.outgrown
