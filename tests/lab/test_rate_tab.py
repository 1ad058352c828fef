"""The Rate tab in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browser_steps import BROKEN, GOOD, address, skip_without_browser, until, upload

import kinelo as kn
from kinelo.lab.rate.tables import sample_tables
from kinelo.raters.upset_table import upsets
from kinelo.raters.what_if import with_points

skip_without_browser()
pytestmark = pytest.mark.browser


def test_files_are_answered_with_a_sentence_or_rated_and_downloaded(visit):
    """One visitor tries a picture, a table of something else, a league with bad rows, and a good one."""
    page = visit("#rate", unasked=["audit"])
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    upload(page, "\x00\x01\x02 nothing at all", name="<b>picture.csv")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.inner_text("#rate-error").startswith("<b>picture.csv ")
    assert page.is_hidden("#mapping")
    upload(page, "a,b\n1,2\n")
    page.click("#rate-go")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert "choose the columns “Score of the first side”" in page.inner_text("#rate-error")

    upload(page, BROKEN)
    until(page, "document.querySelector('#field-home')?.value === 'home'")
    page.click("#rate-go")
    page.wait_for_selector("#rejects")
    rows = [row.inner_text().split("\t") for row in page.locator("#rejects tbody tr").all()]
    listed = {(int(row[1]), row[2]) for row in rows}
    first_bad = len(GOOD.splitlines()) + 1
    assert listed == {
        (first_bad, "unreadable date"),
        (first_bad + 1, "a side against itself"),
        (first_bad + 2, "missing score"),
        (first_bad + 3, "impossible score"),
    }
    assert page.locator("#leaderboard tbody tr").count() == 4

    upload(page, GOOD, name="good.csv")
    until(page, "document.querySelector('#drop-results').textContent.includes('good.csv')")
    assert page.input_value("#field-home") == "home" and page.input_value("#field-away_score") == "away_score"
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    until(page, "!document.querySelector('#rejects')")
    assert page.locator("#leaderboard tbody tr").count() == 4
    shown = {
        row.split("\t")[1].strip(): row.split("\t")[2:4]
        for row in page.locator("#leaderboard tbody tr").all_inner_texts()
    }
    matches = kn.read_matches(pl.read_csv(GOOD.encode()))
    rater = kn.raters.choose_rater(matches).rater
    ratings = kn.leaderboard(rater).select("name", "rating", "uncertainty")
    assert {name: [float(rating), float(spread.removeprefix("± "))] for name, (rating, spread) in shown.items()} == {
        name: [round(rating), round(spread)] for name, rating, spread in ratings.iter_rows()
    }
    assert page.is_hidden("#rate-error")
    page.wait_for_selector("#what-answer .chances")
    said = page.get_attribute("#what-answer .chances", "aria-label")
    assert 98 <= sum(map(int, re.findall(r"(\d+) %", said))) <= 102
    with page.expect_download() as waiting:
        page.click("#download-ratings")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert waiting.value.suggested_filename == "kinelo-ratings.csv"
    assert lines[0].startswith("name,rating,uncertainty") and len(lines) == 5
    page.goto(address(page).split("#")[0])  # what is rated would be lost
    assert asked == ["beforeunload"]


PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")


def test_a_league_can_be_read_side_by_side_and_played_on(visit):
    """One visit to the sample league: every number shown is the library's, at three widths, dark and light."""
    tables = {kind: table.frame for kind, table in sample_tables("football").items()}
    matches = kn.read_matches(tables["results"], tables["lineups"])
    rater = kn.raters.choose_rater(matches).rater
    page = visit("#rate", unasked=["audit"])
    page.click("#sample")
    page.wait_for_selector("#rated:not([hidden])")
    board = kn.leaderboard(rater)
    assert page.inner_text("#board-title") == f"Leaderboard by {type(rater).__name__}"
    rows = [row.split("\t") for row in page.locator("#leaderboard tbody tr").all_inner_texts()]
    assert [row[1].split("\n")[0].strip() for row in rows] == board["name"].to_list()
    page.fill("#rank-least", "5000")
    page.dispatch_event("#rank-least", "change")
    until(page, "document.querySelector('#rank-words').textContent.includes('so everyone is shown')")
    page.fill("#rank-least", "0")
    page.dispatch_event("#rank-least", "change")
    page.select_option("#rank-period", "365")
    until(page, "document.querySelectorAll('#leaderboard .moved').length > 20")
    assert {"▲", "▼", "new"} <= {word for text in page.locator(".moved").all_inner_texts() for word in text.split()}

    fixtures = kn.read_matches(tables["fixtures"], played=False)
    rules = kn.forecasts.Rules(places={"title": (1, 1), "relegation": (-3, -1)})
    page.wait_for_selector("#odds-table tbody tr")

    def odds() -> dict[str, list[float]]:
        head, *lines = [row.split("\t") for row in page.locator("#odds-table tr").all_inner_texts()]
        at = [head.index(label) for label in ("Points", "Title", "Relegation")]
        return {row[0]: [float(row[k].strip("<>% ")) for k in at] for row in lines}

    def said(found) -> dict[str, list[float]]:
        table = found.to_polars().select("name", "points", pl.col("title", "relegation") * 100)
        return {name: values for name, *values in table.iter_rows()}

    shown, expected = odds(), said(kn.season(rater, fixtures, rules=rules, realisations=4000, seed=1))
    assert shown.keys() == expected.keys()
    for name, values in expected.items():
        assert shown[name] == pytest.approx(values, abs=0.11), name
    assert sum(title for _, title, _ in shown.values()) == pytest.approx(100, abs=1)
    assert sum(down for _, _, down in shown.values()) == pytest.approx(300, abs=1)
    last = board["name"][3]
    page.select_option("#odds-team", last)
    page.focus("#odds-points")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    until(page, f"document.querySelector('#odds-raised').textContent === 'What if: {last} +120.'")
    raised = said(kn.season(with_points(rater, {last: 120}), fixtures, rules=rules, realisations=4000, seed=1))
    until(page, f"document.querySelector('#odds-table').textContent.includes('{last}{raised[last][0]:.1f}')")
    assert odds()[last] == pytest.approx(raised[last], abs=0.11) and raised[last][1] > expected[last][1] + 5
    page.select_option("#odds-kind", "knockout")
    until(page, "document.querySelector('#odds-words').textContent.includes('every side once')")
    page.select_option("#odds-source", "best")
    until(page, "document.querySelectorAll('#odds-table tbody tr').length === 8")

    for scheme in ("light", "dark"):
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        for width in (390, 800, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            until(page, "document.documentElement.scrollWidth <= innerWidth")  # charts follow the window
            assert page.evaluate(PROBLEMS) == [], (scheme, width)
        page.click("#theme")
    bars = page.eval_on_selector_all("#leaderboard .range span", "all => all.map((one) => one.offsetWidth)")
    assert len(bars) > 20 and min(bars) >= 3

    second = board["name"][1]
    page.focus(f"#leaderboard a >> text={second}")
    page.keyboard.press("Enter")
    page.wait_for_selector("#team-found:not([hidden])")
    assert address(page).endswith(f"#rate/{second}") and page.is_hidden("#rated")
    own = kn.rating_history(rater, matches, 300, side=second)
    line = page.eval_on_selector("#team-chart", "node => { const one = node.data.at(-1); return [one.x, one.y]; }")
    assert line[0] == own["date"].cast(pl.String).to_list()
    assert line[1] == pytest.approx(own["rating"].to_list(), abs=0.01)
    band = page.eval_on_selector("#team-chart", "node => node.data[0].y")
    assert band[: own.height] == pytest.approx((own["rating"] - own["uncertainty"]).to_list(), abs=0.02)
    assert band[own.height :][::-1] == pytest.approx((own["rating"] + own["uncertainty"]).to_list(), abs=0.02)
    now = rater.ratings_on().filter(name=second).row(0, named=True)
    assert f"Rated {now['rating']:.0f} ± {now['uncertainty']:.0f} after {now['matches']} matches" in page.inner_text(
        "#team-words"
    )
    surprise = upsets(rater, matches).filter((pl.col("home") == second) | (pl.col("away") == second))
    told = [float(row.split("%")[0]) for row in page.locator("#team-upsets tbody tr").all_inner_texts()]
    assert told == pytest.approx((100 * surprise["chance"]).head(6).to_list(), abs=0.06)
    coming = fixtures[np.isnan(fixtures.result)]
    plays = [n for n in range(len(coming)) if second in (coming.teams[coming.home[n]], coming.teams[coming.away[n]])]
    first = coming[np.array(plays[:1])]
    p = rater.predict(first).probabilities[0]
    sides = first.teams[first.home[0]], first.teams[first.away[0]]
    assert page.get_attribute("#team-fixtures .chances >> nth=0", "aria-label") == (
        f"{sides[0]} wins {100 * p[0]:.0f} %, draw {100 * p[1]:.0f} %, {sides[1]} wins {100 * p[2]:.0f} %"
    )
    assert page.evaluate("document.activeElement.id") == "team-name"
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        until(page, "document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(PROBLEMS) == []
    page.go_back()
    page.wait_for_selector("#rated")
    page.go_forward()
    page.wait_for_selector("#team-found:not([hidden])")
    page.click("#team-back")
    page.wait_for_selector("#rated")
    with page.expect_download() as waiting:
        page.click("#share-ratings")
    shared = Path(waiting.value.path()).read_text(encoding="utf-8")
    # A note speaks of columns in the words of the door it came through.
    ranking = {"active_days": 365, "least_matches": 0, "caution": 2.0}  # as it was chosen above
    pages = (shared, kn.pages.share_page(rater, matches=matches, title="A made-up league", ranking=ranking))
    mine, theirs = (re.sub(r"<li>[^<]*pitch[^<]*</li>", "<li></li>", page) for page in pages)
    assert mine == theirs


def test_long_odd_and_many_names_are_shown_and_outliers_hide_nobody(visit):
    odd = ["$lot & $ons", "Ann 😀", "<b>bold</b>", "L" * 150]
    names = odd + [f"Side {k:03d}" for k in range(240)]
    rng = np.random.default_rng(2)
    lines = [
        f'2024-{1 + k // 300:02d}-{1 + k % 28:02d},"{a}","{b}",{int(rng.random() < 0.5)},{"clay" if k % 3 else "grass"}'
        for k in range(2400)
        for a, b in [rng.choice(names, 2, replace=False)]
    ]
    page = visit("#rate", unasked=["audit"])
    upload(page, "date,home,away,result,surface\n" + "\n".join([*lines, "some day,A,B,1,clay"]))
    told = "2,400 matches of 244 sides; 1 row set aside"
    until(page, f"document.querySelector('#reading-words')?.textContent.includes('{told}')")
    assert "unreadable date: 1" in page.inner_text("#reading-rejects summary")
    page.check("[data-column=surface]")
    until(page, "document.querySelector('#reading .preview')?.textContent.includes('surface')")
    page.uncheck("[data-column=surface]")
    page.select_option("#luck-by", "surface")
    page.select_option("#rater", "glicko")

    def with_outlier(route) -> None:
        content = route.fetch().json()
        content["leaderboard"]["rows"][0]["rating"] = 1e6
        route.fulfill(json=content)

    page.route("**/league/rate", with_outlier)
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    assert {"clay", "grass"} <= set(page.locator("#luck td").all_text_contents())
    count = page.locator("#leaderboard tbody tr").count()
    assert count == 100 and "1 to 100 of" in page.inner_text("#board-place")
    boxes = page.eval_on_selector_all(
        "#leaderboard .range span", "all => all.map((one) => [parseFloat(one.style.left), one.offsetWidth])"
    )
    assert all(width >= 3 for _, width in boxes) and len({round(left) for left, _ in boxes[1:]}) > 5
    page.click("#board-next")
    assert page.inner_text("#board-place").startswith("101 to 200 of")
    page.fill("#filter", odd[2])
    assert page.locator("#leaderboard tbody a").all_inner_texts() == [odd[2]]
    page.fill("#filter", "LLLL")
    page.click("#leaderboard tbody a")
    page.wait_for_selector("#team-found:not([hidden])")
    assert page.inner_text("#team-name") == odd[3] and page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.click("#team-back")
    upload(page, "id,name\n" + f'"{odd[1]}",Ann Lee\n', kind="names", name="names.csv")
    until(page, "document.querySelector('#drop-names').textContent.includes('names.csv: 1 row.')")
    page.wait_for_selector("#rate-go:enabled")
    page.fill("#filter", "ann lee")
    assert page.locator("#leaderboard tbody a").all_inner_texts() == ["Ann Lee"]
    upload(page, "\x00 broken", kind="fixtures", name="broken.csv")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_visible("#leaderboard")  # a bad file costs nothing
    page.click("#compare-go")
    until(page, "document.querySelector('#compare-words').textContent.startsWith('Trying TeamElo, 1 of')")
    page.click("#compare-stop")
    assert page.inner_text("#compare-words") == "The comparison was stopped." and page.is_hidden("#compare-working")


def test_the_first_answer_is_whether_the_rating_system_is_any_good(visit):
    """The door “Which K?” of the guide opens on a sample league, rated and audited."""
    page = visit("#guide/8")
    page.wait_for_selector("#guide-doors:not([hidden])")
    page.click("[data-door=rate]")
    page.wait_for_selector("#rated:not([hidden])")
    # The compiled loops may have to be made first.
    page.wait_for_selector("#audit-found:not([hidden])")
    assert "K = 32 " in page.inner_text("#audit-verdict")
    order = page.evaluate("[...document.querySelector('#rated').children].map((one) => one.id)")
    assert order[:2] == ["rated-summary", "audit"], "first what was read and lost, then the answer"
    theory, dots = (page.eval_on_selector("#audit-chart", f"node => node.data[{n}].y.length") for n in (1, 2))
    assert theory == dots > 20
    best = re.search(r"Best K(?: from today on)? = ([\d.]+)", page.inner_text("#audit-gain")).group(1)
    assert page.eval_on_selector("#audit-chart", "node => node.data[3].x[0]") == pytest.approx(float(best), rel=0.01)
    assert page.locator("#audit-bands tbody tr").count() == 5
    page.select_option("#audit-rater", "glicko")
    assert page.is_hidden("#audit-k") and page.is_hidden("#audit-reference")
    page.select_option("#audit-rater", "")
    page.select_option("#audit-by", "pitch")
    assert page.locator("#audit-reference option").all_inner_texts() == ["all sides", "grass", "turf"]
    page.fill("#audit-k", "400")
    page.click("#audit-form button")
    assert page.is_visible("#audit-cancel") and page.is_hidden("#audit-found")
    page.click("#audit-cancel")
    until(page, "document.querySelector('#audit-verdict').textContent === 'The audit was cancelled.'")
    page.fill("#audit-k", "0")
    page.eval_on_selector("#audit-form", "form => { form.noValidate = true; form.requestSubmit(); }")
    until(page, "document.querySelector('#audit-verdict').textContent.startsWith('K must lie between 0.1 and 9999')")
    assert page.is_visible("#leaderboard")


def test_a_session_is_saved_to_one_file_and_opened_again(visit, tmp_path):
    page = visit("#rate", unasked=["audit"])
    upload(page, GOOD, name="$ league 😀.csv")
    page.wait_for_selector("#rate-go")
    page.select_option("#rater", "glicko")
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    board = page.inner_text("#leaderboard")
    with page.expect_download() as waiting:
        page.click("#download-session")
    waiting.value.save_as(tmp_path / "mine.json")
    other = visit("#rate", unasked=["audit"])
    other.set_input_files("#file-session", tmp_path / "mine.json")
    other.wait_for_selector("#rated:not([hidden])")
    assert other.inner_text("#leaderboard") == board and other.input_value("#rater") == "glicko"
    assert "$ league 😀.csv: 160 rows" in other.inner_text("#drop-results")


def test_likely_names_are_joined_by_a_button(visit):
    sides = ["Leeds", "York", "Hull", "Man United", "Manchester United"]
    pairs = [(a, b) for a in sides for b in sides if a != b and not (a.startswith("Man") and b.startswith("Man"))]
    lines = [f"2024-{1 + k // 28:02d}-{1 + k % 28:02d},{a},{b},{k % 2}" for k, (a, b) in enumerate(pairs * 3)]
    page = visit("#rate")
    upload(page, "date,home,away,result\n" + "\n".join(lines))
    page.wait_for_selector("#likely")
    assert "Man United is Manchester United" in page.inner_text("#likely")
    page.click("#likely button")
    until(page, "document.querySelector('#reading-words')?.textContent.includes('of 4 sides')")
    assert "names joined here.csv: 1 row." in page.inner_text("#drop-aliases")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto(address(page).split("#")[0])  # nothing is rated yet: nothing to lose
    assert asked == []


LINEUPS = "match_id,side,player\n" + "\n".join(f"{k},{side},P{k % 9}" for k in range(160) for side in ("home", "away"))


def drop(page, selector: str, *names: str, text: str = GOOD) -> None:
    """Drop files on an element, as a hand would; what the page does not stop would replace it."""
    stopped = page.evaluate(
        """([selector, names, text]) => {
          const transfer = new DataTransfer();
          for (const name of names) transfer.items.add(new File([text], name, { type: "text/csv" }));
          const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
          const node = document.querySelector(selector);
          return ["dragover", "drop"].every((kind) => !node.dispatchEvent(new DragEvent(kind, options)));
        }""",
        [selector, names, text],
    )
    assert stopped


@pytest.mark.long
def test_a_file_that_misses_its_zone_does_not_replace_the_page(visit):
    page = visit("?teams=20")
    drop(page, "h1", "league.csv")
    assert "on the Rate tab" in page.inner_text("#toast")
    page.click("#tab-rate")
    drop(page, "#drop-results", "a.csv", "b.csv")
    assert "One file at a time" in page.inner_text("#toast")
    drop(page, "#drop-results", "league.csv")
    page.wait_for_selector("#rate-go:enabled")
    assert "league.csv: 160 rows" in page.inner_text("#drop-results")


@pytest.mark.long
def test_files_dropped_while_the_lab_is_busy_wait_their_turn_and_can_be_taken_back(visit):
    page = visit("#rate")
    words = page.inner_text("#drop-lineups span")
    drop(page, "#drop-results", "league.csv")
    drop(page, "#drop-lineups", "teams.csv", text=LINEUPS)
    until(page, "document.querySelector('#drop-lineups').textContent.includes('teams.csv: 320 rows')")
    page.wait_for_selector("#rate-go:enabled")
    assert "league.csv" in page.inner_text("#drop-results") and page.input_value("#rater") == "auto"
    page.click("#remove-lineups")
    page.wait_for_selector("#remove-lineups", state="hidden")
    assert page.inner_text("#drop-lineups span") == words and page.input_value("#rater") == "auto"
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    page.click("#remove-results")
    page.wait_for_selector("#mapping", state="hidden")
    assert page.is_hidden("#rated")


@pytest.mark.long
def test_no_old_leaderboard_stands_under_new_file_names(visit):
    page = visit("#rate")
    upload(page, GOOD)
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    upload(page, "\x00 broken", name="broken.csv")  # not read: the old file and its ratings stay
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_visible("#rated") and "league.csv" in page.inner_text("#drop-results")
    upload(page, "home,away\nA,B\n", name="other.csv")
    until(page, "document.querySelector('#drop-results').textContent.includes('other.csv')")
    assert page.is_hidden("#rated")
    page.click("#rate-go")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_hidden("#rated")
