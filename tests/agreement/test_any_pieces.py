"""What is computed piece by piece, to save memory, has the same answer whatever the size of a piece."""

from importlib import import_module

import numpy as np
import pytest

import kinelo as kn
from kinelo.model.curve import Curve
from kinelo.model.expectation import league_waves
from kinelo.model.quantile import sum_of_waves
from kinelo.theory.limit import rating_noise
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.teams import teams_of

SEVEN = kn.Normal([-1.9, -1.1, -0.2, 0.3, 0.9, 1.7, 2.6], sigma=[0.3, 0.2, 0.5, 0.4, 0.3, 0.6, 0.25])
TANH, CURVE = kn.Tanh(0.6), Curve(lambda z: z / (1 + z * z) ** 0.5, parity=-1, length=1.0)


def noise(method="auto", **other):
    teams = teams_of(SEVEN)
    found = rating_noise(kn.RatingSystem(TANH, gamma=0.07, **other), teams, "exact", teams.theta, method)
    return np.concatenate([found.rating, found.variance])


def waves(count):
    u = np.linspace(0.1, 9.0, count)
    return sum_of_waves(np.array([-1.3, 0.2, 0.7, 2.9]), np.array([0.1, 0.4, 0.2, 0.3]), u)


def lottery():
    # A new one each time: what it has computed it keeps.
    league = kn.model.LineupLottery([[1.2, 0.3, 2.2], [0.6, -0.7, 0.1]], 2, weights=[[1, 2, 1.5], [1, 1, 3]])
    return league.characteristic_function(np.linspace(0.1, 3.0, 11))


@pytest.mark.parametrize(
    ("pieces", "ask"),
    [
        ("theory.closure.VALUES_TOGETHER", lambda: noise(pairing=kn.model.Window(1.6, 0.4))),
        ("theory.many_teams.TEAMS_AT_ONCE", lambda: noise("matrix-free")),
        ("theory.pair_means.CACHED_MEANS", lambda: PairMeans(TANH, SEVEN.theta, SEVEN.sigma, products=True).square),
        ("model.curve.PLACES_AT_ONCE", lambda: CURVE([-0.4, 0.1, 2.3, 7.0, 900.0])),
        ("model.quantile.VALUES_AT_ONCE", lambda: waves(300)),
        ("model.strength.CACHED_TABLES", lottery),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("size", [1, 3, 9])
def test_pieces_of_any_size_give_the_same_answer(pieces, ask, size, monkeypatch):
    module, _, name = pieces.rpartition(".")
    whole = ask()
    assert getattr(import_module(f"kinelo.{module}"), name) > 1000
    monkeypatch.setattr(f"kinelo.{pieces}", size)
    np.testing.assert_allclose(ask(), whole, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("size", [1, 30, 77])
def test_waves_of_a_league_come_in_blocks_that_make_the_whole(size):
    league = league_waves(TANH, SEVEN)
    [(nodes, whole)] = league.blocks()
    parts = list(league.blocks(size))
    assert len(parts) == -(-nodes.u.size // max(1, size // 7)) > 1
    np.testing.assert_array_equal(np.concatenate([part.u for part, _ in parts]), nodes.u)
    np.testing.assert_array_equal(np.concatenate([part.sine for part, _ in parts]), nodes.sine)
    np.testing.assert_allclose(np.concatenate([phi for _, phi in parts], axis=1), whole, rtol=1e-12)
