"""The protocol of states: whoever is admitted stays in place, and a state is what its arrays say."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.bradley_terry.rater import Tally
from kinelo.raters.glicko.rater import Deviations
from kinelo.raters.kalman.rater import SideState
from kinelo.raters.player.state import SquadState
from kinelo.raters.state import RatingTable

STATES = {
    "standing": lambda: RatingTable(1500.0, 100.0),
    "deviations": lambda: Deviations(0.0, 1.0, volatility=0.06, gain=0.0, info=0.0),
    "full": lambda: SideState([(0.0, 1.0)] * 3, (), full=True, grounds=True),
    "diagonal": lambda: SideState([(0.0, 1.0)] * 3, (), full=False, grounds=True),
    "squads": lambda: SquadState([(0.0, 1.0)] * 3),
    "tally": lambda: Tally(()),
}


def round_of(first: int, count: int) -> kn.matches.Matches:
    """Sides first, first + 1, … each against the next, with one player of the same name each."""
    names = [f"s{first + k}" for k in range(count)]
    table = {"home": names[:-1], "away": names[1:], "result": [1] * (count - 1)}
    lineups = {"home_lineup": [[n] for n in names[:-1]], "away_lineup": [[n] for n in names[1:]]}
    return kn.read_matches(table | lineups)


@pytest.mark.parametrize("kind", STATES)
def test_everyone_keeps_a_place_and_finds_what_newcomers_find(kind):
    state = STATES[kind]()
    state.admit(round_of(0, 5))
    places = dict(state.name_index.index)
    filled = {name: np.copy(state.fills.get(name, 0)) for name in state.columns}
    state.admit(round_of(3, 60))
    assert {name: state.name_index.index[name] for name in places} == places
    assert len(state) == 63
    for name, column in state.columns.items():
        values = getattr(state.known, name)
        if column.square or len(values) < column.first:
            continue
        assert len(values) >= column.first + len(state.name_indices[column.name_index])
        if name not in ("own", "ground", "team_of", "kind", "stand_in", "effect"):  # these say whose place it is
            assert np.all(values[column.first :] == filled[name])


@pytest.mark.parametrize("kind", STATES)
def test_finding_keeps_nobody_and_names_strangers(kind):
    state = STATES[kind]()
    state.admit(round_of(0, 5))
    if hasattr(state.known, "games"):
        state.known.games[:5] = 1
    indices = state.find(round_of(4, 3))
    assert len(state) == 5
    assert set(indices.unknown) == {"s5", "s6"}
    assert indices.home.tolist() == [state.find(round_of(4, 2)).home[0], -1]


@pytest.mark.parametrize("kind", STATES)
def test_a_state_is_what_its_arrays_say(kind):
    state, rng = STATES[kind](), np.random.default_rng(0)
    state.admit(round_of(0, 20))
    for name in state.columns:
        values = getattr(state.known, name)
        if values.dtype == float:
            values[:] = rng.random(values.shape)
    other = STATES[kind]()
    other.from_arrays(state.to_arrays())
    assert other.name_index.names == state.name_index.names
    one, two = state.to_arrays(), other.to_arrays()
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    one["names" if "names" in one else "players"][0] = "elsewhere"
    assert state.name_index.names[0] == "s0"
