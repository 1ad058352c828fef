"""One league in every habit of keeping results: whatever the file, the same matches come out of it."""

from functools import cache, partial

import league_files as files
import made_up_league as made
import numpy as np
import pytest

import kinelo as kn

ALIASES = {made.OLD_NAME: made.NEW_NAME}


@cache
def games() -> list[made.Game]:
    return made.play()


def decided() -> list[made.Game]:
    return [game for game in games() if game.result != 0.5]


def western() -> list[made.Game]:
    """Games between sides whose names Windows-1252 can write."""
    return [game for game in games() if not {game.home, game.away} & {"Łódź", "القاهرة"}]


def by_id(matches: kn.matches.Matches) -> dict[str, tuple]:
    sides = [(matches.teams[i], matches.teams[j]) for i, j in zip(matches.home, matches.away)]
    rows = zip(matches.match_id, matches.date, sides, matches.result)
    return {str(name): (day.item(), *pair, float(result)) for name, day, pair, result in rows}


def truth(played: list[made.Game]) -> dict[str, tuple]:
    return {game.id: (game.date, game.home, game.away, float(game.result)) for game in played}


def read(writer, played, path, **options) -> kn.matches.Matches:
    writer(played, path)
    return kn.read_matches(path, aliases=ALIASES, **options)


HABITS = {
    "plain.csv": (files.write_plain, games),
    "old.txt": (files.write_old_program, games),
    "american.csv.gz": (files.write_american, games),
    "western.csv": (files.write_western, western),
    "teams.csv": (files.write_team_rows, games),
    "lines.jsonl": (files.write_lines, games),
    "spoilt.csv": (files.write_spoilt, games),
    "spreadsheet.csv": (files.write_spreadsheet, games),
}


@pytest.mark.parametrize("name", HABITS)
def test_every_habit_tells_the_same_league(name, tmp_path):
    writer, some = HABITS[name]
    matches = read(writer, some(), tmp_path / name)
    assert by_id(matches) == truth(some())
    assert matches.date.tolist() == sorted(matches.date.tolist())
    if name not in ("spreadsheet.csv",):
        neutral = {game.id: game.neutral for game in some()}
        assert {str(key): bool(value) for key, value in zip(matches.match_id, matches.neutral)} == neutral
    if name not in ("american.csv.gz", "lines.jsonl"):
        margins = {game.id: game.score[0] - game.score[1] for game in some()}
        assert dict(zip(map(str, matches.match_id), matches.margin.astype(int).tolist())) == margins


def test_the_sides_of_a_tour_are_in_no_order(tmp_path):
    """A table of winners: the same results, and the first side wins as often as not (within 5 standard errors)."""
    matches = read(files.write_winners, decided(), tmp_path / "tour.csv", conditions=["surface"])
    wins = {
        game.id: {game.home: float(game.result), game.away: 1.0 - float(game.result)} | {"day": game.date}
        for game in decided()
    }
    for name, (day, first, _, result) in by_id(matches).items():
        assert wins[name]["day"] == day and wins[name][first] == result
    assert abs(matches.result.mean() - 0.5) < 5 * 0.5 / np.sqrt(len(matches))
    assert matches.neutral.all()
    surfaces = {game.id: game.surface for game in decided()}
    assert dict(zip(map(str, matches.match_id), matches.conditions["surface"].names())) == surfaces


def test_what_was_assumed_is_said(tmp_path):
    sheet = read(files.write_spreadsheet, games(), tmp_path / "sheet.csv", columns={"neutral": "neutral?"})
    told = " ".join(sheet.notes)
    shootouts, neutral = (sum(map(bool, what)) for what in zip(*((g.shootout, g.neutral) for g in games())))
    assert f"{shootouts} matches went to a shoot-out" in told and shootouts > 10
    assert "neither yes nor no" not in told and sheet.neutral.sum() == neutral  # "ja" is read
    assert "columns that were not used: 'weather'" in told and "byte-order mark" in told and "as in 31.12.2024" in told
    assert (sheet.weight == 1.5).all()
    western_notes = read(files.write_western, western(), tmp_path / "western.csv").notes
    assert any("Windows-1252" in note for note in western_notes)


def test_each_row_that_cannot_be_used_has_its_reason(tmp_path):
    matches = read(files.write_spoilt, games(), tmp_path / "spoilt.csv")
    assert matches.rejected.counts() == dict.fromkeys(files.SPOILT, 1) | {"duplicate match id": 5}


def test_rows_without_ids_count_once_where_wanted(tmp_path):
    path = tmp_path / "no-ids.csv"
    rows = [(g.date, g.home, g.away, *g.score, g.neutral) for g in games()]
    head = ("date", "home", "away", "home_score", "away_score", "neutral")
    path.write_text(files.table([head, *rows, *rows[:7]]), encoding="utf-8")
    count = partial(kn.read_matches, path)
    assert len(count()) == len(games()) + 7
    assert len(count(drop_repeats=True)) == len(games())


def test_line_ups_of_every_kind(tmp_path):
    files.write_lineups(games(), tmp_path / "lineups.csv")
    long = read(files.write_plain, games(), tmp_path / "plain.csv", lineups=tmp_path / "lineups.csv")
    listed = read(files.write_lines, games(), tmp_path / "lines.jsonl")
    assert long.lineups is not None and listed.lineups is not None
    place = {str(name): k for k, name in enumerate(long.match_id)}
    again = {str(name): k for k, name in enumerate(listed.match_id)}
    for game in games()[::40]:
        for side, players in enumerate(game.players):
            names = {name for name, _, _ in players}
            assert set(long.lineups.names(place[game.id], side)) == names
            assert set(listed.lineups.names(again[game.id], side)) == names
    assert long.lineups.player.size == sum(len(side) for game in games() for side in game.players)
    minutes = sum(minutes for game in games() for side in game.players for _, minutes, _ in side)
    assert long.lineups.minutes.sum() == pytest.approx(minutes)


def test_fixtures_without_a_date(tmp_path):
    path = tmp_path / "fixtures.csv"
    path.write_text(files.table([("home", "away"), ("1860", "القاهرة"), ("Nobody yet", "1860")]), encoding="utf-8")
    fixtures = kn.read_matches(path, played=False)
    rater = kn.TeamElo.classic(k=30).update(read(files.write_plain, games(), tmp_path / "plain.csv"))
    forecast = rater.predict(fixtures).to_polars()
    assert forecast["date"].to_list() == [None, None]
    assert (forecast["home_win"] + forecast["draw"] + forecast["away_win"]).to_numpy() == pytest.approx(1.0)
    assert rater.predict(fixtures).unknown == ("Nobody yet",)
