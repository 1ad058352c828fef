"""What commands on studies print and write, against the functions of the package called by hand."""

import json
import re

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app

BASE = """title = "Uneven"
gamma = {gamma}
outcome = {{ kind = "tanh", nu = 0.5 }}
"""
LEAGUE = 'league = { kind = "normal", theta = [4.0, 6.5, 10.0], sigma = 1.0 }\n'
THETA = [4.0, 6.5, 10.0]


def system(gamma):
    return kn.RatingSystem(kn.Tanh(nu=0.5), gamma=gamma)


def league():
    return kn.Normal(THETA, 1.0)


@pytest.fixture(autouse=True)
def _there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def said(command, text, *words):
    with open("study.toml", "w") as file:
        file.write(text)
    answer = CliRunner().invoke(app, ["study", command, "study.toml", *map(str, words)], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer


def lines(output):
    """Rows of a table of two columns, continued lines joined."""
    found, last = {}, ""
    for line in output.splitlines():
        if line.startswith("│"):
            name, words = (cell.strip() for cell in line.split("│")[1:3])
            last = name or last
            found[last] = f"{found.get(last, '')} {words}".strip()
    return found


@pytest.mark.parametrize(("gamma", "word", "change"), [(0.08, "shrunken", -1), (1.2, "stretched", 1)])
def test_a_diagnosis_says_which_way_ratings_err(gamma, word, change):
    table = lines(said("diagnose", BASE.format(gamma=gamma) + LEAGUE).stdout)
    state = kn.stationary(system(gamma), league(), noise="gaussian")
    slope = np.polyfit(THETA, state.rating, 1)[0]
    assert np.sign(slope - 1) == change
    assert table["Scale of the ratings"].startswith(f"{word} by {100 * abs(slope - 1):.1f} % (slope {slope:.4f}:")
    bias = state.rating - THETA
    for heading, sign in (("Rated too high", 1), ("Rated too low", -1)):
        listed = [int(k) for k in re.findall(r"team (\d)", table[heading])]
        assert listed == sorted((k for k in range(3) if sign * bias[k] > 0), key=lambda k: -sign * bias[k])
        for k in listed:
            expected = f"team {k}: {bias[k]:+.3g} (strength {THETA[k]:.4g} ± 1, rating {state.rating[k]:.4g})"
            assert expected in table[heading]
    noise = np.sqrt(state.variance.mean())
    said_noise = float(re.search(r"± ([\d.]+) \(one standard deviation\)", table["Rating noise"])[1])
    assert said_noise == pytest.approx(noise, rel=0.02)
    free, k = (float(re.search(rf"{name} = ([\d.]+)", table["Unbiased step size"])[1]) for name in ("γ", "K"))
    assert k == pytest.approx(2 * free, rel=1e-3)
    assert kn.stationary(system(free), league(), noise="gaussian").slope == pytest.approx(1.0, abs=1e-3)
    [advised] = kn.diagnose(system(gamma), league()).advice
    assert " ".join(table["What to change"].replace("•", "").split()) == advised
    assert advised.startswith("Reduce γ from 1.2" if word == "stretched" else "Multiply rating gaps by")


DESIGN = (
    BASE.format(gamma=0.08)
    + LEAGUE
    + 'dynamics = { kind = "form", rate = 0.1, spread = 0.4 }\n[design.smaller]\ngamma = 0.02\n'
    + '[design.rounds]\nschedule = { kind = "rounds" }\n'
)


def test_designs_are_compared_as_the_function_compares_them():
    words = ("--matches", 60, "--realisations", 3, "--seed", 5)
    systems = {"the study's own": system(0.08), "smaller": system(0.02)}
    systems["rounds"] = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.08, schedule=kn.model.Rounds())
    found = kn.design(league(), kn.model.Form(rate=0.1, spread=0.4), systems, matches=60, realisations=3, seed=5)
    output = said("design", DESIGN, *words).stdout
    rows = {
        cells[0]: cells[1:]
        for cells in (
            [cell.strip() for cell in line.split("│")[1:-1]] for line in output.splitlines() if line.startswith("│")
        )
    }
    assert list(rows) == [one.name for one in found.systems]
    for one in found.systems:
        assert rows[one.name] == [
            "—" if one.theory is None else f"{one.theory:.4g}", f"{one.error:.4g} ± {one.standard_error:.3g}",
            f"{one.log_loss:.4f}", f"{one.rating_slope:.3f}", f"{one.forecast_slope:.3f}",
        ]  # fmt: skip
    assert len({one.error for one in found.systems}) == 3
    assert found.systems[0].name == "rounds"
    best = kn.best_gamma(
        systems["rounds"], league(), kn.model.Form(rate=0.1, spread=0.4)
    ).gamma  # of the one that comes first
    assert f"γ = {best:.3g} (K = {2 * best:.3g})" in " ".join(output.split())
    assert json.loads(said("design", DESIGN, *words, "--json").stdout) == json.loads(json.dumps(found.to_dict()))


def test_simulations_write_what_is_played():
    study = BASE.format(gamma=0.3) + LEAGUE + "[simulate]\nsteps = 12\nrealisations = 2\nrecord_every = 4\nseed = 9\n"
    answer = said("simulate", study, "--out", "done")
    run = kn.simulate(system(0.3), league(), steps=12, realisations=2, record_every=4, seed=9)
    with xr.open_zarr("done/run/data.zarr", consolidated=False, chunks=None) as written:
        assert (written.rating.transpose(*run.rating.dims).values == run.rating.values).all()
        assert written.time.values.tolist() == run.time.values.tolist()
    played = 12 * int(run.attrs.get("matches_per_step", 3)) * 2
    count = int(answer.stdout.split(" matches played")[0].replace(",", ""))
    per_team = float(run.time[-1])
    assert count == pytest.approx(per_team * 3 / 2 * 2) and count <= played
    assert "Ratings: done/run/data.zarr  Picture: done/ratings.png" in answer.stdout


def test_solutions_write_the_density_and_say_how_they_ended():
    study = BASE.format(gamma=0.3) + (
        'population = { kind = "uniform", theta = [4, 10, 6], r = [3, 11, 8], sigma = [0.5, 1.5, 3] }\n'
        "[solve]\nuntil = 0.5\n"
    )
    answer = said("solve", study, "--out", "done")
    cells = {"theta": (4.0, 10.0, 6), "r": (3.0, 11.0, 8), "sigma": (0.5, 1.5, 3)}
    run = kn.solve(system(0.3), kn.macro.Population.uniform(**cells), until=0.5)
    with xr.open_zarr("done/population.zarr", consolidated=False, chunks=None) as written:
        assert np.allclose(written.density.values, run.density.values, rtol=1e-12)
    assert answer.stdout.startswith(f"reached t = 0.5 in {run.attrs['steps']:,} steps.")


def test_sweeps_print_the_numbers_of_every_point():
    study = BASE.format(gamma=0.1) + LEAGUE + "[sweep]\ngamma = [0.05, 0.4]\noutcome.nu = [0.3, 0.5]\n"
    answer = said("sweep", study, "--out", "done", "--json")
    found = json.loads(answer.stdout)
    assert found["title"] == "Uneven" and len(found["points"]) == 4 and "\n4 points. Results:" in answer.stderr
    distances = []
    for point in found["points"]:
        settings = point["settings"]
        one = kn.RatingSystem(kn.Tanh(nu=settings["outcome.nu"]), gamma=settings["gamma"])
        distances.append(np.sqrt(np.mean((kn.stationary(one, league()).rating - THETA) ** 2)))
        assert point["distance"] == pytest.approx(distances[-1], rel=1e-6)
    assert [list(point["settings"].values()) for point in found["points"]] == [
        [0.05, 0.3], [0.05, 0.5], [0.4, 0.3], [0.4, 0.5],
    ]  # fmt: skip
    assert distances[1] > 1.5 * distances[0]


def test_devices_say_what_can_be_used(monkeypatch):
    listed = [
        kn.runtime.Device("cpu", "a processor", 6, 96 * 2**30),
        kn.runtime.Device("gpu", "", 0, 0, usable=False, remark="no driver was found"),
    ]
    monkeypatch.setattr("kinelo.runtime.device.devices", lambda: listed)
    runner = CliRunner()
    assert (
        runner.invoke(app, ["--devices"]).stdout
        == "cpu: a processor (6 processors, 96 GiB)\ngpu: no driver was found\n"
    )
    found = json.loads(runner.invoke(app, ["--devices", "--json"]).stdout)
    assert [(one["kind"], one["units"], one["memory"], one["usable"]) for one in found] == [
        ("cpu", 6, 96 * 2**30, True), ("gpu", 0, 0, False),
    ]  # fmt: skip
