"""An old list beside a new one: moves, causes, titles and words, against numbers worked out apart."""

import json
import math

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.changeover import _reason
from kinelo.cli.commands import app

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed"]


def games(n=160, seed=8):
    """Five players of different strength; Ed stops after a third of the games."""
    rng = np.random.default_rng(seed)
    strength = np.array([250.0, 120, 0, -90, -280])
    rows = []
    for k in range(n):
        pool = 5 if k < n // 3 else 4
        i, j = rng.choice(pool, 2, replace=False)
        E = 1 / (1 + 10 ** (-(strength[i] - strength[j]) / 400))
        draw = 0.5 * 4 * E * (1 - E)
        u = rng.random()
        S = 1.0 if u < E - draw / 2 else 0.5 if u < E + draw / 2 else 0.0
        rows.append((str(np.datetime64("2022-01-01") + 7 * k), NAMES[i], NAMES[j], S))
    return pl.DataFrame(rows, schema=["date", "home", "away", "result"], orient="row")


def elo(table, k, start=()):
    """Plain Elo by hand."""
    R = dict(start)
    for home, away, S in table.select("home", "away", "result").iter_rows():
        R.setdefault(home, 1500.0), R.setdefault(away, 1500.0)
        E = 1 / (1 + 10 ** ((R[away] - R[home]) / 400))
        R[home], R[away] = R[home] + k * (S - E), R[away] - k * (S - E)
    return R


START = {"Ada": 1400.0, "Ed": 1600.0}


def test_moves_of_plain_elo_are_taken_apart_exactly():
    """Start first, then K: each part is the move of a list that was rated by hand, about the mean."""
    table = games()
    found = kn.changeover(kn.TeamElo.classic(k=40, start=START), kn.TeamElo.classic(k=12), kn.read_matches(table))
    old, middle, new = elo(table, 40, START.items()), elo(table, 40), elo(table, 12)

    def centred(one, other):
        gap = {name: one[name] - other[name] for name in NAMES}
        mean = sum(gap.values()) / 5
        return {name: gap[name] - mean for name in NAMES}

    by_start, by_k, move = centred(middle, old), centred(new, middle), centred(new, old)
    for row in found.table.iter_rows(named=True):
        name = row["name"]
        assert row["old"] == pytest.approx(old[name], rel=1e-12)
        assert row["move"] == pytest.approx(move[name], abs=1e-9)
        assert (row["start"], row["K"]) == pytest.approx((by_start[name], by_k[name]), abs=1e-9)
        same_way = [(p, c) for p, c in ((by_start[name], "start"), (by_k[name], "K"))]
        points, cause = max(same_way, key=lambda pair: pair[0] * np.sign(move[name]))
        assert row["reason"] == f"{cause} {points:+.0f}"
    assert found.table["new"].to_list() == sorted(found.table["new"].to_list(), reverse=True)
    assert len({*found.table["reason"]}) > 2  # not one answer for all
    assert found.shift == pytest.approx(sum(old[n] - new[n] for n in NAMES) / 5, abs=1e-9)


def test_nothing_changes_where_nothing_is_changed():
    matches = kn.read_matches(games())
    found = kn.changeover(kn.TeamElo.classic(k=20), kn.TeamElo.classic(k=20), matches, thresholds={"T": 1550})
    assert np.abs(found.table["move"].to_numpy()).max() == 0.0 and found.gain == 0.0
    title = found.titles[0]
    assert title.before == title.after and title.gained == title.lost == ()


def test_titles_gained_and_lost_in_both_directions():
    table = games()
    old = {"Ada": 1700.0, "Bo": 1610.0, "Cy": 1500.0, "Di": 1590.0, "Eve": 1800.0}
    new = {"Ada": 1650.0, "Bo": 1560.0, "Cy": 1480.0, "Di": 1640.0, "Fay": 1900.0}
    found = kn.changeover(old, new, kn.read_matches(table), thresholds={"Master": 1600, "Expert": 1500})
    shift = (1700 + 1610 + 1500 + 1590) / 4 - (1650 + 1560 + 1480 + 1640) / 4  # 17.5
    assert found.shift == pytest.approx(shift)
    master, expert = found.titles
    assert (master.before, master.after, master.gained, master.lost) == (2, 2, ("Di",), ("Bo",))
    assert (expert.before, expert.after, expert.gained, expert.lost) == (4, 3, (), ("Cy",))
    assert expert.same_number == pytest.approx(1480 + shift) and master.same_number == pytest.approx(1640 + shift)
    assert (found.only_old, found.only_new) == (("Eve",), ("Fay",))
    assert "Master (1600): 2 before, 2 after; 1 gains it and 1 loses it." in found.verdict
    for name in ("old", "new"):
        order = found.table.sort(name, descending=True)
        assert order[f"{name}_rank"].to_list() == list(range(1, 1 + order.height))
    spreads = found.table["old"].std(ddof=0), found.table["new"].std(ddof=0)
    assert found.spreads == pytest.approx(spreads) and abs(spreads[0] - spreads[1]) > 1
    assert f"Ratings lie ± {spreads[1]:.0f} points apart instead of ± {spreads[0]:.0f}." in found.verdict
    assert found.gain is None and "log-loss" not in found.verdict


def test_reasons_come_from_results_against_the_old_list():
    """Surplus and z by hand; up and down, idle, and none."""
    table = games()
    matches = kn.read_matches(table)
    old = {"Ada": 1450.0, "Bo": 1620.0, "Cy": 1500.0, "Di": 1410.0, "Ed": 1500.0}
    new = {"Ada": 1750.0, "Bo": 1600.0, "Cy": 1502.0, "Di": 1400.0, "Ed": 1228.0}
    found = kn.changeover(old, new, matches)
    drawn = float((table["result"] == 0.5).mean())
    for row in found.table.iter_rows(named=True):
        name = row["name"]
        mine = table.filter((pl.col("home") == name) | (pl.col("away") == name))
        over, variance = [], []
        for home, away, S in mine.tail(30).select("home", "away", "result").iter_rows():
            E = 1 / (1 + 10 ** ((old[away] - old[home]) / 400))
            over.append(S - E if home == name else E - S)
            variance.append(E * (1 - E) * (1 - drawn))
        assert row["surplus"] == pytest.approx(np.mean(over), abs=1e-12)
        assert row["z"] == pytest.approx(sum(over) / math.sqrt(sum(variance)), abs=1e-9)
        assert row["matches"] == mine.height
    said = dict(found.table.select("name", "reason").iter_rows())
    z = dict(found.table.select("name", "z").iter_rows())
    assert z["Ada"] > 2 and said["Ada"].startswith("scored +") and f"(z = {z['Ada']:+.1f})" in said["Ada"]
    assert said["Ed"].startswith("scored -") or said["Ed"].startswith("has not played for ")
    assert said["Cy"] == "no single cause stands out"


def test_forecasts_are_judged_on_the_later_half():
    matches = kn.read_matches(games(1200))
    found = kn.changeover(kn.TeamElo.classic(k=200), kn.TeamElo.classic(k=16), matches)
    back = kn.changeover(kn.TeamElo.classic(k=16), kn.TeamElo.classic(k=200), matches)
    said = []
    for k in (200, 16):
        p = kn.TeamElo.classic(k=k).one_step_ahead(matches).probabilities[600:]
        won = np.select([matches.result[600:] == 1, matches.result[600:] == 0.5], [p[:, 0], p[:, 1]], p[:, 2])
        said.append(-np.log(won))
    assert found.gain == pytest.approx(np.mean(said[0] - said[1]), abs=1e-12)
    assert found.gain == pytest.approx(-back.gain) and found.gain > 2 * found.gain_error
    told = f"log-loss {{}} by {found.gain:.4f} ± {found.gain_error:.4f} a match on the later half."
    assert f"Forecasts are better: {told.format('falls')}" in found.verdict
    assert f"Forecasts are worse: {told.format('rises')}" in back.verdict
    unsure = 0
    for k in (18, 22, 28, 40):
        near = kn.changeover(kn.TeamElo.classic(k=16), kn.TeamElo.classic(k=k), matches)
        told = "cannot tell which of the two forecasts better" in near.verdict
        assert told == (abs(near.gain) <= 2 * near.gain_error)
        unsure += told
    assert unsure > 0


def test_the_error_of_the_gain_counts_blocks_of_time_not_matches():
    """Where results come in runs, what is lost in one match is lost in the next: the error is that of block sums."""
    rng = np.random.default_rng(4)
    better = np.repeat(rng.permutation(12) < 6, 50)
    result = (better ^ (rng.random(600) < 0.15)).astype(float)
    table = {"home": ["Ada"] * 600, "away": ["Bo"] * 600, "result": result}
    matches = kn.read_matches(table | {"date": np.datetime64("2020-01-01") + np.arange(600)})
    found = kn.changeover(kn.TeamElo.classic(k=60), kn.TeamElo.classic(k=2), matches)
    losses = []
    for k in (60, 2):
        p = kn.TeamElo.classic(k=k).one_step_ahead(matches).probabilities[300:]
        losses.append(-np.log(np.where(matches.result[300:] == 1, p[:, 0], p[:, 2])))
    sums = [part.sum() for part in np.array_split(losses[0] - losses[1], 24)]
    expected = np.std(sums, ddof=1) * np.sqrt(24) / 300
    alone = np.std(losses[0] - losses[1], ddof=1) / np.sqrt(300)
    assert found.gain_error == pytest.approx(expected, rel=0.15) and expected > 1.4 * alone


def test_it_shows_itself_and_is_drawn():
    found = kn.changeover(
        kn.TeamElo.classic(k=40), kn.TeamElo.classic(k=12), kn.read_matches(games()), thresholds={"Master": 1600}
    )
    assert repr(found).startswith("Changeover of 5 sides: 5 sides change from plain Elo, K = 40 to plain Elo, K = 12")
    page = found._repr_html_()
    mover = found.table.sort(pl.col("move").abs(), descending=True).row(0, named=True)
    assert f"<td>{mover['name']}</td><td class='number'>{mover['old']:.0f}</td>" in page
    assert json.loads(json.dumps(found.to_dict()))["sides"][0]["name"] == found.table["name"][0]
    axes = kn.plot.changeover(found).axes[0]
    np.testing.assert_allclose(np.asarray(axes.collections[0].get_offsets()), found.table.select("old", "new"))
    assert axes.get_xlabel() == "rating by plain Elo, K = 40" and axes.get_ylabel() == "rating by plain Elo, K = 12"
    lines = [line.get_ydata()[0] for line in axes.lines if list(line.get_ydata()) == [1600, 1600]]
    assert lines == [1600]
    named = {text.get_text() for text in axes.texts}
    assert f"{mover['name']} {mover['move']:+.0f}" in named and "Master" in named


def test_the_command_says_the_same(tmp_path):
    table = games()
    table.write_csv(tmp_path / "games.csv")
    found = kn.changeover(
        kn.TeamElo.classic(k=32), kn.TeamElo.classic(k=16), kn.read_matches(table), thresholds={"Master": 1600}
    )
    words = ["audit", str(tmp_path / "games.csv"), "--changeover", "k=32", "--to", "k=16", "--threshold", "Master=1600"]
    done = CliRunner().invoke(app, [*words, "--json", "--out", str(tmp_path / "moves.csv")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(json.dumps(found.to_dict()))
    assert pl.read_csv(tmp_path / "moves.csv")["move"].to_list() == pytest.approx(found.table["move"].to_list())
    shown = CliRunner().invoke(app, [*words, "--picture", str(tmp_path / "moves.png")]).stdout
    mover = found.movers(1).row(0, named=True)
    line = next(line for line in shown.splitlines() if mover["name"] in line and "│" in line)
    assert [cell.strip() for cell in line.strip("│ ").split("│")] == [
        mover["name"], f"{mover['old']:.0f}", f"{mover['new']:.0f}", f"{mover['move']:+.0f}", mover["reason"],
    ]  # fmt: skip
    assert (tmp_path / "moves.png").stat().st_size > 5000
    rows = [line for line in shown.splitlines() if line.startswith("│")]
    fewer = CliRunner().invoke(app, [*words, "--top", "2"]).stdout
    assert len(rows) == 5 and [line for line in fewer.splitlines() if line.startswith("│")] == rows[:2]
    low = json.loads(CliRunner().invoke(app, [*words, "--json", "--initial", "1000"]).stdout)
    assert np.mean([side["old"] for side in low["sides"]]) == pytest.approx(1000.0)


def test_the_command_names_who_gains_and_who_loses_a_title(tmp_path):
    """Two lists of the same mean; the title is held from 1600 on, by two before and by one after."""
    (tmp_path / "old.csv").write_text("name,rating\nAsh,1710\nBix,1640\nCay,1560\nDor,1290\n")
    (tmp_path / "new.csv").write_text("name,rating\nAsh,1580\nBix,1550\nCay,1660\nDor,1410\n")
    (tmp_path / "games.csv").write_text("date,home,away,result\n2024-01-01,Ash,Bix,1\n2024-01-08,Cay,Dor,0\n")
    words = ["audit", tmp_path / "games.csv", "--changeover", tmp_path / "old.csv", "--to", tmp_path / "new.csv"]
    shown = CliRunner().invoke(app, [*map(str, words), "--threshold", "Master=1600"], env={"COLUMNS": "160"}).stdout
    rows = [[cell.strip() for cell in line.split("│")[1:5]] for line in shown.splitlines() if line.startswith("│")]
    assert rows == [
        ["Ash", "1710", "1580", "-130"], ["Dor", "1290", "1410", "+120"], ["Cay", "1560", "1660", "+100"],
        ["Bix", "1640", "1550", "-90"],
    ]  # fmt: skip
    assert shown.splitlines()[-3:] == [
        "Master: Cay gains it", "Master: Ash, Bix lose it", "Master: a threshold of 1580 would keep 2 holders"
    ]  # fmt: skip
    assert "2 before, 1 after; 1 gains it and 2 lose it." in " ".join(shown.split())


@pytest.mark.parametrize(
    "words",
    [("--changeover", "k=many", "--to", "k=16"), ("--changeover", "nowhere.csv", "--to", "k=16"),
     ("--changeover", "k=32", "--to", "k=16", "--threshold", "Master"), ("--changeover", "k=32"),
     ("--changeover", "k=32", "--to", "k=16", "--k", "20"), ("--to", "k=16"),
     ("--changeover", "k=32", "--to", "k=16", "--farming"), ("--farming", "--out", "gains.html")],
)  # fmt: skip
def test_nonsense_is_refused(words, tmp_path):
    games(20).write_csv(tmp_path / "games.csv")
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "games.csv"), *words])
    assert done.exit_code == 2 or isinstance(done.exception, kn.InputError)


def test_lists_that_share_nobody_are_refused():
    with pytest.raises(kn.InputError, match="fewer than two sides in common"):
        kn.changeover({"X": 1500.0, "Y": 1600.0}, kn.TeamElo.classic(), kn.read_matches(games(20)))


@pytest.mark.parametrize(("days", "said"), [(360, "no single cause stands out"), (370, "has not played for 370 days")])
def test_who_has_not_played_for_a_year_is_said_to_rest(days, said):
    """Bo and Cy play on after Ada and Di, who share every point among themselves, have stopped."""
    first = [("2020-01-01", "Ada", "Di", k % 2) for k in range(12)]
    later = [(str(np.datetime64("2020-01-01") + days), "Bo", "Cy", k % 2) for k in range(12)]
    table = pl.DataFrame(first + later, schema=["date", "home", "away", "result"], orient="row")
    old = dict.fromkeys(("Ada", "Bo", "Cy", "Di"), 1500.0)
    found = kn.changeover(old, old | {"Ada": 1540.0, "Cy": 1460.0}, kn.read_matches(table, ordered=True))
    assert dict(found.table.select("name", "reason").iter_rows())["Ada"] == said


@pytest.mark.parametrize("played", [0, 1, 2, 9])
def test_few_matches_are_a_reason_with_their_number(played):
    said = _reason({}, move=-31.0, surplus=0.0, z=0.0, played=played, idle=0)
    assert said == {0: "has played 0 matches", 1: "has played 1 match"}.get(played, f"has played {played} matches")
    assert _reason({}, -31.0, 0.0, 0.0, 10, 0) == "no single cause stands out"


def test_the_largest_cause_in_the_direction_of_the_move_is_named():
    assert _reason({"K": -12.4, "home": -31.6, "start": 40.0}, -30.0, 0.0, 0.0, 50, 0) == "home -32"
    assert _reason({"K": -12.4, "home": -31.6, "start": 40.0}, 30.0, 0.0, 0.0, 50, 0) == "start +40"
    assert _reason({}, 30.0, 0.128, 2.34, 50, 0) == "scored +0.13 a match against its old rating (z = +2.3)"
    assert _reason({}, -30.0, 0.128, 2.34, 50, 0) == "no single cause stands out"


@pytest.mark.parametrize(("line", "said"), [("2200", "'2200'"), (math.nan, "nan"), (True, "True")])
def test_a_title_from_what_is_no_number_is_refused(line, said):
    old = {"Ada": 1500.0, "Bo": 1600.0}
    with pytest.raises(kn.InputError, match="thresholds") as refused:
        kn.changeover(old, old, kn.read_matches(games(20)), thresholds={"Master": line})
    assert "Master" in str(refused.value) and said in str(refused.value)


def test_who_moves_furthest_comes_first_up_or_down():
    found = kn.changeover(kn.TeamElo.classic(k=40, start=START), kn.TeamElo.classic(k=12), kn.read_matches(games()))
    moves = dict(found.table.select("name", "move").iter_rows())
    furthest = sorted(moves, key=lambda name: -abs(moves[name]))
    assert found.movers(4)["name"].to_list() == furthest[:4] and found.movers(10**6)["name"].to_list() == furthest
    assert {np.sign(moves[name]) for name in furthest[:4]} == {-1.0, 1.0}
    assert found.movers(4)["move"].to_list() == [moves[name] for name in furthest[:4]]
