"""States that somebody changed: every array of every rater is refused in a sentence, or is what a rater may store."""

import warnings

import numpy as np
import pytest

import kinelo as kn

DAYS = [f"2024-01-{day:02d}" for day in range(1, 25)]
MATCHES = {
    "date": DAYS, "home": list("ABCD") * 6, "away": list("BCDA") * 6, "result": [1, 0, 0.5, 1, 0, 1] * 4,
    "surface": ["clay", "grass", "clay"] * 8, "pitch": ["wet", "dry"] * 12, "stones": [1, 0, 2] * 8,
}  # fmt: skip
RACES = {
    "race": [1, 1, 1, 2, 2, 2], "driver": list("ABCBCA"), "place": [1, 2, 3, 1, 2, 3], "kg": [1, 2, 3, 2, 1, 3],
    "track": list("xxxyyy"),
}  # fmt: skip
ALL = {"conditions": ["surface"], "covariates": ["stones"], "noise_by": ["pitch"]}
BLANK = {
    "team": lambda: kn.TeamElo(**ALL),
    "kalman": lambda: kn.KalmanElo(**ALL),
    "glicko": lambda: kn.Glicko(covariates=["stones"], noise_by=["pitch"]),
    "bradley-terry": lambda: kn.BradleyTerry(),
    "rank": lambda: kn.RankElo(covariates=["kg"], noise_by=["track"]),
}


def table(kind):
    if kind == "rank":
        return kn.read_contests(RACES, slots=["driver"], advantages=["kg", "track"])
    return kn.read_matches(MATCHES, conditions=["surface", "pitch", "stones"])


@pytest.fixture(scope="module")
def states():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KineloWarning)
        return {kind: blank().fit(table(kind)).to_arrays() for kind, blank in BLANK.items()}


def refused(kind, arrays):
    """What a fresh rater says of them, "" where it takes them; nothing but sentences comes out."""
    try:
        BLANK[kind]().from_arrays(arrays)
    except kn.InputError as said:
        return str(said)
    return ""


@pytest.mark.parametrize("kind", BLANK)
def test_a_state_as_it_was_stored_is_taken(states, kind):
    assert refused(kind, states[kind]) == ""
    again = BLANK[kind]()
    again.from_arrays(states[kind])
    kept = again.to_arrays()
    assert list(kept) == list(states[kind])
    for name, value in states[kind].items():
        if value.dtype.kind == "f":  # BradleyTerry estimates anew
            assert kept[name] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), name
        else:
            assert np.array_equal(kept[name], value), name


@pytest.mark.parametrize("kind", BLANK)
@pytest.mark.parametrize("harm", ["words", "a dimension more", "a row more"])
def test_arrays_of_another_kind_or_shape_are_refused(states, kind, harm):
    refusals = {}
    for name, value in states[kind].items():
        if name.startswith("parameter_") or (harm == "a row more" and value.ndim == 0):
            continue
        changed = {
            "words": lambda value: np.full(value.shape, "x"),
            "a dimension more": lambda value: value[..., None],
            "a row more": lambda value: np.concatenate(
                [value, value[-1:] if len(value) else np.zeros((1, *value.shape[1:]))]
            ),
        }[harm](value)
        refusals[name] = refused(kind, states[kind] | {name: changed})
    taken = {name for name, said in refusals.items() if not said}
    assert len(refusals) > 5
    # A longer `under` has rows of slots to come, a shorter `theta` is what was estimated before the last arrived.
    assert taken <= ({"under", "theta"} if harm == "a row more" else {"prepared", "order", "start"})


FORGED = [
    ("team", "noise_factors", (0, 0), 11.0, "The array 'noise_factors' of a stored state holds numbers out of range."),
    ("team", "covariate_units", 0, 0.0, "The array 'covariate_units' of a stored state holds numbers out of range."),
    ("kalman", "covariate_effects", (0, 1), -1.0,
     "The array 'covariate_units' of a stored state holds numbers out of range."),
    ("team", "rating", 1, np.nan, "The array 'rating' of a stored state holds numbers out of range."),
    ("team", "numbers", 3, np.nan, "The array 'numbers' of a stored state holds numbers out of range."),
    ("kalman", "levels", 1, "surface\x1fclay",
     "A stored state must hold levels of the conditions of its rater, each of them once."),
    ("kalman", "levels", 1, "weather\x1fwet",
     "A stored state must hold levels of the conditions of its rater, each of them once."),
    ("team", "names", 1, "A", "must hold names, each of them once."),
    ("kalman", "slot_v", 0, -1.0, "out of range"),
    ("kalman", "slot_games", 0, -1, "out of range"),
    ("team", "games", 0, -1, "out of range"),
    ("team", "variance", 0, -1.0, "out of range"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "at", "value", "said"), FORGED)
def test_a_number_that_no_rater_stores_is_named(states, kind, name, at, value, said):
    array = states[kind][name].copy().astype("U40" if isinstance(value, str) else states[kind][name].dtype)
    array[at] = value
    assert said in refused(kind, states[kind] | {name: array})


def test_more_rows_below_levels_than_there_are_slots_are_refused(states):
    state = states["kalman"]
    for under in (np.tile(state["under"], (40, 1)), np.tile(state["under"], (1, 4))):
        assert refused("kalman", state | {"under": under}) == (
            "The array 'under' of a stored state is larger than its slots and levels are many."
        )
