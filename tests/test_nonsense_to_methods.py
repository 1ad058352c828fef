"""Every public method of what users hold, asked with nonsense: an answer, a sentence or a TypeError, no other error."""

import inspect
import warnings

import numpy as np
import pytest

import kinelo as kn
from bad_input import contests, first, fixed_rank, fixtures, league, matches, rated, rated_anew, season, system

NONSENSE = [[], {}, np.array([]), "", 5, -1, 10**30, float("nan"), "x" * 1000, object(), [1], [[1], [2]], None]
BETWEEN_PARTS = {
    "draw", "performances", "at", "juniors", "gammas", "spectrum",  # leagues and steps, and what plays them
    "joined",  # forecasts of parts of a table
    "b", "b_prime", "b_second", "b_third", "antiderivative", "missing", "win_probability", "tie_probability",
    "w", "w_prime", "square_weight", "sine_weight", "tie_weight", "characteristic_function", "waves_of",
    "reach_of",  # formulas, of arrays of numbers
}  # fmt: skip
"""Methods by which parts of Kinelo speak to one another; whoever calls them hands over what they name."""
WRITES = ("save", "write", "to_csv", "to_zarr", "to_netcdf")
HELD = {
    "Matches": matches,
    "Contests": contests,
    "Forecast": lambda: rated().predict(fixtures()),
    "Glicko": rated_anew,
    "TeamElo": lambda: kn.TeamElo.classic(k=20, start={"A": 1600, "B": 1500}),
    "RankElo": fixed_rank,
    "RatingSystem": system,
    "Normal": league,
    "Tanh": lambda: kn.Tanh(0.5),
    "Davidson": lambda: kn.model.Davidson(0.5, 1.0),
    "Window": lambda: kn.model.Window(2.0),
    "Fixed": lambda: kn.Fixed([4.0, 7.0]),
    "Population": lambda: kn.macro.Population.uniform(theta=(4, 10, 4), r=(4, 10, 5), sigma=1.0),
    "StationaryState": lambda: kn.stationary(system(), league()),
    "Relaxation": lambda: kn.relaxation(system(), league()),
    "Knockout": lambda: kn.knockout(rated(), ["A", "B"], date="2020-05-01", realisations=3),
    "Backtest": lambda: kn.backtest(season(), kn.TeamElo.classic(k=20), train_until="2020-02-01"),
    "FallingSteps": lambda: kn.model.FallingSteps(0.1, 1.0, 20.0),
    "Form": lambda: kn.model.Form(0.1, 0.5),
    "Results": lambda: kn.model.Results([[0.5, 0.7], [0.3, 0.5]], names=["a", "b"], games=10),
}


def methods(held):
    """Public methods that take something, and by how many arguments at least."""
    for name, _ in inspect.getmembers(type(held), callable):
        if name.startswith("_") or name in BETWEEN_PARTS or any(name.startswith(word) for word in WRITES):
            continue
        try:
            asked = [p for p in inspect.signature(getattr(held, name)).parameters.values() if p.name != "self"]
        except (TypeError, ValueError):
            continue
        if asked:
            needed = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in asked)
            yield name, max(needed, 1)


@pytest.mark.parametrize("kind", HELD)
def test_methods_answer_nonsense_in_words(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = []
    for name, number in methods(HELD[kind]()):
        for value in NONSENSE:
            held = HELD[kind]()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    answer = getattr(held, name)(*[value] * number)
                    if inspect.isgenerator(answer):
                        first(answer)
            except (kn.InputError, TypeError):
                pass
            except Exception as error:
                odd.append(f"{kind}.{name}({value!r:.30}): {type(error).__name__}: {str(error)[:80]}")
    assert not odd, "\n".join(odd)
