"""The order of matches within a day: told by the table where it can be, and never by how a file lists its rows."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.forecasts.fit import estimate
from kinelo.matches.dates import round_rank
from kinelo.matches.day_order import clashes, first_of_day

ROUNDS = ("R16", "QF", "SF", "F")


def cups(seed: int = 3, weeks: int = 30, players: int = 24) -> pl.DataFrame:
    """Knock-outs of sixteen, each under one date; stronger players win more often."""
    generator = np.random.default_rng(seed)
    strength = generator.normal(0.0, 1.0, players)
    rows = []
    for week in range(weeks):
        left = generator.choice(players, 16, replace=False)
        for number, name in enumerate(ROUNDS):
            winners = []
            for slot, (i, j) in enumerate(left.reshape(-1, 2)):
                won = generator.random() < 1.0 / (1.0 + math.exp(-1.5 * (strength[i] - strength[j])))
                winners.append(i if won else j)
                day = np.datetime64("2020-01-06") + 7 * week
                rows.append((str(day), f"P{i:02d}", f"P{j:02d}", float(won), name, f"{10 + 2 * number}:{slot:02d}"))
            left = np.array(winners)
    return pl.DataFrame(rows, schema=["date", "home", "away", "result", "round", "time"], orient="row")


def listed(table: pl.DataFrame, how: str) -> pl.DataFrame:
    """The same table with the matches of each day turned about or shuffled."""
    if how == "finals last":
        return table
    if how == "finals first":
        return table[::-1].sort("date", maintain_order=True)
    return table.sample(fraction=1.0, shuffle=True, seed=5)


def keyed(matches: kn.matches.Matches, values) -> dict:
    """Values by day and sides, which meet once a day here."""
    names = [(str(d), matches.teams[i], matches.teams[j]) for d, i, j in zip(matches.date, matches.home, matches.away)]
    return dict(zip(names, np.asarray(values).tolist(), strict=True))


RATERS = {
    "team": lambda: kn.TeamElo.classic(k=32),
    "glicko": lambda: kn.Glicko(),
    "kalman": lambda: kn.KalmanElo(),
    "bradley-terry": lambda: kn.BradleyTerry(),
}


@pytest.mark.parametrize("name", RATERS)
@pytest.mark.parametrize("told", [False, True], ids=["nothing tells the order", "rounds tell it"])
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_how_a_file_lists_a_day_changes_no_forecast(name, told):
    table = cups(weeks=12).drop(() if told else "round", "time")
    said = []
    for how in ("finals last", "finals first", "shuffled"):
        matches = kn.read_matches(listed(table, how))
        rater = RATERS[name]().fit(matches.before("2020-02-15"))
        said.append(keyed(matches.since("2020-02-15"), rater.one_step_ahead(matches.since("2020-02-15")).probabilities))
    if name == "bradley-terry":  # sums over sides in the order in which a file names them
        assert all(np.allclose(said[0][key], other[key], atol=1e-9) for key in said[0] for other in said[1:])
    else:
        assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("name", ["team", "glicko", "kalman"])
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_unordered_matches_are_forecast_from_the_start_of_their_day(name):
    """The slow twin: predict each day whole, then use it."""
    matches = kn.read_matches(cups(weeks=8).drop("round", "time"))
    assert matches.unordered is not None and matches.unordered.all()
    rater, twin = (RATERS[name]().fit(matches.before("2020-01-20")) for _ in range(2))
    later = matches.since("2020-01-20")
    expected = []
    for day in np.unique(later.date):
        today = later[later.date == day]
        expected.append(twin.predict(today).probabilities)
        twin.update(today)
    assert np.array_equal(rater.one_step_ahead(later).probabilities, np.concatenate(expected))
    assert rater.ratings_.equals(twin.ratings_)


def test_rounds_put_a_day_in_its_true_order():
    matches = kn.read_matches(listed(cups(weeks=5), "shuffled").drop("time"))
    assert matches.unordered is None
    assert [note for note in matches.notes if "put in order by 'round'" in note]
    assert not [note for note in matches.notes if "not used" in note and "round" in note]
    table = cups(weeks=5)
    rank = {(d, h, a): ROUNDS.index(r) for d, h, a, r in table.select("date", "home", "away", "round").iter_rows()}
    order = [rank[key] for key in keyed(matches, range(len(matches)))]
    assert order == ([0] * 8 + [1] * 4 + [2] * 2 + [3]) * 5


def test_times_come_before_numbers_unless_numbers_are_named():
    table = {"date": ["2024-05-01"] * 3, "home": ["A", "A", "A"], "away": ["B", "C", "D"], "result": [1.0, 0.0, 0.5]}
    table |= {"time": ["18:30", "9:05", "12:00"], "match_num": [1, 3, 2]}
    for columns, order in ((None, ["C", "D", "B"]), ({"order": "match_num"}, ["B", "D", "C"])):
        matches = kn.read_matches(table, columns=columns)
        assert [matches.teams[k] for k in matches.away] == order


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("time", ["18:30", "9:05", "12:00"]),
        ("Time", ["6:30 PM", "9:05 am", "12:00 p.m."]),
        ("time", ["12:31:10", "9:05:00", "12:30:50"]),
        ("kick_off", ["18h30", "09h05", "12h00"]),
        ("Uhrzeit", ["18.30", "9.05", "12.00"]),
        ("match_num", ["30", "4", "11"]),
        ("Spieltag", ["12. Spieltag", "2. Spieltag", "7. Spieltag"]),
        ("round", ["Final", "Quarter-finals", "Semi-finals"]),
        ("date", ["2024-05-01T18:30:00Z", "2024-05-01T09:05:00Z", "2024-05-01T12:00:00Z"]),
        ("date", ["2024-05-01 18:30", "2024-05-01 09:05", "2024-05-01 12:00"]),
    ],
)
def test_what_tells_the_order_is_used(column, values):
    table = {"date": ["2024-05-01"] * 3, "home": ["A", "A", "A"], "away": ["B", "C", "D"], "result": [1.0, 0.0, 0.5]}
    matches = kn.read_matches(table | {column: values})
    assert [matches.teams[k] for k in matches.away] == ["C", "D", "B"] and matches.unordered is None
    assert any(f"put in order by {column!r}" in note for note in matches.notes)
    if column == "date":
        frame = pl.DataFrame(table | {column: values})
        matches = kn.read_matches(frame.with_columns(pl.col("date").str.slice(0, 16).str.to_datetime()))
        assert [matches.teams[k] for k in matches.away] == ["C", "D", "B"]


def test_a_gap_in_what_tells_the_order_leaves_the_day_without():
    table = {"date": ["2024-05-01"] * 3 + ["2024-05-02"] * 2, "home": ["A"] * 5, "away": ["B", "C", "D", "B", "C"]}
    table |= {"result": [1, 0, 0.5, 1, 0], "time": ["18:30", None, "12:00", "20:00", "10:00"]}
    matches = kn.read_matches(table)
    assert matches.unordered is not None and matches.unordered.tolist() == [True] * 3 + [False] * 2
    assert [matches.teams[k] for k in matches.away] == ["B", "C", "D", "C", "B"]
    (note,) = (note for note in matches.notes if note.startswith("'time' alone does not tell the order of 3 matches"))
    assert "3 matches on 1 day on" in note
    ordered = kn.read_matches(table, ordered=True)
    assert ordered.unordered is None and ordered.row.tolist() == [1, 2, 3, 4, 5]
    chosen = kn.read_matches(table | {"nr": [3, 1, 2, 5, 4]}, columns={"order": "nr"})
    assert chosen.unordered is None and chosen.row.tolist() == [2, 3, 1, 5, 4]
    with pytest.raises(kn.InputError, match="sends 'order' to 'nr'"):
        kn.read_matches(table, columns={"order": "nr"})


def test_days_without_a_side_that_plays_twice_stay_as_they_are():
    table = {"date": ["2024-05-01"] * 3, "home": ["C", "A", "E"], "away": ["D", "B", "F"], "result": [1, 0, 0.5]}
    matches = kn.read_matches(table | {"time": ["18:00", "9:00", "12:00"]})
    assert matches.row.tolist() == [1, 2, 3] and matches.unordered is None
    assert any("'time'" in note for note in matches.notes if "not used" in note)
    undated = kn.read_matches({"home": ["A", "A"], "away": ["B", "C"], "result": [1, 0], "round": ["F", "SF"]})
    assert undated.row.tolist() == [1, 2] and undated.unordered is None
    again = kn.read_matches(undated.to_polars()[::-1])
    assert again.match_id.tolist() == ["2", "1"] and again.unordered is None and not again.dated
    fixtures = kn.read_matches(table | {"home": ["A"] * 3, "result": [None] * 3}, played=False)
    assert fixtures.row.tolist() == [1, 2, 3] and fixtures.unordered is None


NAMES = [
    ("Q1", "Q2", "RR", "R128", "R64", "R32", "R16", "QF", "SF", "BR", "F"),
    ("Qualifying 1", "Group A", "1st round", "2nd Round", "Round of 16", "Quarter-final", "Semi-finals", "Final"),
    ("Gruppenphase", "1. Runde", "Achtelfinale", "Viertelfinale", "Halbfinale", "Spiel um Platz 3", "Finale"),
    ("Fase de grupos", "Oitavas de final", "Quartas de final", "Semifinal", "Terceiro lugar", "Final"),
    ("Jornada 2", "Jornada 12", "1/8 de finale", "Quarts de finale", "Demi-finales", "Finale"),
    ("Matchday 2", "Matchday 12", "Matchday 30"),
    ("first round", "second round", "third round", "quarterfinals", "semifinals", "third place", "finals"),
    ("2", "7", "R16", "R 17"),
]


@pytest.mark.parametrize("names", NAMES)
def test_rounds_are_ranked_as_they_are_played(names):
    ranks = round_rank(names)
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks) and not any(map(math.isnan, ranks))


@pytest.mark.parametrize("name", ["", "Wembley", "Premier League", "123456", "clay", "R0x"])
def test_what_is_no_round_has_no_rank(name):
    assert math.isnan(round_rank([name])[0])


@pytest.mark.parametrize("named", [False, True], ids=["no identifiers", "identifiers"])
def test_several_meetings_of_a_day_stand_in_one_order_however_a_file_lists_them(named):
    rng = np.random.default_rng(8)
    home = rng.integers(0, 4, 60)
    table = pl.DataFrame({
        "date": np.datetime64("2024-05-01") + np.sort(rng.integers(0, 3, 60)),
        "home": [f"T{k}" for k in home], "away": [f"T{k}" for k in (home + rng.integers(1, 4, 60)) % 4],
        "home_score": rng.integers(0, 6, 60), "away_score": rng.integers(0, 6, 60), "weight": rng.uniform(0.5, 2, 60),
        "match_id": [f"m{k:02}" for k in rng.permutation(60)],
    })  # fmt: skip
    seen = []
    for seed in range(4):
        matches = kn.read_matches(table.drop(() if named else "match_id").sample(fraction=1, shuffle=True, seed=seed))
        columns = ["date", "home", "away", *(["match_id"] if named else []), "margin", "weight"]
        seen.append(matches.to_polars().select(columns).rows())
    assert seen[0] == seen[1] == seen[2] == seen[3]
    told = 4 if named else 3
    assert [row[:told] for row in seen[0]] == sorted(row[:told] for row in seen[0])
    assert len({row[:3] for row in seen[0]}) < 35


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 4)), max_size=14))
def test_clashes_are_those_counted(rows):
    rows = sorted((d, h, a) for d, h, a in rows if h != a)
    day, home, away = (np.array([row[k] for row in rows], np.int64) for k in range(3))
    sides = [[s for d, h, a in rows if d == one for s in (h, a)] for one in range(3)]
    expected = [len(set(sides[d])) < len(sides[d]) for d in day.tolist()]
    assert clashes(day, home.astype(np.int32), away.astype(np.int32), 5).tolist() == expected


def test_fit_scores_what_no_earlier_match_of_the_day_can_tell():
    matches = kn.read_matches(cups(weeks=60).drop("round", "time"))
    first = first_of_day(matches)
    seen: set = set()
    for k in range(len(matches)):
        sides = {(matches.day[k], matches.home[k]), (matches.day[k], matches.away[k])}
        assert first[k] == (not sides & seen)
        seen |= sides
    assert 0.25 < first.mean() < 0.45
    skipped = len(matches) // 4
    assert estimate(kn.TeamElo(), matches).matches == int(first[skipped:].sum())
    all_day = kn.read_matches(
        {"date": ["2024-01-01"] * 60 + ["2024-01-02"] * 60, "home": list("ABC") * 40, "away": list("BCA") * 40}
        | {"result": [1, 0, 0.5, 1] * 30}
    )
    assert estimate(kn.TeamElo(), all_day).matches == 90


@pytest.mark.parametrize("how", ["as played", "wins first", "losses first"])
def test_which_match_of_a_double_header_is_scored_does_not_hang_on_its_result(how):
    """A home side that wins with probability .7 does so in .63 to .77 of 800 first matches, else once in 60,000 seeds;
    in order of results it would in .49 or .91."""
    generator = np.random.default_rng(8)
    days = np.repeat(np.datetime64("2020-01-01") + np.arange(800), 2).astype(str)
    won = (generator.random(1600) < 0.7).astype(float)
    table = pl.DataFrame({"date": days, "home": ["A"] * 1600, "away": ["B"] * 1600, "result": won})
    if how != "as played":
        table = table.sort("date", "result", descending=[False, how == "wins first"])
    matches = kn.read_matches(table)
    first = first_of_day(matches)
    assert first.sum() == 800
    assert 0.63 < matches.result[first].mean() < 0.77


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@pytest.mark.parametrize("columns", [(), ("round", "time")], ids=["rounds", "nothing"])
def test_a_book_keeps_the_order_of_a_day(columns, tmp_path):
    matches = kn.read_matches(listed(cups(weeks=6), "finals first").drop(*columns))
    assert (np.diff(matches.row) < 0).any()
    expected = kn.TeamElo.classic(k=32).update(matches).ratings_
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=32))
    for begin in range(0, len(matches), 20):
        book.add(matches[begin : begin + 20])
    assert book.ratings_.equals(expected) and kn.RatingBook(tmp_path / "b").ratings_.equals(expected)
    assert book.add(matches).known == len(matches)
    parts = kn.RatingBook(tmp_path / "c", kn.TeamElo.classic(k=32))
    for part in (matches[40:], matches[:15], matches[15:40]):
        parts.add(part)
    assert parts.ratings_.equals(expected)
