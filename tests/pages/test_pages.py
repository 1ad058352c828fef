"""Pages to share: every number on them is read back and compared with the library."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.words import ahead
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.pages.chart import chart_html
from kinelo.pages.frame import html_page
from kinelo.raters.adapter import blank_of

ODD = ["$lot & Söhne", "Ann 😀", "<script>alert(1)</script>", "D" * 120]


def league() -> kn.matches.Matches:
    """Uneven: the first side wins most, one rests for two years, one result is a shock."""
    rng = np.random.default_rng(3)
    rows = []
    for k in range(160):
        one, other = rng.choice(4, 2, replace=False)
        day = np.datetime64("2020-01-01") + 9 * k
        if "2021-01-01" <= str(day) < "2023-02-01" and 3 in (one, other):
            one, other = 0, 1
        won = rng.random() < 1 / (1 + 10 ** ((one - other) / 2))
        rows.append((str(day), ODD[one], ODD[other], 1.0 if won else 0.5 if rng.random() < 0.3 else 0.0))
    return kn.read_matches(pl.DataFrame(rows, schema=["date", "home", "away", "result"], orient="row"))


class Reader(HTMLParser):
    """Tables as rows of text, and charts with their axes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables, self.charts, self.tags, self._path = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self._path.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "svg" and given.get("class") == "chart":
            self.charts.append({"name": given["aria-label"], "x": [], "y": [], "path": [], "circle": []})
        elif self.charts and tag == "text" and given.get("class") in ("x", "y"):
            key = given["class"]
            self.charts[-1][key].append([float(given["x"] if key == "x" else given["data-at"]), ""])
        elif self.charts and tag in ("path", "circle"):
            self.charts[-1][tag].append(given)

    def handle_endtag(self, tag):
        while self._path and self._path.pop() != tag:
            pass

    def handle_data(self, data):
        if self._path and self._path[-1] == "text" and self.charts:
            for key in ("x", "y"):
                if self.charts[-1][key] and self.charts[-1][key][-1][1] == "":
                    self.charts[-1][key][-1][1] = data
        elif {"td", "th"} & set(self._path) and "div" not in self._path[-1:]:
            self.tables[-1][-1][-1] += data


def values(chart: dict, key: str, places: np.ndarray, scale=lambda text: float(text.replace(",", ""))) -> np.ndarray:
    """Values at places of an axis, by the marks on it."""
    at = np.array([place for place, _ in chart[key]])
    said = np.array([scale(text.replace("−", "-")) for _, text in chart[key]])
    slope, start = np.polyfit(at, said, 1)
    assert np.allclose(slope * at + start, said, atol=2e-3 * np.ptp(said))
    return slope * places + start


def points(path: str) -> np.ndarray:
    return np.array([[float(part) for part in pair.split(",")] for pair in re.findall(r"[-\d.e]+,[-\d.e]+", path)])


def check_alone(page: str) -> Reader:
    """It loads nothing, runs nothing, and has a dark and a light side."""
    read = Reader(page)
    assert not {tag for tag, _ in read.tags} & {"script", "link", "iframe", "object", "embed", "base", "form"}
    assert not any(name.startswith("on") for _, given in read.tags for name in given)
    assert not any("url(" in str(value) for _, given in read.tags for value in given.values())
    policy = next(given["content"] for tag, given in read.tags if given.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'") and "script-src" not in policy
    assert "prefers-color-scheme: dark" in page and "color-scheme: light dark" in page
    for tag, given in read.tags:
        if tag == "svg":
            assert given.get("aria-label") or given.get("aria-hidden") == "true"
    return read


def test_the_page_of_ratings_says_what_the_library_says():
    matches = league()
    rater = kn.TeamElo.classic(k=24).fit(matches)
    read = check_alone(kn.pages.share_page(rater, title="A & B"))
    board = kn.leaderboard(rater)
    rows = read.tables[0][1:]
    assert [row[1] for row in rows] == board["name"].to_list() and set(board["name"]) == set(ODD)
    assert [float(row[2]) for row in rows] == pytest.approx(board["rating"].to_list(), abs=0.5)
    assert [float(row[3].strip("± ")) for row in rows] == pytest.approx(board["uncertainty"].to_list(), abs=0.5)
    assert [float(row[4]) for row in rows] == pytest.approx(board["surely"].to_list(), abs=0.5)
    assert [int(row[6]) for row in rows] == board["matches"].to_list()

    bars = [given for tag, given in read.tags if tag == "rect"]
    marks, spans = ([float(one["x"]) for one in bars if one["y"] == y] for y in ("1", "3.5"))
    widths = np.array([float(one["width"]) for one in bars if one["y"] == "3.5"])
    share, start = np.polyfit(board["rating"], marks, 1)  # hundredths of the axis per point
    assert share * board["rating"].to_numpy() + start == pytest.approx(marks, abs=0.02)
    assert widths / share == pytest.approx(2 * 1.96 * board["uncertainty"].to_numpy(), rel=0.03)
    assert spans + widths / 2 == pytest.approx(marks, abs=0.02)

    (chart,) = read.charts
    history = kn.rating_history(rater, matches)
    lines = [one for one in chart["path"] if one["class"].startswith("line")]
    assert len(lines) == 4
    for name, line in zip(board["name"], lines):
        drawn = points(line["d"])
        own = history.filter(name=name).sort("date")
        assert values(chart, "y", drawn[:, 1]) == pytest.approx(own["rating"].to_list(), abs=1.0)
        assert line["d"].count("M") == 1 + (name == ODD[3])  # no line through the two years without a match
        days = values(chart, "x", drawn[:, 0], lambda text: np.datetime64(f"{text}-01-01").astype(int))
        assert days == pytest.approx(own["date"].to_numpy().astype("datetime64[D]").astype(int), abs=4)
    first = history.filter(name=board["name"][0]).sort("date")
    (band,) = [points(one["d"]) for one in chart["path"] if one["class"].startswith("band")]
    above, below = (values(chart, "y", part[:, 1]) for part in (band[: len(band) // 2], band[len(band) // 2 :][::-1]))
    assert (above - below) / 2 == pytest.approx(first["uncertainty"].to_list(), abs=1.0)
    assert (above + below) / 2 == pytest.approx(first["rating"].to_list(), abs=1.0)

    expected = sorted(slow_chances(matches, k=24))[:10]
    head, *shown = read.tables[1]
    assert head == ["Chance", "Match", "Result", "Date"]
    ended = {}
    for day, i, j, result in zip(matches.date, matches.home, matches.away, matches.result):
        home, away = matches.teams[i], matches.teams[j]
        ended[str(day)] = [f"{home} – {away}", {1.0: f"{home} won", 0.5: "draw", 0.0: f"{away} won"}[float(result)]]
    assert [row[1:3] for row in shown] == [ended[row[3]] for row in shown] and len(shown) == 10
    said = [row[0] for row in shown]
    assert [text == "< 0.1 %" for text in said] == [chance < 0.001 for chance in expected]
    chances = [0.0 if text == "< 0.1 %" else float(text.strip(" %")) / 100 for text in said]
    assert chances == pytest.approx(expected, abs=6e-4)


def test_the_page_says_where_nobody_ranked_plays_in_the_matches():
    others = kn.read_matches(
        {"date": ["2020-01-01", "2020-05-01"], "home": ["X", "Y"], "away": ["Y", "X"], "result": [1, 0]}
    )
    words = "Nobody who is ranked plays in these matches."
    rater = kn.TeamElo.classic(k=24).fit(league())
    assert words in kn.pages.share_page(rater, matches=others)
    assert words not in kn.pages.share_page(rater)


def slow_chances(matches: kn.matches.Matches, k: float) -> list[float]:
    """What classic Elo gave to what happened: a draw where it counts two halves."""
    found, rater = [], kn.TeamElo.classic(k=k)
    for n in range(len(matches)):
        said = rater.one_step_ahead(matches[n : n + 1]).probabilities[0]
        found.append(float(said[{1.0: 0, 0.5: 1, 0.0: 2}[float(matches.result[n])]]))
    return found


def test_one_outlier_of_a_million_points_leaves_every_bar_to_be_seen():
    table = {"name": ["Giant", *"ABCDE"], "rating": [1e6, 1500.0, 1540.0, 1490.0, 1450.0, 1600.0]}
    plays = {
        "home": [*"ABCDE", "Giant"] * 3,
        "away": ["B", "C", "D", "E", "A", "A"] * 3,
        "result": [1, 0, 1, 0, 1, 1] * 3,
    }
    matches = kn.read_matches(plays)
    page = kn.pages.share_page(kn.TeamElo.classic(k=20, start=pl.DataFrame(table)).fit(matches))
    bars = [(float(x), float(w)) for x, w in re.findall(r'<rect x="([\d.]+)" y="3.5" width="([\d.]+)"', page)]
    assert len(bars) == 6 and all(width >= 1 and x <= 99 for x, width in bars)
    middle = [x + width / 2 for x, width in bars[1:]]
    assert max(middle) - min(middle) > 10  # the others are not squeezed into one place


@pytest.mark.usefixtures("few_replays")
def test_the_page_of_an_audit_says_what_the_audit_found(tmp_path):
    matches = kn.read_matches(kn.sample_league(teams=8, seasons=3, seed=4).results)
    found = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    read = check_alone(kn.write_page(found, tmp_path / "audit.html").read_text(encoding="utf-8"))
    chart, periods = read.charts
    assert len(periods["path"]) >= 4
    drawn = np.array([[float(one["cx"]), float(one["cy"])] for one in chart["circle"]])
    assert values(chart, "x", drawn[:, 0], lambda text: np.log(float(text))) == pytest.approx(
        np.log(found.measured.k), abs=0.01
    )
    lost = found.measured.log_loss - found.measured.log_loss.min()
    assert values(chart, "y", drawn[:, 1]) == pytest.approx(lost, abs=0.003 * lost.max() + 1e-6)
    rules = [points(one["d"])[0, 0] for one in chart["path"] if one["class"].startswith("rule")]
    marked = np.exp(values(chart, "x", np.array(rules), lambda text: np.log(float(text))))
    coming = ahead(found)
    assert marked == pytest.approx(
        [found.outlook.k, 60.0, found.advice.k] if coming else [found.advice.k, 60.0], rel=0.01
    )
    assert [row[1] for row in read.tables[0][1:]] == [f"{one.rating:+.0f}" for one in found.bands]
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    plain = page.replace("&#x27;", "'")
    findings = [f"<li>{one.words} <b>{one.advice}</b></li>" for one in found.findings]
    told = [f'<p class="lead">{one}</p>' for one in found.lead.sentences]
    assert "log-loss" not in plain[: plain.index("<details")]
    places = [
        plain.index(one) for one in (*told, *findings, '<details class="known"><summary>How we know</summary>', "<svg")
    ]
    assert places == sorted(places) and " ".join(found.lead.sentences) == found.verdict
    named = kn.pages.share_page(found, title="County & City")
    assert named.count("County &amp; City") == 2 and len(told) <= 4 and len(findings) <= 6
    assert "<p><b>{}</b> {}</p>".format(*found._gain_words()) in page


def test_the_page_of_a_diagnosis_says_what_the_diagnosis_says():
    system, strengths = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 5.5, 10.0], sigma=[0.5, 1.0, 1.5])
    verdict = kn.diagnose(system, strengths)
    read = check_alone(kn.pages.share_page(verdict))
    (chart,) = read.charts
    drawn = np.array([[float(one["cx"]), float(one["cy"])] for one in chart["circle"]])
    assert values(chart, "x", drawn[:, 0]) == pytest.approx(verdict.state.theta, abs=0.02)
    assert values(chart, "y", drawn[:, 1]) == pytest.approx(verdict.state.rating, abs=0.03)
    assert dict(read.tables[0]) == dict(verdict.rows())
    assert all(sentence in kn.pages.share_page(verdict).replace("&#x27;", "'") for sentence in verdict.advice)


@pytest.mark.usefixtures("few_replays")
def test_every_command_writes_the_page_of_the_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = kn.sample_league(teams=6, seasons=2, seed=2).results
    results.write_csv("club.csv")

    def run(*words: str) -> None:
        said = CliRunner().invoke(app, list(words))
        assert said.exit_code == 0, said.output

    run("rate", "club.csv", "--k", "20", "--out", "ratings.html")
    matches = kn.read_matches("club.csv")
    rater = kn.TeamElo.classic(k=20).fit(matches)
    page = (tmp_path / "ratings.html").read_text(encoding="utf-8")
    assert page == kn.pages.share_page(rater, title="Club")
    run("rate", "club.csv", "--k", "20", "--least-matches", "30", "--out", "few.html")
    page = (tmp_path / "few.html").read_text(encoding="utf-8")
    assert page == kn.pages.share_page(rater, title="Club", ranking={"active_days": 365, "least_matches": 30})
    assert "Nobody has played 30 matches yet, so everyone is shown." in page
    run("audit", "club.csv", "--k", "20", "--out", "audit.html")
    check_alone((tmp_path / "audit.html").read_text(encoding="utf-8"))
    study = 'gamma = 0.05\noutcome = {kind = "tanh", nu = 0.5}\n[league]\nkind = "normal"\n'
    study += "theta = [4.0, 6.0, 9.0]\nsigma = 1\n"
    (tmp_path / "three.toml").write_text(study, encoding="utf-8")
    run("study", "diagnose", "three.toml", "--out", "three.html")
    check_alone((tmp_path / "three.html").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="name of a page"):
        CliRunner().invoke(app, ["audit", "club.csv", "--out", "audit.pdf"], catch_exceptions=False)


def test_the_report_of_the_paper_stands_in_the_same_frame():
    from kinelo.paper import report

    assert report.html_page is html_page


def test_the_page_of_contests_says_what_the_library_says():
    table = kn.matches.sample_contests(contests=60, entrants=12, size=6, cars=4, seed=1)
    table = table.with_columns(entrant=pl.col("entrant").replace("P1", ODD[2]))
    races = kn.read_contests(table, slots=["entrant", "car"])
    rater = kn.RankElo().fit(races)
    page = kn.pages.share_page(rater, title="Races")
    read, board = Reader(page), kn.leaderboard(rater, caution=0.0)
    assert "60 contests of 12 entrants" in page and "<script>alert" not in page
    for shown, kind in zip(read.tables, ("entrant", "car")):
        own = board.filter(kind=kind)
        assert shown[0][-1] == "Contests"
        assert [row[1] for row in shown[1:]] == own["name"].to_list()
        assert [row[2] for row in shown[1:]] == [f"{rating:.0f}" for rating in own["rating"]]
    surprises = kn.raters.upsets(rater, races).head(10)
    assert [row[0] for row in read.tables[2][1:]] == [f"{100 * chance:.1f} %" for chance in surprises["chance"]]
    assert [row[1] for row in read.tables[2][1:]] == surprises["winner"].to_list()
    assert [len(chart["circle"]) > 5 for chart in read.charts] == [False, False, True]
    assert "Ties" not in page and "(given)" not in page


def test_surprises_of_contests_are_forecasts_made_before():
    races = kn.read_contests(kn.matches.sample_contests(contests=30, entrants=8, size=4, seed=2))
    rater = kn.TeamElo.classic(k=30).fit(races)
    found = kn.raters.upsets(rater, races)
    said = kn.TeamElo.classic(k=30).one_step_ahead(races)
    won = {races.identifiers[c]: said.win[races.first[c]] for c in range(len(races))}
    assert dict(found.select("contest", "chance").rows()) == pytest.approx(won)
    assert found["chance"].is_sorted() and (found["favourite_chance"] >= found["chance"] - 1e-12).all()
    page = kn.pages.share_page(rater)
    assert "plain Elo, K = 30" in page and "<h2>Leaderboard</h2>" in page


def test_the_page_of_somebody_says_what_the_next_match_would_change():
    """Against the five who are rated nearest, the nearest first; each number as the preview gives it."""
    names = [*ODD, "Eve", "Flo", "Gus", "Hal"]
    rng = np.random.default_rng(5)
    pairs = [rng.choice(8, 2, replace=False) for _ in range(120)]
    matches = kn.read_matches({
        "date": [str(np.datetime64("2021-03-01") + 3 * k) for k in range(120)],
        "home": [names[i] for i, _ in pairs], "away": [names[j] for _, j in pairs],
        "result": [float(i < j) for i, j in pairs],
    })  # fmt: skip
    rater = kn.TeamElo.classic(k=30, home_advantage=60.0).fit(matches)
    page = kn.pages.share_page(rater, of="Flo", last=4)
    rating = dict(rater.ratings_.select("name", "rating").rows())
    others = sorted((abs(rating[name] - rating["Flo"]), name) for name in names if name != "Flo")[:5]
    head, *rows = Reader(page).tables[-1]
    assert head == ["Against", "Rating", "Win", "Draw", "Loss"] and [row[0] for row in rows] == [n for _, n in others]
    for name, shown, *changes in rows:
        expected = 30 / (1 + 10 ** ((rating["Flo"] - rating[name]) / 400))  # K times the chance of the other, no home
        assert float(shown) == pytest.approx(rating[name], abs=0.5)
        assert [float(one.replace("−", "-")) for one in changes] == pytest.approx(
            [expected, expected - 15, expected - 30], abs=0.051
        )
    assert "on neutral ground, on the day of the last match" in page and "<h2>Through time</h2>" in page
    assert f"Rated {rating['Flo']:.0f} by plain Elo, K = 30 from a table of\n120 matches, with" in page
    with pytest.raises(InputError, match="cannot say why ratings moved"):
        kn.pages.share_page(Speechless(rater), matches=matches, of="Flo")


class Speechless:
    """A rater of somebody else's that only rates."""

    def __init__(self, rater: kn.TeamElo) -> None:
        self.ratings_ = rater.ratings_

    def fit(self, matches: kn.matches.Matches) -> Speechless:
        return self


def test_a_page_has_one_rating_of_everybody():
    """Board, key of the chart, page of one and tiers: all as on the day of the last match, though some have rested."""
    rng = np.random.default_rng(8)
    days = np.sort(rng.integers(0, 500, 90))
    pairs = [rng.choice(4 if day < 300 else 3, 2, replace=False) for day in days]  # the last rests from day 300 on
    names = ["Ash", "Bea", "Cid", "Dee"]
    matches = kn.read_matches({
        "date": [str(np.datetime64("2021-03-01") + int(day)) for day in days],
        "home": [names[i] for i, _ in pairs], "away": [names[j] for _, j in pairs],
        "result": [float(rng.random() < 0.5 + 0.15 * (j - i)) for i, j in pairs],
    })  # fmt: skip
    rater = kn.KalmanElo(regression=0.4, walk=0.2, prior_spread=0.8).fit(matches)
    board = dict(kn.leaderboard(rater).select("name", "rating").rows())
    then = dict(rater.ratings_.select("name", "rating").rows())
    assert abs(board["Dee"] - then["Dee"]) > 5 and board.keys() == then.keys()
    page = kn.pages.share_page(rater)
    rows = Reader(page).tables[0][1:]
    assert [float(row[2]) for row in rows] == pytest.approx([board[row[1]] for row in rows], abs=0.5)
    for name, rating in board.items():
        assert f"{name}: {rating:.0f}" in page
    own = kn.pages.share_page(rater, of="Dee")
    assert f"Rated {board['Dee']:.0f} by" in own and f"Dee: {board['Dee']:.0f}" in own
    others = {row[0]: float(row[1]) for row in Reader(own).tables[-1][1:]}
    assert others == {name: pytest.approx(board[name], abs=0.5) for name in ("Ash", "Bea", "Cid")}
    for name, shown, *_ in kn.preview(rater, "Dee", "Bea").table().cells():
        assert shown == f"{board[name]:.0f}"
    shown = kn.leaderboard(rater).select("name", "rating", "uncertainty").sort("name")
    groups = kn.tiers(rater).select("name", "rating", "uncertainty").sort("name")
    assert groups["name"].to_list() == shown["name"].to_list()
    for column in ("rating", "uncertainty"):
        assert groups[column].to_numpy() == pytest.approx(shown[column].to_numpy(), rel=1e-9)


def test_the_page_of_an_entrant_asks_what_the_field_of_its_last_contest_would_change():
    table = kn.matches.sample_contests(contests=20, entrants=12, size=5, cars=4, seed=1)
    rater = kn.RankElo().fit(kn.read_contests(table, slots=["entrant", "car"]))
    # Somebody who was not in the last contest of all.
    last = table.filter(contest=table["contest"].max())["entrant"].to_list()
    name = next(one for one in table["entrant"].reverse() if one not in last)
    contest = table.filter(entrant=name)["contest"].max()
    field = table.filter(contest=contest).select("entrant", "car").rows()
    page = kn.pages.share_page(rater, of=name)
    (own,) = [entrant for entrant in field if entrant[0] == name]
    changes = kn.preview(rater, field, of=[own]).changes(name)
    head, *rows = Reader(page).tables[-1]
    assert head == ["Place", "Change"] and [row[0] for row in rows] == list(changes)
    said = [float(row[1].replace("−", "-")) for row in rows]
    assert said == pytest.approx(list(changes.values()), abs=0.051)
    assert said == sorted(said, reverse=True) and f"in the field of {contest}, the others" in page


def test_forecasts_that_should_have_come_true_are_made_from_ratings_before(monkeypatch):
    """The later half, each contest from all that came before it."""
    charts = []
    monkeypatch.setattr("kinelo.pages.page.calibration_chart", lambda table: charts.append(table) or LINE)
    races = kn.read_contests(kn.matches.sample_contests(contests=40, entrants=9, size=5, seed=3))
    rater = kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=0.0, regression=0.0).fit(races)
    page = kn.pages.share_page(rater)
    assert "Of the last 20 contests, each forecast from ratings before it" in page
    won = blank_of(rater).one_step_ahead(races).win[races.first[20] :]
    (table,) = charts
    firsts = table.filter((pl.col("event") == table["event"][0]) & (pl.col("entries") > 0))
    bins = np.split(np.sort(won), np.cumsum(firsts["entries"])[:-1])
    assert len(bins) > 3 and firsts["forecast"].to_list() == pytest.approx([one.mean() for one in bins], rel=1e-9)


LINE = kn.charts.Chart("", "x", "y", [kn.charts.Trace("", "truth", "lines", [0.0, 1.0], [0.0, 1.0])])


def test_a_chart_holds_what_it_is_given():
    """Marks with bars, names and notes, a band with a gap, a logarithmic axis: each place read back off the axes."""
    x, y, error = [2.0, 20.0, 200.0], [1.0, 3.0, 2.0], [0.5, 0.25, 1.0]
    line, dots = "lines", kn.charts.Trace("seen", 2, "markers", x, y, error=error, notes=("a & b", "c"))
    band = kn.charts.Trace("band", "prediction", "band", [2.0, 10.0, 20.0, 100.0, 200.0],
                           [2.0, 3.0, np.nan, 4.0, 3.5], low=[1.0, 1.5, np.nan, 2.0, 0.5])  # fmt: skip
    chart = kn.charts.Chart(
        "A", "x of it", "y of it", [dots, band, kn.charts.Trace("", 9, line, x, y)], logarithmic=True
    )
    page = chart_html(chart)
    (read,) = Reader(page).charts
    scale = lambda text: np.log(float(text))  # noqa: E731
    circles = np.array([[float(one["cx"]), float(one["cy"])] for one in read["circle"]])
    assert values(read, "x", circles[:, 0], scale) == pytest.approx(np.log(x), abs=0.02)
    assert values(read, "y", circles[:, 1]) == pytest.approx(y, abs=0.02)
    assert re.findall("<title>(.*?)</title>", page) == ["a &amp; b", "c"]
    (bars,) = [one["d"] for one in read["path"] if one["class"] == "line h2"]
    ends = np.array([[float(part) for part in one] for one in re.findall(r"M([\d.]+),([\d.]+)V([\d.]+)", bars)])
    for column, sign in ((1, 1), (2, -1)):
        assert values(read, "y", ends[:, column]) == pytest.approx(np.add(y, np.multiply(sign, error)), abs=0.02)
    drawn = [points(one["d"]) for one in read["path"] if one["class"].startswith("band")]
    for outline, at, low, high in zip(drawn, ([2, 10], [100, 200]), ([1, 1.5], [2, 0.5]), ([2, 3], [4, 3.5])):
        assert values(read, "x", outline[:, 0], scale) == pytest.approx(np.log([*at, *at[::-1]]), abs=0.02)
        assert values(read, "y", outline[:, 1]) == pytest.approx([*high, *low[::-1]], abs=0.02)
    assert len(drawn) == 2
    # Titles stand in the middle of their axes.
    plane = [[float(part) for part in one["d"].replace("V", "M").replace("H", "M").replace(",", "M").split("M")[1:]]
             for one in read["path"] if one["class"] == "axis"]  # fmt: skip
    ((left, top, _, right),) = plane
    assert f'<text x="{(left + right) / 2:g}"' in page
    assert '<text x="4" y="20">y of it</text>' in page and top > 20  # off the data
    assert "NaN" not in page and "nan" not in page


def test_a_name_of_the_leaderboard_has_team_and_note_below_it():
    from kinelo.pages.page import _name

    assert "place" not in _name({"name": "Ann"})
    assert _name({"name": "Ann", "team": "<Red>", "note": "new"}).endswith('<div class="place">&lt;Red&gt; · new</div>')
    assert _name({"name": "Ann", "team": None, "note": "new"}).endswith('<div class="place">new</div>')


SEEN = {
    "full": np.eye(3),
    "without red": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "without green": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
}
"""What is left of linear red, green and blue in three kinds of eyes (Machado and others 2009)."""


def in_lab(colour: str, eyes: np.ndarray) -> np.ndarray:
    """A colour in CIELAB, as these eyes see it."""
    share = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = eyes @ np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear.clip(0, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_the_six_hues_of_a_page_stay_apart_for_every_eye_and_the_page_has_one_typeface():
    """Light, dark and printed; of two that differ by 12 or less in CIELAB a reader asks which is which."""
    page = html_page("Title", "<p>Text.</p>")
    hues = re.findall(r"--(?:one|two|three|four|five|six): (#[0-9a-f]{6})", page)
    assert len(hues) == 18 and hues[12:] == hues[:6]  # paper is light, whatever the screen is
    for six in (hues[:6], hues[6:12]):
        for eyes in SEEN.values():
            seen = [in_lab(colour, eyes) for colour in six]
            assert min(np.linalg.norm(a - b) for k, a in enumerate(seen) for b in seen[:k]) > 12
    assert len(re.findall(r"font(?:-family)?:[^;]*sans-serif", page)) == 1 and " serif" not in page
