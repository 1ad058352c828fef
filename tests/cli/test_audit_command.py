"""``kinelo audit`` as a user meets it."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.words import BEGIN_ANEW
from kinelo.cli.commands import app
from kinelo.errors import InputError

pytestmark = pytest.mark.usefixtures("few_replays")


@pytest.fixture
def results(tmp_path):
    rng = np.random.default_rng(3)
    home, away = np.array([rng.choice(8, 2, replace=False) for _ in range(400)]).T
    won = rng.random(400) < 1 / (1 + 10 ** (-(home - away) / 4))
    dates = np.datetime64("2020-01-01") + np.arange(400)
    table = pl.DataFrame({"date": dates, "home": home, "away": away, "result": won.astype(float)})
    path = tmp_path / "results.csv"
    table.with_columns("home", "away").write_csv(path)
    return path


def test_the_verdict_comes_first_and_pictures_are_drawn(results, tmp_path):
    picture = tmp_path / "which-k.png"
    called = CliRunner().invoke(app, ["audit", str(results), "--k", "200", "--picture", str(picture)])
    assert called.exit_code == 0, called.output
    assert "K = 200 is too large for " in " ".join(called.stdout.split())
    assert picture.stat().st_size > 1000


def test_what_is_advised_where_like_meets_like_is_a_command_that_begins_with_those_ratings(
    results, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first, start = BEGIN_ANEW.split("kinelo ")[1].split(" writes them")[0], BEGIN_ANEW.split()[-2:]
    called = CliRunner().invoke(app, first.replace("RESULTS", str(results)).split(), catch_exceptions=False)
    assert called.exit_code == 0, called.output
    start[1] = start[1].rstrip(".")
    held = dict(pl.read_csv(start[1]).select("name", "rating").iter_rows())
    assert np.ptp(list(held.values())) > 100.0
    # With K = 0 the matches to come leave them as they are.
    later = pl.read_csv(results, try_parse_dates=True).with_columns(pl.col("date") + pl.duration(days=400))
    later.write_csv("later.csv")
    words = ["rate", "later.csv", "--k", "0", *start, "--out", "now.csv"]
    called = CliRunner().invoke(app, words, catch_exceptions=False)
    assert called.exit_code == 0, called.output
    assert dict(pl.read_csv("now.csv").select("name", "rating").iter_rows()) == pytest.approx(held)


def test_options_reach_the_audit_and_the_picture_its_file(results, tmp_path, monkeypatch):
    asked, saved = [], {}
    found = SimpleNamespace(notes=("one thing.",), to_dict=lambda: {"verdict": "said"})

    def audit(matches, system, ratings=None, by=None, reference=None, progress=False):
        asked.append((len(matches), system.k, system.home_advantage, ratings, reference))
        return found

    def save(figure, path):
        saved[path.name] = figure
        return path

    monkeypatch.setattr("kinelo.advice.audit.audit.audit", audit)
    monkeypatch.setattr("kinelo.pictures.audit.draw_audit", lambda given: ("curves", given))
    monkeypatch.setattr("kinelo.pictures.style.save", save)
    words = ["audit", str(results), "--k", "24", "--home-advantage", "62.5", "--since", "2020-07-01", "--json"]
    words += ["--reference", "adults"]
    called = CliRunner().invoke(app, [*words, "--picture", str(tmp_path / "k.png")], catch_exceptions=False)
    assert json.loads(called.stdout) == {"verdict": "said"}
    assert asked == [(400 - 182, 24.0, 62.5, None, "adults")]  # 182 days of 2020 before July, a match a day
    assert saved == {"k.png": ("curves", found)}
    CliRunner().invoke(app, ["audit", str(results)], catch_exceptions=False)
    assert asked[1] == (400, 32.0, None, None, None)


def test_json_is_the_audit_and_nothing_else(results):
    called = CliRunner().invoke(app, ["audit", str(results), "--json"])
    found = json.loads(called.stdout)
    assert found["k"] == 32
    assert found["advice"]["low"] <= found["advice"]["k"] <= found["advice"]["high"]


def test_rules_of_k_are_audited_and_kept_apart_from_raters(results):
    called = CliRunner().invoke(app, ["audit", str(results), "--rules", "fide", "--json"])
    found = json.loads(called.stdout)
    assert found["k"] is None
    assert "K by FIDE's rules" in found["verdict"]
    refused = CliRunner().invoke(app, ["audit", str(results), "--k", "20", "--rater", "glicko"])
    assert isinstance(refused.exception, InputError)


def test_strange_ratings_are_refused(results, tmp_path):
    table = tmp_path / "ratings.csv"
    table.write_text("name,rating\nAjax,1500\nPSV,1600\n")
    called = CliRunner().invoke(app, ["audit", str(results), "--ratings", str(table)])
    assert isinstance(called.exception, InputError)
    assert "do not belong to these sides" in str(called.exception)


def test_a_watch_takes_its_share_of_innocents_and_its_day(tmp_path):
    """The best side loses everything from a day on: that is named at 5 %, and at a millionth it is not yet."""
    table = kn.sample_league(teams=8, seasons=3, seed=5).results
    best = kn.Glicko().fit(kn.read_matches(table)).ratings_["name"][0]
    late = pl.int_range(pl.len()) >= 2 * pl.len() // 3
    for side, other in (("home", "away"), ("away", "home")):
        lost = late & (pl.col(f"{side}_team") == best)
        table = table.with_columns(
            pl.when(lost).then(0).otherwise(f"{side}_score").alias(f"{side}_score"),
            pl.when(lost).then(1).otherwise(f"{other}_score").alias(f"{other}_score"),
        )
    results = tmp_path / "results.csv"
    table.write_csv(results)
    played = kn.read_matches(results)
    day = str(played.date[2 * len(played) // 3])
    rated = kn.Glicko().fit(played.before(day))
    shares = {}
    for share, options in ((0.05, []), (1e-6, ["--false-share", "1e-6"])):
        words = ["audit", str(results), "--rater", "glicko", "--watch", day, "--json", *options]
        said = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
        expected = kn.watch(rated, played.since(day), false_share=share)
        assert said["since"] == day and said["sides"] == json.loads(expected.write_json())
        shares[share] = [one["named"] for one in said["sides"]]
    assert sum(shares[0.05]) == 1 and not any(shares[1e-6])
