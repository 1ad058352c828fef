"""The scripts of the page alone, in a real browser: what they show of answers that are all different."""

from __future__ import annotations

import mimetypes
import re
from importlib.resources import files
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pytest
from browser_steps import until
from kept import keep
from running_lab import CHROMIUM

from kinelo.advice.audit.gaps import Band, bands_table
from kinelo.advice.charts import calibration_chart, loss_chart
from kinelo.lab.explore.controls import Controls
from kinelo.lab.rate.league import leaderboard
from kinelo.lab.units import Units
from kinelo.presentation import Table, words

if CHROMIUM is None:
    pytest.skip("browser tests were skipped: no Chromium is installed", allow_module_level=True)

pytestmark = pytest.mark.browser

STATIC = files("kinelo.lab") / "static"
PLOTLY = """window.Plotly = {
  react: (node, data, layout) => { node.data = data; node.layout = layout; },
  restyle: (node, change, traces) => {
    for (const [key, [value]] of Object.entries(change)) node.data[traces[0]][key] = value;
  },
};"""


def answer(route) -> None:
    path = urlsplit(route.request.url).path
    name = "index.html" if path == "/" else path.removeprefix("/static/")
    if name == "main.js" or not (STATIC / name).is_file():
        route.abort()
    else:
        kind = mimetypes.guess_type(name)[0]
        route.fulfill(body=(STATIC / name).read_bytes(), content_type=kind or "text/plain")


@pytest.fixture
def stage(window):
    """A tab in which the lab has files and no server; Plotly keeps what it is told to draw."""

    def start():
        one = window.new_page()
        one.route("**/*", answer)
        one.add_init_script(PLOTLY)
        return one

    return keep("stage", start)


@pytest.fixture
def page(stage):
    """The page without its own start, read anew: a test imports the script it is about."""
    complaints = []
    stage.on("pageerror", complain := lambda error: complaints.append(str(error)))
    stage.goto("http://lab.invalid/")
    stage.evaluate("document.querySelectorAll('main > section').forEach((part) => { part.hidden = false; })")
    yield stage
    stage.remove_listener("pageerror", complain)
    assert not complaints


def rows(page, selector: str) -> list[list[str]]:
    return [row.split("\t") for row in page.locator(f"{selector} tr").all_inner_texts()]


SIDES = [("Ash", 1622.4, 31.2, 40, 1), ("Bix", 1509.6, 44.8, 38, 2), ("Cay", 1391.1, 58.7, 35, None)]
BINS = pl.DataFrame(
    [
        ("home win", 0.42, 0.51, 0.33, 0.52, 60), ("draw", 0.24, 0.21, 0.15, 0.34, 70),
        ("away win", 0.33, 0.29, 0.2, 0.45, 50),
    ],
    ["outcome", "forecast", "frequency", "low", "high", "matches"], orient="row",
)  # fmt: skip


def board(sides, **more):
    """A leaderboard as the server describes it."""
    table = pl.DataFrame(sides, ["name", "rating", "uncertainty", "matches", "place"], orient="row")
    ranking = {"active_days": 730, "least_matches": 4, "caution": 2}
    return leaderboard(table.with_columns(**more), table.height + 5, ranking)


RATED = {
    "each_row": "matches",
    "sides": ["Home", "Away"],
    "summary": {
        "matches": 1234, "teams": 3, "words": ["matches", "sides"], "first": "2023-08-01", "last": "2024-05-20",
        "notes": [], "lineups": None,
    },
    "rejects": {"count": 0, "reasons": {}, "rows": []},
    "warnings": [],
    "chosen": None,
    "rater": "Glicko",
    "raters": {"glicko": "Glicko"},
    "groups": {},
    "leaderboard": board(SIDES, pool=pl.Series(["main", "main", "around Cay"])) | {"more": 7},
    "histories": [{"name": "Ash", "date": ["2024-01-01", "2024-02-01"], "rating": [1600, 1622], "uncertainty": [1, 2]}],
    "calibration": {"chart": calibration_chart(BINS).to_dict(), "words": "How good forecasts were."},
    "teams": ["Ash", "Bix", "Cay"],
    "favourites": ["Bix", "Cay"],
    "labels": {"Cay": "Cay (Wales)"},
    "fixtures": None,
    "conditions": {},
    "can_raise": False,
    "rules": {"win": 2, "draw": 1, "relegated": 4},
    "parameters": Table(
        [words("Parameter", "name"), words("Value", "value"), words("Meaning", "meaning")],
        [{"name": "Step", "value": "12.3 ± 1.7", "meaning": "how far"}],
    ).to_dict(),
    "luck": Table([words("Luck by", "by"), words("Level", "level")], [{"by": "format", "level": "cup"}]).to_dict(),
}  # fmt: skip
TAKE = """async (result) => {
  const { Rated } = await import("/static/rated.js");
  window.asked = [];
  const ask = async (path, { body } = {}) => {
    window.asked.push([path, body]);
    if (path === "league/predict") return { win: 0.56, draw: 0.27, loss: 0.17 };
    return path === "league/rank" ? result.leaderboard : new Promise(() => {});
  };
  new Rated(Object.assign(new EventTarget(), { ask })).take(result);
}"""


def test_a_rated_league_shows_the_numbers_it_is_given(page):
    page.evaluate(TAKE, RATED)
    shown = [[row[k].strip() for k in (0, 1, 2, 3, 5)] for row in rows(page, "#leaderboard") if len(row) > 1]
    assert shown[1:] == [
        ["1", "Ash", "1622", "± 31", "40"], ["2", "Bix", "1510", "± 45", "38"],
        ["–", "Cay (Wales)", "1391", "± 59", "35"],
    ]  # fmt: skip
    pools = page.locator("#leaderboard .pool").all_inner_texts()[:2]
    assert pools == ["The main pool", "A pool apart, around Cay: hardly a match ties it to the others"]
    assert "and 7 more" in page.inner_text("#leaderboard") and page.inner_text("#rank-words").startswith(
        "5 more are rated"
    )
    page.wait_for_selector("#what-answer .chances")
    assert [page.inner_text(f"#what-answer .{part}") for part in ("win", "draw", "loss")] == ["56 %", "27 %", "17 %"]
    assert page.inner_text("#what-answer .ends").split() == ["Bix", "wins", "draw", "Cay", "(Wales)", "wins"]
    assert (
        page.get_attribute("#what-answer .chances", "aria-label") == "Bix wins 56 %, draw 27 %, Cay (Wales) wins 17 %"
    )
    [asked] = [one for one in page.evaluate("window.asked") if one[0] == "league/predict"]
    assert asked == ["league/predict", {"home": "Bix", "away": "Cay", "neutral": False, "conditions": {}}]
    assert "1,234 matches used" in page.inner_text("#rated-summary")
    assert "rated by Glicko" in page.inner_text("#rated-summary")
    assert page.inner_text("#board-title") == "Leaderboard by Glicko"
    assert (
        page.evaluate("[...document.querySelector('#rated').children].map((one) => one.id).indexOf('rated-summary')")
        == 0
    )
    details = page.locator("#rated-details td").all_text_contents()
    assert details == ["Step", "12.3 ± 1.7", "how far", "format", "cup"]
    assert [page.input_value(f"#odds-{rule}") for rule in ("win", "draw", "relegated")] == ["2", "1", "4"]


def test_one_of_something_is_not_said_as_several(page):
    said = page.evaluate("""async () => {
      const { counted, noun } = await import("/static/words.js");
      const several = ["matches used", "contests", "sides", "rows"];
      return [1, 2, 0, 1200].map((n) => [
        ...several.map((words) => counted(n, words)), noun(n, "matches with both line-ups"),
      ]);
    }""")
    assert said == [
        ["1 match used", "1 contest", "1 side", "1 row", "match with both line-ups"],
        *([f"{n} {words}" for words in ("matches used", "contests", "sides", "rows")] + ["matches with both line-ups"]
          for n in ("2", "0", "1,200")),
    ]  # fmt: skip


def test_words_of_progress_stand_only_while_something_is_waited_for(page):
    said = page.evaluate("""async () => {
      const { Rate } = await import("/static/rate.js");
      let done;
      const ask = () => new Promise((resolve, reject) => { done = reject; });
      const connection = Object.assign(new EventTarget(), { ask });
      new Rate(connection, { limits: { upload_bytes: 1000 }, numbers: [] });
      const word = document.querySelector("#rate-status");
      const tell = () => {
        const event = new CustomEvent("progress", { detail: { subject: "rating", progress: "Compiling once" } });
        connection.dispatchEvent(event);
        return word.textContent;
      };
      const before = tell();
      document.querySelector("#sample").click();
      await new Promise((resolve) => setTimeout(resolve, 20));
      const during = tell();
      done(new Error("no sample"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [before, during, tell()];
    }""")
    assert said == ["", "Compiling once…", ""]


def test_calibration_shows_what_happened_over_what_was_said(page):
    page.evaluate(TAKE, RATED)
    _, *drawn = page.eval_on_selector("#calibration-chart", "node => node.data")
    bars, dots = drawn[::2], drawn[1::2]
    for bar, dot, (outcome, given, came, low, high, count) in zip(bars, dots, BINS.rows(), strict=True):
        assert dot["name"] == outcome and [*dot["x"], *dot["y"]] == pytest.approx([100 * given, 100 * came])
        assert [*bar["x"][:2], *bar["y"][:2]] == pytest.approx([100 * one for one in (given, given, low, high)])
        assert bar["y"][2] is None
        assert f"({count} matches)" in dot["text"][0]
    assert len({(one["marker"]["symbol"], one["marker"]["color"]) for one in dots}) == 3
    assert page.inner_text("#calibration-words") == "How good forecasts were."


def test_a_chess_club_has_white_and_black(page):
    page.evaluate(TAKE, RATED | {"sides": ["White", "Black"]})
    assert (page.inner_text("#what-first"), page.inner_text("#what-second")) == ("White", "Black")
    assert page.is_hidden("#what-neutral")


RACES = {
    **{key: RATED[key] for key in ("rejects", "warnings", "chosen", "rater", "raters", "parameters")},
    "each_row": "contests",
    "kinds": ["driver", "car"],
    "names": {"driver": ["Ann", "Bob"], "car": ["Red"]},
    "labels": {"driver: Ann": "Ann", "driver: Bob": "Bob", "car: Red": "Red"},
    "summary": {**RATED["summary"], "matches": 77, "teams": 2, "words": ["contests", "entrants"]},
    "histories": [],
    "calibration": None,
    "fields": [{"label": "Monza (the last)", "entrants": [[["Ann"], ["Red"], ["3"]], [["Bob"], ["Red"], ["5"]]],
                "conditions": {"track": "oval"}}],
    "levels": {"track": ["road", "oval"]},
    "numbers": ["ballast"],
}  # fmt: skip
BOARDS = {
    kind: board([(f"{kind}: {name}", 1600.0 - k, 30.0, 12, k + 1) for k, name in enumerate(RACES["names"][kind])])
    for kind in RACES["kinds"]
}


def test_contests_have_a_board_for_each_kind_and_a_field_to_forecast(page):
    page.evaluate(
        """async (result) => {
          const { Rated } = await import("/static/rated.js");
          window.asked = [];
          const row = (entrant, win) => ({ entrant, win, top_3: 1, expected_place: 2 - win, places: [win, 1 - win] });
          const ask = async (path, { body } = {}) => {
            if (path !== "league/field") throw new Error("An audit needs at least 40 contests and has 12.");
            window.asked.push([path, body]);
            return { rows: [row(1, 0.62), row(0, 0.38)], unknown: [] };
          };
          new Rated(Object.assign(new EventTarget(), { ask })).take(result);
        }""",
        {**RACES, "leaderboard": {**BOARDS["driver"], "boards": BOARDS}},
    )
    assert [row[1].strip() for row in rows(page, "#leaderboard")[1:3]] == ["Ann", "Bob"]
    page.select_option("#board-kind", "car")
    assert [row[1].strip() for row in rows(page, "#leaderboard")[1:2]] == ["Red"]
    assert page.inner_text("#rank-unit") == "contests" and "77 contests used" in page.inner_text("#rated-summary")
    assert all(page.is_hidden(f"#{part}") for part in ("odds", "compare", "what-if"))
    assert page.inner_text("#audit-verdict") == "An audit needs at least 40 contests and has 12."
    assert page.is_visible("#field")
    assert page.inner_text("#calibration-words").endswith("a file with dates and enough contests.")
    page.wait_for_selector("#field-table tbody tr")
    assert [[row[0], *row[2:5]] for row in rows(page, "#field-table")[1:]] == [
        ["Bob, Red", "62.0 %", "100 %", "1.4"], ["Ann, Red", "38.0 %", "100 %", "1.6"]
    ]  # fmt: skip
    first = {"entrants": RACES["fields"][0]["entrants"], "conditions": {"track": "oval"}}
    assert page.evaluate("window.asked") == [["league/field", first]]
    assert page.input_value("[aria-label='ballast of Bob, Red']") == "5"
    page.fill("[aria-label='ballast of Bob, Red']", "7")
    page.select_option("[data-level=track]", "road")
    until(page, "window.asked.length === 3")
    ann, bob = first["entrants"]
    again = {"entrants": [ann, [*bob[:2], ["7"]]], "conditions": {"track": "road"}}
    assert page.evaluate("window.asked.at(-1)[1]") == again
    page.click("[aria-label='Remove Bob, Red']")
    assert page.inner_text("#field-words").startswith("A field has two entrants or more")
    page.select_option("[data-kind=driver]", "Bob")
    page.click("#field-add button")
    assert page.evaluate("window.asked.length") == 4


def test_the_rules_of_a_ranking_are_sent_under_their_names(page):
    page.evaluate(TAKE, RATED)
    assert [page.input_value(f"#rank-{name}") for name in ("days", "least", "caution")] == ["730", "4", "2"]
    page.select_option("#rank-days", "365")
    page.select_option("#rank-caution", "0")
    sent = [body for path, body in page.evaluate("window.asked") if path == "league/rank"]
    # The answer is the ranking made up above: what the page shows is what was applied, not what was asked for.
    assert sent == [
        {"active_days": 365, "least_matches": 4, "caution": 2, "period": None},
        {"active_days": 730, "least_matches": 4, "caution": 0, "period": None},
    ]  # fmt: skip


def loss_over_k(outlook):
    """What the server sends of the curves over K."""
    curve = {"k": np.array([5.0, 20.0, 80.0]), "log_loss": np.array([0.504, 0.5, 0.52])}
    measured = SimpleNamespace(k=np.array([6.0, 24.0]), log_loss=np.array([0.601, 0.607]))
    found = SimpleNamespace(
        curve=SimpleNamespace(column=curve.__getitem__), measured=measured, k=32.0,
        advice=SimpleNamespace(k=12.3, low=8.1, high=19.4, agree=True, telling=True),
        outlook=SimpleNamespace(future=4.0, past=9.0, **outlook), opponents=SimpleNamespace(alike=False),
        inflation=None, periods=(SimpleNamespace(measured=20.0), SimpleNamespace(measured=8.0)),
    )  # fmt: skip
    return loss_chart(found).to_dict()


OUTLOOK = {"k": 12.3, "low": 6.2, "high": 25.1, "differs": False}
FOUND = {
    "verdict": "K = 32 is too large.", "k": 32,
    "findings": ["Juniors are rated too low. Move them up."], "rows": [["Lag", "eleven"]], "notes": ["A note."],
    "chart": loss_over_k(OUTLOOK), "best": ["Best K = 12.3", "(95 %: 8.1 to 19.4)."],
    "fifths": bands_table([
        Band(-110.2, 7, underrated=-21.4, error=7.6),
        Band(2.9, 8, underrated=3.3, error=5.5),
        Band(140.7, 9, underrated=34.2, error=8.8),
    ]).to_dict(),
}  # fmt: skip


AUDIT = """async (found) => {
  const { LeagueAudit } = await import("/static/audit.js");
  document.querySelector("#rated").hidden = false;
  await new LeagueAudit(Object.assign(new EventTarget(), { ask: async () => found })).begin();
}"""


def test_a_k_for_the_matches_to_come_stands_before_that_of_the_past(page):
    outlook = {"k": 5.4, "low": 4.1, "high": 7.7, "differs": True}
    page.evaluate(AUDIT, FOUND | {"chart": loss_over_k(outlook)})
    band, _, _, *lines = page.eval_on_selector("#audit-chart", "node => node.data")
    assert sorted(set(band["x"])) == [4.1, 7.7]
    assert [(one["name"], one["x"][0]) for one in lines] == [
        ("best from today on: 5.4", 5.4), ("in use: 32", 32), ("wanted by the past: 12.3", 12.3)
    ]  # fmt: skip


def test_an_audit_of_contests_speaks_of_contests_and_has_no_fifths(page):
    rows = [["Which K", "by theory 61"], ["Luck by track", "oval 1.20"]]
    page.evaluate(
        AUDIT.replace(".begin()", '.take({ each_row: "contests", raters: { rank: "RankElo" } })'),
        FOUND | {"fifths": None, "rows": rows},
    )
    page.wait_for_selector("#audit-found:not([hidden])")
    assert "orders over K: the line is theory, the dots are the later half of the contests" in page.inner_text(
        "#audit-caption"
    )
    assert page.locator("#audit-rows :is(h3, dt, dd)").all_text_contents() == [text for row in rows for text in row]
    assert page.is_hidden("#audit-fifths")
    alone = {**FOUND["chart"], "traces": [one for one in FOUND["chart"]["traces"] if one["name"] != "theory"]}
    page.evaluate(AUDIT, FOUND | {"chart": alone})
    assert page.inner_text("#audit-caption").startswith("Log-loss of forecasts over K: the dots are")


def test_an_audit_shows_the_numbers_it_is_given(page):
    page.evaluate(AUDIT, FOUND)
    assert page.inner_text("#audit-verdict") == FOUND["verdict"]
    assert page.inner_text("#audit-gain") == "Best K = 12.3 (95 %: 8.1 to 19.4)."
    assert page.locator("#audit-rows :is(h3, dt, dd)").all_text_contents() == ["Lag", "eleven"]
    assert page.locator("#audit-findings li").all_text_contents() == FOUND["findings"]
    assert [[cell.strip() for cell in row] for row in rows(page, "#audit-bands")] == [
        ["Fifth", "Above the start", "Is rated"], ["1 (weakest)", "-110", "21 ± 8 too high"],
        ["2", "+3", "3 ± 6 too low"], ["3 (best)", "+141", "34 ± 9 too low"],
    ]  # fmt: skip
    band, theory, backtest, best, used = page.eval_on_selector("#audit-chart", "node => node.data")
    assert sorted(set(band["x"])) == [8.1, 19.4]
    # Both stand above their own least: of theory's curve differences are to be trusted, the level less so.
    assert (theory["name"], theory["x"], theory["y"]) == ("theory", [5, 20, 80], pytest.approx([0.004, 0.0, 0.02]))
    assert (backtest["name"], backtest["x"], backtest["y"]) == (
        "backtest, later half",
        [6, 24],
        pytest.approx([0.0, 0.006]),
    )
    assert [(one["name"], one["x"][0]) for one in (best, used)] == [("best: 12.3", 12.3), ("in use: 32", 32)]


CHARTS = """async () => {
  const { Axes, CurvesChart, DensityChart, LeagueChart } = await import("/static/league_charts.js");
  const node = () => document.createElement("div");
  const axes = new Axes();
  const started = { theta: [4, 7, 10], density_theta: [4, 10], density_rating: [3, 6, 9], moving: false };
  const rest = new ArrayBuffer(64);
  new Uint8Array(rest, 12, 6).set([10, 20, 30, 40, 50, 60]);
  const charts = [new LeagueChart(node(), axes), new DensityChart(node(), axes), new CurvesChart(node(), axes)];
  for (const chart of charts) chart.begin(started);
  charts[0].theory = { theta: [4, 10], rating: [5, 9], deviation: [0.25, 0.5] };
  const dots = { strength: started.theta, rating: [5, 7.5, 9] };
  const frame = { rest, density: true, shades: 12, dots, beside: null, time: 3,
    energy: 16, distance: 25, kinetic_energy: 36, kinetic_distance: 49 };
  for (const chart of charts) { chart.frame(frame); chart.redraw(); }
  const plain = ({ name, x, y }) => ({ name, x: [...x], y: [...y] });
  return { league: charts[0].node.data.map(plain), density: [...charts[1].node.data[0].z.map((row) => [...row])],
    heights: [...charts[1].node.data[0].y], curves: charts[2].node.data.map(plain) };
}"""


def test_charts_of_a_league_stand_upright_and_under_their_names(page):
    drawn = page.evaluate(CHARTS)
    low, high, _, theory, teams, *_ = drawn["league"]
    assert low["y"] == [4.5, 8.0] and high["y"] == [5.5, 10.0]  # two standard deviations
    assert theory["y"] == [5, 9] and teams["y"] == [5, 7.5, 9] and teams["x"] == [4, 7, 10]
    assert drawn["heights"] == [3, 6, 9] and drawn["density"] == [[10, 20], [30, 40], [50, 60]]
    assert {one["name"]: one["y"] for one in drawn["curves"]} == {
        "to true strength": [4], "to the prediction": [5], "to true strength, vanishing steps": [6],
        "to its own limit, vanishing steps": [7],
    }  # fmt: skip


POINTS = """async (ties) => {
  const { eloPoints, shown } = await import("/static/sliders.js");
  const written = (unit, value) => shown({ unit, step: 0.01 }, value, { units: "elo", nu: 0.4, ties });
  return [eloPoints({ nu: 0.4, ties }), written("step", 0.3), written("points", 1.2)];
}"""


def test_points_of_the_page_are_those_of_the_library(page):
    for ties in (0.0, 0.25, 0.5):
        factor, step, points = page.evaluate(POINTS, ties)
        units = Units("elo", Controls(nu=0.4, ties=ties).elo_points)
        assert factor == pytest.approx(units.factor, rel=1e-12)
        assert (step, points) == (units.step(0.3), f"{units.points(1.2)} Elo points")


@pytest.mark.parametrize("name", sorted(path.name for path in STATIC.iterdir() if path.name.endswith(".js")))
def test_every_script_can_be_read(stage, name):
    """A slip in one module would leave the whole page without scripts; those that begin by themselves are only read."""
    source = (STATIC / name).read_text(encoding="utf-8")
    plain = re.sub(r"^export ", "", re.sub(r"^import .*\n", "", source, flags=re.MULTILINE), flags=re.MULTILINE)
    read = "(text) => new (Object.getPrototypeOf(async () => {}).constructor)(text).toString()"
    assert plain in stage.evaluate(read, plain)
