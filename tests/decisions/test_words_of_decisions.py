"""What tests, eliminations and matches to come say in words, tables and notebooks: their numbers, computed apart."""

import math
import re

import numpy as np
import pytest
from scipy.stats import norm

import kinelo as kn


def logistic(points):
    return 1 / (1 + 10 ** (-points / 400))


@pytest.mark.parametrize("pairs", [False, True])
def test_a_test_under_way_says_how_long_it_may_last(pairs):
    counts = [31, 40, 34] if not pairs else [3, 21, 40, 27, 5]
    test = kn.sequential_test(5, 25, alpha=0.04, beta=0.1, pairs=pairs).update_counts(counts)
    first, second, last = test.lines()
    noun = "pairs of games" if pairs else "games"
    assert first == f"{sum(counts)} {noun}: {', '.join(map(str, counts))} (the worst outcome first)."
    refused, accepted = math.log(0.1 / 0.96), math.log(0.9 / 0.04)
    assert second == f"Log-ratio {test.llr:+.2f}; refused at {refused:.2f}, accepted at {accepted:+.2f}."
    x = np.arange(len(counts)) / (len(counts) - 1)
    mean = np.average(x, weights=counts)
    variance = np.average((x - mean) ** 2, weights=counts)
    fixed = (norm.isf(0.04) + norm.isf(0.1)) ** 2 * variance / (logistic(25) - logistic(5)) ** 2
    said = re.fullmatch(
        rf"Go on\. Some ([\d,]+) more {noun} are expected; a test of fixed length would take ([\d,]+)\.", last
    )
    assert said is not None, last
    assert float(said[2].replace(",", "")) == pytest.approx(fixed, abs=0.51)
    assert 0 < float(said[1].replace(",", "")) < 2 * fixed
    assert repr(test) == (
        f"SequentialTest: go on after {sum(counts)} {noun}, log-ratio {test.llr:+.2f} between "
        f"{refused:.2f} and {accepted:+.2f}"
    )
    page = test._repr_html_()
    assert "go on" in page and all(line in page for line in (first, last))


def test_a_test_of_nothing_says_no_length():
    assert kn.sequential_test(0, 10).lines()[-1] == "Go on."
    assert math.isnan(kn.sequential_test(0, 10).fixed_length)


def test_an_elimination_under_way_says_who_is_left_and_what_is_believed():
    stop = kn.Elimination(["Ann", "Bob", "Cid"], alpha=0.1)
    for _ in range(14):
        stop = stop.update("Ann", "Cid", "win").update("Cid", "Bob", "loss")
    for _ in range(3):
        stop = stop.update("Ann", "Bob", "win").update("Bob", "Ann", "win")
    stop = stop.update("Bob", "Ann", "win")
    assert stop.leader is None and set(stop.left) == {"Ann", "Bob"}
    difference = stop.ratings[1] - stop.ratings[0]
    doubt = math.sqrt(stop.covariance[0, 0] + stop.covariance[1, 1] - 2 * stop.covariance[0, 1])
    chance = norm.cdf(abs(difference) / doubt)
    first, apart, believed = stop.lines()
    assert first == "Nobody is surely first at a level of 0.1 after 35 matches; 2 are left."
    assert apart == "Told apart at a level of 0.1: " + "; ".join(", ".join(group) for group in stop.tiers) + "."
    said = re.fullmatch(r"Believed, which is no level: (\w+) is first with (\d+) %\.", believed)
    assert said is not None and said[1] == ("Bob" if difference > 0 else "Ann")
    # 4,000 draws: a standard error of .8 %; and Cid, who is hardly ever first.
    assert float(said[2]) == pytest.approx(100 * chance, abs=4)
    assert repr(stop) == "Elimination: 2 of 3 may be first after 35 matches"
    table = stop.table()
    assert [row["name"] for row in table.rows] == [name for group in stop.tiers for name in group]
    assert [row["tier"] for row in table.rows] == [k for k, group in enumerate(stop.tiers, 1) for _ in group]
    assert {row["name"]: row["first"] for row in table.rows} == {"Ann": "may be", "Bob": "may be", "Cid": "no"}
    ratings = dict(zip(stop.names, stop.ratings))
    assert {row["name"]: row["rating"] for row in table.rows} == ratings and len(set(ratings.values())) == 3
    assert "Nobody is surely first" in stop._repr_html_() and stop.to_dict()["alpha"] == 0.1


@pytest.mark.parametrize("epsilon", [0.0, 30.0])
def test_an_elimination_that_is_done_names_the_first(epsilon):
    stop = kn.Elimination(["Ann", "Bob"], alpha=0.1, epsilon=epsilon)
    assert stop.lines()[:2] == [
        "Nobody is surely first at a level of 0.1 after 0 matches; 2 are left.",
        "No groups are told apart at a level of 0.1.",
    ]
    while stop.leader is None:
        stop = stop.update("Bob", "Ann", "win")
    near = "within 30 points of the first" if epsilon else "first"
    assert stop.lines()[0] == f"Bob is {near}, at a level of 0.1, after {stop.played} matches."
    assert repr(stop) == f"Elimination: Bob is first after {stop.played} matches"


@pytest.mark.parametrize("size", [2, 3])
def test_what_to_play_next_is_said_with_what_it_tells(size):
    rater = kn.RankElo() if size == 3 else kn.BradleyTerry(ridge=1.0)
    for order in (["Ann", "Bob", "Cid", "Dee"], ["Bob", "Ann", "Dee", "Cid"], ["Ann", "Cid", "Bob", "Dee"]):
        rater = rater.update_one(order)
    found = kn.next_matches(rater, count=4, target="order", size=size)
    names = [" – ".join([one.home, one.away] if size == 2 else one.entrants) for one in found.matches]
    first, together = found.matches[0].tells, sum(one.tells for one in found.matches)
    assert len(names) == 4 and first < together < 1
    (line,) = found.lines()
    said = re.fullmatch(
        rf"These {'matches' if size == 2 else 'contests'} are to tell {found.question}: (.+) first, which takes "
        r"([\d.]+) % off what is open; all 4 are expected to take (\d+) %\.",
        line,
    )
    assert said is not None, line
    assert float(said[2]) == pytest.approx(100 * first, abs=0.051)
    assert float(said[3]) == pytest.approx(100 * together, abs=0.51)
    assert said[1] == names[0]
    assert repr(found) == f"NextMatches: {', '.join(names[:3])}, … (4, for order)"
    table = found.table()
    assert [row["number"] for row in table.rows] == [1, 2, 3, 4]
    heads = [column.label for column in table.columns]
    assert heads == (
        ["", "First", "Second", "Points expected", "Tells", "Cost"] if size == 2 else ["", "Contest", "Tells"]
    )
    assert names[0].split(" – ")[0] in found._repr_html_()
