"""What people write into files: scores, sets, walk-overs, venues, headers of several languages, unreadable cells."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app

SIDES = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "A"]}


def lines(*scores: str, **more) -> kn.matches.Matches:
    days = [str(np.datetime64("2024-01-01") + 7 * k) for k in range(len(scores))]
    table = {"date": days, "home": ["A", "B"] * len(scores), "away": ["B", "A"] * len(scores)}
    return kn.read_matches(
        {k: v[: len(scores)] for k, v in table.items()} | {"score": list(scores)} | more, accept_losses=True
    )


@pytest.mark.parametrize(
    ("text", "result", "margin"),
    [
        ("2 x 1", 1.0, 1.0),
        ("2x3", 0.0, -1.0),
        ("2X2", 0.5, 0.0),
        ("2 × 0", 1.0, 2.0),
        ("2.5-1.5", 1.0, 1.0),
        ("2,5-1,5", 1.0, 1.0),
        ("1½-2½", 0.0, -1.0),
        ("½-½", 0.5, 0.0),
        ("1-1 pen 5-4", 0.5, 0.0),
        ("1-1, pen. 4:5", 0.5, 0.0),
        ("1-1 (pen 5-4)", 0.5, 0.0),
        ("3-3 (4-2 pens)", 0.5, 0.0),
        ("6-4 3-6 7-5", 1.0, 1.0 + 1.0 / 31.0),
        ("4-6 3-6", 0.0, -2.0 - 5.0 / 19.0),
        ("7-6(5) 6-7(3) [10-8]", 1.0, 1.0 + 2.0 / 44.0),
        ("11-9, 8-11, 11-7, 11-5", 1.0, 2.0 + 9.0 / 73.0),
        ("0-6 7-6(2) 7-6(9)", 1.0, 1.0 - 4.0 / 32.0),
    ],
)
def test_score_lines(text, result, margin):
    matches = lines(text, "2-1")
    assert matches.result.tolist() == [result, 1.0]
    assert matches.margin[0] == pytest.approx(margin, abs=1e-12)
    assert any("1 score tells sets" in note for note in matches.notes) == (abs(margin) % 1 > 0 and "½" not in text)
    assert any("1 match went to a shoot-out: it counts as drawn" in note for note in matches.notes) == ("pen" in text)


@pytest.mark.parametrize(
    "text", ["W/O", "w.o.", "WO", "walkover", "Walk-over", "bye", "(bye)", "DEF", "6-0 DEF", "kampflos"]
)
def test_walk_overs_are_no_wins(text):
    matches = lines("2-1", text, "0-1")
    assert matches.row.tolist() == [1, 3] and matches.rejected.counts() == {"forfeit or awarded match": 1}
    assert matches.rejected.content.tolist() == [text]


@pytest.mark.parametrize("text", ["RET", "6-4 2-1 RET", "6-4 2-1 ret.", "3-0 (retired)", "6-1 rit.", "abgebrochen"])
def test_matches_given_up_are_no_wins(text):
    matches = lines("2-1", text, "0-1")
    assert matches.row.tolist() == [1, 3] and matches.rejected.counts() == {"match not played to its end": 1}


def test_walk_overs_in_columns_of_scores():
    table = SIDES | {"home_score": ["W/O", "2"], "away_score": ["", "0"]}
    matches = kn.read_matches(table)
    assert matches.row.tolist() == [2] and matches.rejected.counts() == {"forfeit or awarded match": 1}


def test_winners_and_losers_with_scores_in_sets():
    """Margins follow the winner; matches given up or won without play are none."""
    table = {"date": [f"2024-01-0{k}" for k in range(1, 6)], "winner_name": list("ABABC"), "loser_name": list("BCCAB")}
    matches = kn.read_matches(table | {"score": ["6-4 6-4", "6-4 3-6 7-5", "W/O", "4-1 RET", "4-6 6-4"]})
    assert matches.rejected.counts() == {"forfeit or awarded match": 1, "match not played to its end": 1}
    won = np.where(matches.result == 1.0, 1.0, -1.0) * matches.margin
    assert won == pytest.approx([2.0 + 4.0 / 20.0, 1.0 + 1.0 / 31.0, 0.0])
    sides = [{matches.teams[i], matches.teams[j]} for i, j in zip(matches.home, matches.away)]
    assert sides == [{"A", "B"}, {"B", "C"}, {"B", "C"}]


@pytest.mark.parametrize("text", ["2 zu 1", "abc", "6-4 5-5", "1-1 5-4", "2-1 1-0"])
def test_what_cannot_be_read_is_shown_and_not_called_missing(text):
    matches = lines("2-1", text, "", "-", "0-1")
    assert matches.rejected.counts() == {"missing score": 2, "unreadable score": 1}
    assert matches.rejected.in_words() == f"missing score: 2, unreadable score: 1 ({text!r})"
    assert matches.rejected.to_polars().filter(pl.col("reason") == "unreadable score")["content"].to_list() == [text]
    columns = SIDES | {"home_score": [text, "1"], "away_score": ["1", "0"]}
    assert kn.read_matches(columns, accept_losses=True).rejected.in_words() == f"unreadable score: 1 ({text + ' 1'!r})"


def test_unreadable_dates_results_and_weights_are_shown():
    table = {"date": ["2024-01-01", "31 Juno", "2024-01-03", "2024-01-04"], "home": list("ABAB"), "away": list("BABA")}
    read = kn.read_matches(
        table | {"result": ["H", "A", "perhaps", "D"], "weight": ["1", "1", "1", "1e300"]}, accept_losses=True
    )
    assert read.row.tolist() == [1]
    for words in (
        "unreadable date: 1 ('31 Juno')",
        "unreadable result: 1 ('perhaps')",
        "impossible weight: 1 ('1e300')",
    ):
        assert words in read.rejected.in_words()


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("weight", "1e300", "impossible weight"),
        ("weight", "inf", "impossible weight"),
        ("weight", "-1", "impossible weight"),
        ("home_score", "1e300", "impossible score"),
        ("margin", "1e300", "impossible margin"),
    ],
)
def test_nonsense_numbers_are_refused(column, value, reason):
    table = SIDES | {"home_score": ["1", "2"], "away_score": ["0", "0"], "weight": ["1", "2"]}
    if column == "margin":
        table = SIDES | {"margin": ["1", "2"]}
    table[column] = [table[column][0], value]
    matches = kn.read_matches(table)
    assert matches.row.tolist() == [1] and matches.rejected.counts() == {reason: 1}


@pytest.mark.parametrize(("half_life", "firm"), [(0, 4), (-1, 4), (float("nan"), 4), ("x", 4), (30, -1), (30, None)])
def test_pools_refuse_nonsense(half_life, firm):
    with pytest.raises(kn.InputError, match=r"half_life must be|firm must be"):
        lines("2-1", "1-0").pools(half_life=half_life, firm=firm)


def test_rejects_are_written_where_no_row_is_left(tmp_path):
    (tmp_path / "m.csv").write_text("date,home,away,score\n2024-01-01,A,B,two\n2024-01-02,B,A,\n")
    ended = CliRunner().invoke(app, ["rate", str(tmp_path / "m.csv"), "--rejects", str(tmp_path / "bad.csv")])
    assert isinstance(ended.exception, kn.InputError) and "unreadable" in str(ended.exception)
    written = pl.read_csv(tmp_path / "bad.csv", infer_schema=False)
    assert written["row"].to_list() == ["1", "2"] and written["content"].to_list()[0] == "two"
    (tmp_path / "m.csv").write_text("date,home,away,score\n2024-01-01,A,B,1-0\n2024-01-02,B,A,2-2\n")
    ended = CliRunner().invoke(
        app, ["rate", str(tmp_path / "m.csv"), "--rater", "team", "--rejects", str(tmp_path / "bad.csv")]
    )
    assert ended.exit_code == 0 and pl.read_csv(tmp_path / "bad.csv").height == 0


HEADERS = [
    ("Datum;Heim;Gast;Tore;Tore", "refused"),
    ("Datum;Heim;Tore;Gast;Tore", "2024-05-01;Köln;2;Mainz;1"),
    ("Datum;Gast;Tore;Heim;Tore", "2024-05-01;Mainz;1;Köln;2"),
    ("Datum;Heimmannschaft;Gastmannschaft;Ergebnis", "2024-05-01;Köln;Mainz;2:1"),
    ("Data;Mandante;Visitante;Placar", "2024-05-01;Köln;Mainz;2 x 1"),
    ("Fecha;Local;Visitante;Resultado", "2024-05-01;Köln;Mainz;2-1"),
    ("Date;Équipe domicile;Équipe extérieur;Résultat", "2024-05-01;Köln;Mainz;2-1"),
    ("Data;Squadra casa;Squadra ospite;Risultato", "2024-05-01;Köln;Mainz;2-1"),
    ("Datum;Thuisploeg;Uitploeg;Uitslag", "2024-05-01;Köln;Mainz;2-1"),
    ("Date;Visitor;G;Home;G", "2024-05-01;Mainz;1;Köln;2"),
    ("Date;Visitor/Neutral;PTS;Home/Neutral;PTS", "2024-05-01;Mainz;1;Köln;2"),
    ("Date;G;Home;G;Visitor", "2024-05-01;2;Köln;1;Mainz"),
]


@pytest.mark.parametrize(("header", "row"), HEADERS)
def test_headers_of_several_languages_and_two_columns_of_one_name(header, row, tmp_path):
    (tmp_path / "m.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    if row == "refused":
        with pytest.raises(kn.InputError, match="two columns called 'Tore'"):
            kn.read_matches(tmp_path / "m.csv")
        return
    matches = kn.read_matches(tmp_path / "m.csv")
    assert (matches.teams[matches.home[0]], matches.teams[matches.away[0]]) == ("Köln", "Mainz")
    assert matches.result.tolist() == [1.0] and matches.margin.tolist() == [1.0]
    names = header.split(";")
    twice = [name for name in names if names.count(name) > 1]
    assert any(f"two columns are called {twice[0]!r}" in note for note in matches.notes) if twice else True


@pytest.mark.parametrize(
    ("yes", "no"), [("Sim", "Não"), ("ja", "nein"), ("sí", "no"), ("oui", "non"), ("vero", "falso")]
)
def test_yes_and_no_in_several_languages(yes, no):
    matches = kn.read_matches(SIDES | {"result": [1, 0.5], "neutro": [yes, no]})
    assert matches.neutral.tolist() == [True, False] and not any("neither" in note for note in matches.notes)
    doubtful = kn.read_matches(SIDES | {"result": [1, 0.5], "neutral": ["perhaps", no]})
    assert any(
        "1 entry of 'neutral' says neither yes nor no ('perhaps'): it counts as" in note for note in doubtful.notes
    )


def test_venues_from_a_column_of_locations():
    table = {"date": [f"2024-01-0{k}" for k in range(1, 5)], "home": list("ABAB"), "away": list("BABA")}
    table |= {"result": [1.0, 0.5, 0.0, 1.0]}
    matches = kn.read_matches(table | {"location": ["Home", "Neutral", "", "Away"]})
    assert matches.neutral.tolist() == [False, True, False, True]
    assert any("1 entry of 'location' says that the first side was away" in note for note in matches.notes)
    places = kn.read_matches(table | {"location": ["Home", "Neutral", "Lima", "Away"]})
    assert not places.neutral.any() and any("every match counts as played" in note for note in places.notes)


def test_accents_alone_are_noted():
    matches = kn.read_matches(SIDES | {"home": ["Perú", "Chile"], "away": ["Chile", "Peru"], "result": [1.0, 0.5]})
    assert len(matches.teams) == 3
    assert any("case, blanks or accents" in note and "'Perú' and 'Peru'" in note for note in matches.notes)


def test_undated_matches_name_no_day():
    matches = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    shown = repr(matches) + matches._repr_html_() + " ".join(matches.notes)
    assert "1970" not in shown and "undated" in repr(matches) and not matches.dated
    assert kn.read_matches(SIDES | {"result": [1.0, 0.5]}).dated


def test_a_table_of_ranks_gets_one_sentence():
    table = {"race": ["r1"] * 4 + ["r2"] * 4, "player": list("ABCD") * 2, "rank": [1, 2, 3, 4, 2, 1, 4, 3]}
    with pytest.raises(kn.InputError, match="up to 4 rows under one 'match_id', and a match has two sides"):
        kn.read_matches({**table, "match_id": table["race"]})


def test_byes_are_no_sides():
    matches = kn.read_matches(SIDES | {"away": ["BYE", "A"], "result": [1.0, 0.5]})
    assert matches.rejected.counts() == {"a name that stands for none": 1}


def test_tba_is_a_side_once_it_has_played_and_none_among_fixtures():
    table = SIDES | {"away": ["TBA", "A"]}
    assert len(kn.read_matches(table | {"result": [1.0, 0.5]})) == 2
    fixtures = kn.read_matches(table | {"result": [None, None]}, played=False)
    assert len(fixtures) == 1 and fixtures.rejected.counts() == {"a name that stands for none": 1}


def test_a_log_of_games_by_players_says_how_it_is_read_and_that_is_right():
    """A row for each player, teams of three, who won as 1 and 0: the refusal holds the arguments that read it."""
    rows = [(game, team, f"p{(5 * game + 3 * k) % 7}{team}{k}", int((team == "red") == (game % 3 > 0)))
            for game in range(5) for team in ("red", "blue") for k in range(3)]  # fmt: skip
    log = dict(zip(("match_id", "team", "player", "won"), map(list, zip(*rows))))
    with pytest.raises(kn.InputError, match="up to 6 rows under one 'match_id'") as refused:
        kn.read_matches(log)
    words = "columns={'contest': 'match_id', 'score': 'won'}, best='highest', team='team'"
    assert words in str(refused.value)
    read = kn.read_contests(log, columns={"contest": "match_id", "score": "won"}, best="highest", team="team")
    winners = read.to_polars().filter(pl.col("place") == 1)["entrant"].to_list()
    assert len(read) == 5 and winners == ["blue", "red", "red", "blue", "red"]
