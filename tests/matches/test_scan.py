"""Matches in pieces: the same matches and the same ratings as in one piece, and what is refused."""

import math

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.matches import scan
from kinelo.matches.scan import HashedCodes

OTHERS = [p.name for p in kn.TeamElo._declared_parameters if p.name != "step"]


def games(n, seed=0, text=False):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 30, n)
    away = (home + rng.integers(1, 30, n)) % 30
    day = np.datetime64("2020-01-01") + np.sort(rng.integers(0, 400, n))
    result = np.where(rng.random(n) < 1 / (1 + 10 ** ((away - home) / 20)), 1.0, rng.choice([0.0, 0.5], n))
    table = pl.DataFrame({"date": day, "home": home, "away": away, "result": result})
    return table.with_columns(pl.col("home", "away").cast(pl.String)) if text else table


@pytest.fixture
def river(tmp_path, request):
    table = games(600, text=getattr(request, "param", False))
    for k, part in enumerate((table[:250], table[250:600])):
        part.write_parquet(tmp_path / f"{k}.parquet")
    return str(tmp_path / "*.parquet"), table


@pytest.mark.parametrize("river", [False, True], indirect=True)
@pytest.mark.parametrize("rows", [7, 100, 10_000])
def test_pieces_together_are_the_table(river, rows):
    pattern, table = river
    whole = kn.read_matches(table, ordered=True)
    pieces = list(kn.matches.scan_matches(pattern).pieces(rows))
    assert len(pieces) == sum(-(-n // rows) for n in (250, 350))
    one = scan.joined(pieces)
    for name in ("date", "result", "margin", "neutral", "weight", "signed"):
        assert np.array_equal(getattr(one, name), getattr(whole, name), equal_nan=name == "margin"), name
    for side in ("home", "away"):
        assert [one.teams[k] for k in getattr(one, side)] == [whole.teams[k] for k in getattr(whole, side)]
    assert one.total is whole.total is None
    assert "identifiers are not checked" in kn.matches.scan_matches(pattern).notes[0]


def test_pieces_keep_goals_of_both_sides(tmp_path):
    table = pl.DataFrame({"home": ["A", "B", "C"], "away": ["B", "C", "A"], "home_score": [2, None, 4]})
    table = table.with_columns(away_score=pl.Series([1, None, 0]), result=pl.Series([1.0, 0.5, 1.0]))
    table[:2].write_parquet(tmp_path / "0.parquet")
    table[2:].write_parquet(tmp_path / "1.parquet")
    pieces = list(kn.matches.scan_matches(str(tmp_path / "*.parquet")).pieces(1))
    np.testing.assert_array_equal(scan.joined(pieces).total, [3.0, math.nan, 4.0])
    without = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    np.testing.assert_array_equal(scan.joined([without, pieces[0]]).total, [math.nan, 3.0])


@pytest.mark.parametrize("river", [False, True], indirect=True)
@pytest.mark.parametrize(
    "rater",
    [
        kn.TeamElo.classic(k=24, ties=0.5),
        kn.TeamElo(15.0, 2.0, 15.0, 20.0, 0.5, 50.0, 0.0, 1.0, 1.0, 0.5, prior_spread=200.0, season_gap=3.0),
        kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5),
        kn.Glicko2(deviation=300.0, volatility=0.06, home_advantage=0.0, ties=0.5, period=30.0),
        kn.KalmanElo(walk=0.3, prior_spread=1.0, noise=0.5, regression=0.1, ties=0.5, covariance="diagonal"),
    ],
    ids=lambda rater: type(rater).__name__,
)
def test_updates_in_pieces_give_the_same_ratings_to_the_bit(river, rater, monkeypatch):
    pattern, table = river
    monkeypatch.setattr(kn.matches.MatchScan.pieces, "__defaults__", (90,))
    rater._reset()
    near = rater.update(kn.read_matches(table, ordered=True)).ratings_
    rater._reset()
    far = rater.update(kn.matches.scan_matches(pattern)).ratings_
    assert near.height == 30 and near.sort("name").equals(far.sort("name"))


def test_fit_looks_at_the_latest_matches_and_says_so(river):
    pattern, table = river
    classic = kn.TeamElo.classic().fit(kn.read_matches(table, ordered=True)).ratings_
    for look in (100, 250, 10_000):
        brief = kn.TeamElo.classic().set_params(look=look).fit(kn.matches.scan_matches(pattern))
        assert brief.ratings_.sort("name").equals(classic.sort("name"))
    open_step = dict(zip(OTHERS, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0))) | {"look": 300}
    with pytest.warns(KineloWarning, match="estimated on the latest 300 matches"):
        far = kn.TeamElo(**open_step).fit(kn.matches.scan_matches(pattern))
    near = kn.TeamElo(**open_step).fit(kn.read_matches(table[-300:], ordered=True))
    assert far.parameters_ == near.parameters_
    near._reset(near.estimates_.values)
    assert far.ratings_.sort("name").equals(near.update(kn.read_matches(table, ordered=True)).ratings_.sort("name"))


def test_backtests_take_pieces(river):
    pattern, table = river
    one = kn.backtest(kn.read_matches(table, ordered=True), kn.TeamElo.classic(), train_until="2020-08-01")
    two = kn.backtest(kn.matches.scan_matches(pattern), kn.TeamElo.classic(), train_until="2020-08-01")
    assert np.array_equal(one.forecasts["ClassicElo"].probabilities, two.forecasts["ClassicElo"].probabilities)


def test_one_scale_of_results_for_all_pieces(tmp_path):
    table = games(100).with_columns(result=2 * pl.col("result") - 1).sort("result", descending=True)
    table = table.with_columns(date=pl.Series(np.sort(table["date"].to_numpy())))
    table.write_parquet(tmp_path / "g.parquet")
    pieces = list(kn.matches.scan_matches(tmp_path / "g.parquet").pieces(10))
    assert np.array_equal(scan.joined(pieces).signed, table["result"].to_numpy())


def test_rows_set_aside_are_told(tmp_path):
    games(50).with_columns(
        away=pl.when(pl.int_range(50) == 7).then(pl.col("home")).otherwise(pl.col("away"))
    ).write_parquet(tmp_path / "g.parquet")
    with pytest.warns(KineloWarning, match="1 row was set aside"):
        kn.TeamElo.classic().update(kn.matches.scan_matches(tmp_path / "g.parquet"))


def test_what_pieces_cannot_do_is_said_before_anything_is_read(river, tmp_path):
    pattern, table = river
    found = kn.matches.scan_matches(pattern)
    for rater, why in (
        (kn.KalmanElo(), "covariance='auto' may keep a number for every two sides"),
        (kn.BradleyTerry(), "weighs all matches at once"),
        (kn.PlayerElo(), "line-ups are not read"),
    ):
        for use in (rater.fit, rater.update):
            with pytest.raises(InputError, match=why):
                use(found)
    with pytest.raises(InputError, match="checks every match by its identifier"):
        kn.RatingBook(tmp_path / "book", kn.TeamElo.classic()).add(found)
    table[250:].write_parquet(tmp_path / "0.parquet")
    table[:250].write_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match=r"1.parquet, rows 1 to 250 goes back to .*before .* in .*0.parquet"):
        kn.TeamElo.classic().update(kn.matches.scan_matches(pattern))
    for bad, why in ((3, "paths must be"), (str(tmp_path / "no*.csv"), "no file is called"), ([], "names no file")):
        with pytest.raises(InputError, match=why):
            kn.matches.scan_matches(bad)
    with pytest.raises(InputError, match="There is no file"):
        kn.matches.scan_matches([tmp_path / "none.parquet"])
    (tmp_path / "odd.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="could not be read as Parquet"):
        kn.TeamElo.classic().update(kn.matches.scan_matches(tmp_path / "odd.parquet"))


@pytest.mark.filterwarnings("ignore:1 row was set aside")
@pytest.mark.parametrize("odd", [None, " side 3", "NA"])
def test_text_names_in_pieces_are_those_of_one_table(tmp_path, odd):
    """Plain names are looked up by their hashes; a piece with an odd one is read row by row, and codes go on."""
    named = pl.format("side {}", pl.col("home")).alias("home"), pl.format("side {}", pl.col("away")).alias("away")
    table = games(400).with_columns(named)
    if odd is not None:
        table = table.with_columns(home=pl.when(pl.int_range(400) == 230).then(pl.lit(odd)).otherwise(pl.col("home")))
    table.write_parquet(tmp_path / "g.parquet")
    whole = kn.read_matches(table, ordered=True)
    pieces = list(kn.matches.scan_matches(tmp_path / "g.parquet").pieces(60))
    together = scan.joined(pieces)
    assert len(pieces) == 7 and len(together) == len(whole)
    for side in ("home", "away"):
        assert [together.teams[code] for code in getattr(together, side)] == [
            whole.teams[code] for code in getattr(whole, side)
        ]
    near, far = (
        kn.TeamElo.classic().update(m).ratings_.sort("name")
        for m in (whole, kn.matches.scan_matches(tmp_path / "g.parquet"))
    )
    assert near.equals(far)


def test_numbers_text_and_odd_names_share_their_codes(tmp_path):
    """Each kind of file has its own way of looking names up; 7 and "7" are one side in all of them."""
    table = games(500)
    kinds = [pl.Int64, pl.String, pl.Int32, pl.Float64, pl.UInt64]
    for k, kind in enumerate(kinds):
        part = table[100 * k : 100 * k + 100].with_columns(pl.col("home", "away").cast(kind))
        part.write_parquet(tmp_path / f"{k}.parquet")
    together, whole = kn.matches.scan_matches(tmp_path / "*.parquet").collect(), kn.read_matches(table, ordered=True)
    assert len(set(together.teams)) == len(together.teams) == len(whole.teams)
    for side in ("home", "away"):
        told, true = ([m.teams[code] for code in getattr(m, side)] for m in (together, whole))
        assert told == true


def test_pieces_take_what_one_table_takes(tmp_path):
    """Endings, aliases, the order of dates and the scale of results mean in pieces what they mean in one table."""
    lines = [
        "date,home,away,result,status",
        "03/04/2023,Ajax,PSV,1,FT",
        "05/04/2023,PSV,Feyenoord,0,Zapped",
        "07/04/2023,Fey,Ajax,0,Gone",
        "09/04/2023,Ajax,Fey,1,FT",
    ]
    path = tmp_path / "games.csv"
    path.write_text("\n".join(lines))
    asked = {"endings": {"Zapped": "finished", "gone": "broken off"}, "aliases": {"Fey": "Feyenoord"}}
    asked |= {"dates": "mdy", "results": "signed"}
    with pytest.raises(
        InputError, match=r"games\.csv: 'status' says '(Gone|Zapped)', '(Gone|Zapped)' of 2 matches with"
    ):
        kn.matches.scan_matches(path).collect()
    pieces, whole = kn.matches.scan_matches(path, **asked).collect(), kn.read_matches(path, **asked)
    assert pieces.date.astype(str).tolist() == ["2023-03-04", "2023-05-04", "2023-09-04"]
    assert pieces.result.tolist() == [1.0, 0.5, 1.0] == whole.result.tolist()
    assert [pieces.teams[code] for code in pieces.away] == ["PSV", "Feyenoord", "Feyenoord"]
    for wrong, why in (
        ({"endings": {"FT": "over"}}, "endings={'FT': 'over'} is not known"),
        ({"aliases": {"A": ""}}, "lacks a name"),
        ({"dates": "dym"}, "is no order of dates"),
        ({"results": "halves"}, "is not a scale"),
        ({"accept_losses": "yes"}, "accept_losses must be True or False"),
    ):
        with pytest.raises(InputError, match=why):
            kn.matches.scan_matches(path, **wrong)


def test_a_plain_piece_is_read_under_its_aliases(tmp_path):
    """A clean Parquet file is read at once where nothing is asked for, and row by row where names change."""
    games(60, text=True).write_parquet(tmp_path / "g.parquet")
    pieces = kn.matches.scan_matches(tmp_path / "g.parquet", aliases={"3": "three"}).collect()
    assert "three" in pieces.present and "3" not in pieces.present


def test_new_names_that_come_again_in_a_piece_are_entered_once(tmp_path):
    rows = [("b", "c", 1.0), ("c", "b", 0.5), ("a", "b", 0.0), ("b", "d", 1.0), ("d", "e", 0.5), ("e", "a", 0.0)]
    table = {"date": [f"2024-01-{k:02d}" for k in range(1, 7)]} | dict(zip(("home", "away", "result"), zip(*rows)))
    pl.DataFrame(table).with_columns(pl.col("date").str.to_date()).write_parquet(tmp_path / "games.parquet")
    pieces = list(kn.matches.scan_matches(tmp_path / "games.parquet").pieces(3))
    assert [len(piece) for piece in pieces] == [3, 3] and pieces[-1].teams == ("b", "c", "a", "d", "e")
    met = [(piece.teams[h], piece.teams[a]) for piece in pieces for h, a in zip(piece.home, piece.away)]
    assert met == [row[:2] for row in rows]
    codes = HashedCodes()
    first = pl.Series(["x", "y", "x", "x", "z", "y"])
    assert codes.new_rows(first).tolist() == [0, 1, 4]
    codes.enter(first.gather([0, 1, 4]), np.array([0, 1, 2], np.int32))
    assert codes.codes(first).tolist() == [0, 1, 0, 0, 2, 1] and codes.new_rows(
        pl.Series(["z", "w", "w"])
    ).tolist() == [1]
