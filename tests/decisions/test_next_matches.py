"""The next matches: against matrices multiplied anew, limits, raters, sentences, doors."""

import itertools
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.decisions.choosing import (
    GRID,
    Beliefs,
    NextMatch,
    NextMatches,
    Pairs,
    all_pairs,
    beliefs_of,
    choose,
    contrasts,
    first_look,
    information_of_fields,
)

Q = math.log(10) / 400


def glicko(seed=0, size=8, spread=120.0):
    rng = np.random.default_rng(seed)
    table = {
        "name": [f"P{k}" for k in range(size)], "rating": rng.normal(1500, spread, size).tolist(),
        "deviation": rng.uniform(30, 120, size).tolist(),
    }  # fmt: skip
    return kn.Glicko(start=table, ties=0.0, home_advantage=0.0), table


def votes(seed=1, size=7, count=300):
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, size)
    home = rng.integers(0, size, count)
    away = (home + 1 + rng.integers(0, size - 1, count)) % size
    won = rng.random(count) < 1 / (1 + np.exp(strength[away] - strength[home]))
    return kn.read_matches({
        "home": [f"P{k}" for k in home], "away": [f"P{k}" for k in away], "result": won.astype(float).tolist(),
        "neutral": [True] * count,
    })  # fmt: skip


def plainly(beliefs, target, count, cost=lambda i, j: 1.0, most=99):
    """Greedy choice with every matrix multiplied anew."""
    m, P = beliefs.mean, beliefs.covariance.copy()
    a, b, weight, _ = contrasts(target, beliefs)
    size, L = m.size, np.zeros((m.size, m.size))
    for x, y, w in zip(a, b, weight):
        e = np.eye(size)[x] - np.eye(size)[y]
        L += w * np.outer(e, e)
    total, taken, shares = np.trace(L @ P), {}, []
    for _ in range(count):
        best = (0.0, None)
        for i in range(size):
            for j in range(i + 1, size):
                if taken.get((i, j), 0) >= most:
                    continue
                e = np.eye(size)[i] - np.eye(size)[j]
                info = np.interp(abs(m[i] - m[j]), GRID * np.arange(beliefs.law.size), beliefs.law)
                after = P - np.outer(P @ e, P @ e) / (1 / info + e @ P @ e)
                value = np.trace(L @ P) - np.trace(L @ after)
                if value / cost(i, j) > best[0] * (1 + 1e-9):
                    best = (value / cost(i, j), (i, j, after, value))
        i, j, P, value = best[1]
        taken[i, j] = taken.get((i, j), 0) + 1
        shares.append(((i, j), value / total))
    return shares


@pytest.mark.parametrize("target", ["leader", "order", "tiers", "P3"])
@pytest.mark.parametrize("kind", ["glicko", "wide", "votes"])
def test_choices_are_those_of_whole_matrices(kind, target):
    """Also where beliefs are so wide that every weight of a question, in squares of points, is next to nothing."""
    wide = {"name": [f"P{k}" for k in range(5)], "rating": [1500.0, 1900.0, 1400.0, 1000.0, 1750.0],
            "deviation": [900.0, 1500.0, 1100.0, 700.0, 1300.0]}  # fmt: skip
    rater = {
        "glicko": lambda: glicko()[0],
        "wide": lambda: kn.Glicko(deviation=2000.0, start=wide, ties=0.7),
        "votes": lambda: kn.BradleyTerry(ridge=0.1).fit(votes()),
    }[kind]()
    beliefs, _ = beliefs_of(rater, "next_matches")
    found = kn.next_matches(rater, count=12, target=target, at_most=2)
    expected = plainly(beliefs, target, 12, most=2)
    assert [one.tells for one in found.matches] == pytest.approx([share for _, share in expected], rel=1e-6)
    pairs = [tuple(sorted((beliefs.names.index(one.home), beliefs.names.index(one.away)))) for one in found.matches]
    assert pairs == [pair for pair, _ in expected]


def test_covariance_counts():
    """Votes: errors of a covariance are those of differences, and differ from those of independent beliefs."""
    rater = kn.BradleyTerry(ridge=0.1).fit(votes())
    beliefs, _ = beliefs_of(rater, "next_matches")
    own = dict(zip(rater.ratings_["name"], rater.ratings_["uncertainty"]))
    assert np.sqrt(np.diagonal(beliefs.covariance)) == pytest.approx([own[name] for name in beliefs.names])
    assert abs(beliefs.covariance - np.diag(np.diagonal(beliefs.covariance))).max() > 10
    kalman = kn.KalmanElo(covariance="full").update(votes())
    beliefs, _ = beliefs_of(kalman, "next_matches")
    gaps = kalman._gaps(kn.matches.fixtures.fixtures(["P0"], ["P1"], kalman._day_of(None), neutral=True))
    i, j = beliefs.names.index("P0"), beliefs.names.index("P1")
    P, unit = beliefs.covariance, kalman._points_per_unit
    assert P[i, i] + P[j, j] - 2 * P[i, j] == pytest.approx(gaps.variance[0] * unit**2, rel=0.02)


@pytest.mark.parametrize("name", ["Glicko", "KalmanElo", "TeamElo", "BradleyTerry"])
def test_points_and_information_are_of_the_rater(name):
    rater = {"Glicko": kn.Glicko, "KalmanElo": kn.KalmanElo, "TeamElo": kn.TeamElo, "BradleyTerry": kn.BradleyTerry}[
        name
    ]()
    rater.update(votes())
    beliefs, chances = beliefs_of(rater, "next_matches")
    points = chances[:, 0] + 0.5 * chances[:, 1]
    slope = (points[1] - points[0]) / GRID
    assert points[0] == pytest.approx(0.5, abs=1e-6)
    assert slope == pytest.approx(Q / 4, rel=0.12)  # a point is a point of expected score between equals
    drawn = chances[0, 1]
    assert beliefs.law[0] == pytest.approx(4 * slope**2 / (1 - drawn), rel=0.02)
    table = dict(zip(rater.ratings_["name"], rater.ratings_["rating"]))
    gap = beliefs.mean[beliefs.names.index("P0")] - beliefs.mean[beliefs.names.index("P1")]
    assert gap == pytest.approx(table["P0"] - table["P1"], abs=1e-6)


def test_points_are_those_of_a_forecast():
    """Of Glicko, which takes what is not known of both ratings into account too; its formula is an approximation."""
    rater, _ = glicko()
    for one in kn.next_matches(rater, count=30, target="order", at_most=1).matches:
        assert one.points == pytest.approx(rater.predict_one(one.home, one.away, neutral=True).points[0], abs=0.01)


def davidson(gap, kappa):
    """Win, draw and loss by difference in points, with the slope of 400 points where sides are equal."""
    x = Q / 2 * (1 + kappa / 2) * gap
    parts = np.stack([np.exp(x), kappa + 0 * x, np.exp(-x)])
    return parts / parts.sum(axis=0)


@pytest.mark.parametrize("kind", ["glicko", "votes"])
def test_points_and_information_are_sums_over_wins_draws_and_losses(kind):
    if kind == "glicko":
        rater, kappa = kn.Glicko(start=glicko()[1], ties=0.7, home_advantage=35.0), 0.7
    else:
        rater, kappa = kn.BradleyTerry(ridge=0.1).fit(votes()), 0.0
    beliefs, _ = beliefs_of(rater, "next_matches")
    x = np.linspace(-8, 8, 4001)
    weight = np.exp(-(x**2) / 2) / np.exp(-(x**2) / 2).sum()
    for one in kn.next_matches(rater, count=9, target="order").matches:
        i, j = beliefs.names.index(one.home), beliefs.names.index(one.away)
        P = beliefs.covariance
        spread = math.sqrt(P[i, i] + P[j, j] - 2 * P[i, j])
        win, draw, _ = davidson(beliefs.mean[i] - beliefs.mean[j] + spread * x, kappa)
        assert one.points == pytest.approx((win + 0.5 * draw) @ weight, abs=2e-5)
    for k in (0, 20, 70, 160):
        shown = davidson(5.0 * k, kappa)
        slope = (davidson(5.0 * k + 0.01, kappa) - davidson(5.0 * k - 0.01, kappa)) / 0.02
        assert beliefs.law[k] == pytest.approx((slope**2)[shown > 0] @ (1 / shown[shown > 0]), rel=1e-3)


@pytest.mark.parametrize(("share", "first"), [(0.0004, "less than 0.1 %"), (0.0006, "0.1 %"), (0.034, "3.4 %")])
@pytest.mark.parametrize(("rest", "batch"), [(0.0037, "less than 1 %"), (0.0052, "1 %"), (0.21, "")])
def test_shares_too_small_for_their_digits_are_said_so(share, first, rest, batch):
    matches = tuple(NextMatch("Ann", name, 0.5, tells, 1.0) for name, tells in (("Bob", share), ("Cid", rest)))
    found = NextMatches(matches, "leader", "who is first")
    batch = batch if share < 0.03 and batch else f"{100 * (share + rest):.0f} %"
    assert found.lines() == [
        f"These matches are to tell who is first: Ann – Bob first, which takes {first} off what is open; all 2 are "
        f"expected to take {batch}."
    ]
    assert repr(found) == "NextMatches: Ann – Bob, Ann – Cid (2, for leader)"
    wanted = {"home": "Ann", "away": "Cid", "points": 0.5, "tells": rest, "cost": 1.0}
    assert found.to_dict()["matches"][1] == wanted and found.table().rows[1] == wanted | {
        "number": 2, "pair": "Ann – Cid",
    }  # fmt: skip


def test_limits_prices_and_sides():
    rater, table = glicko()
    names = table["name"][:4]
    found = kn.next_matches(rater, count=20, candidates=names, at_most=2)
    assert len(found.matches) == 12  # six pairs, twice
    assert {one.home for one in found.matches} | {one.away for one in found.matches} == set(names)
    only = kn.next_matches(rater, count=4, candidates=[("P0", "P5"), ("P5", "P0"), ("P1", "P2")])
    assert {frozenset((one.home, one.away)) for one in only.matches} <= {
        frozenset(("P0", "P5")),
        frozenset(("P1", "P2")),
    }
    first = dict.fromkeys(table["name"], 0)
    for one in kn.next_matches(rater, count=40, target="order").matches:
        first[one.home] += 1
        first[one.away] -= 1
    assert max(map(abs, first.values())) <= 2
    plain = kn.next_matches(rater, count=1).matches[0]
    pair = (plain.away, plain.home)
    dear = kn.next_matches(rater, count=1, cost={pair: 1e6}).matches[0]
    assert {dear.home, dear.away} != {plain.home, plain.away}
    once = kn.next_matches(rater, count=20, candidates=dict.fromkeys(table["name"], 1) | {"P0": 3, "P7": 0})
    often = [name for one in once.matches for name in (one.home, one.away)]
    assert often.count("P0") == 2 and sorted(set(often)) == table["name"][:7] and len(often) == 8
    by_function = kn.next_matches(rater, count=9, cost=lambda a, b: 1.0 + (a == "P0") + (b == "P0"))
    by_pair = kn.next_matches(rater, count=9, cost={("P0", name): 2.0 for name in table["name"]})
    assert by_function == by_pair
    both = {("P0", name): 2.0 for name in table["name"]} | {(name, "P0"): 5.0 for name in table["name"][1:]}
    assert kn.next_matches(rater, count=9, cost=both) == by_pair  # as its names stand where both orders are given
    nothing = ["No match that may be played within these limits tells anything of who is first."]
    assert kn.next_matches(rater, candidates=["P1"]).lines() == nothing
    ahead = {"name": ["Ann", "Bea", "Cid", "Dee"], "rating": [2300, 1690, 1500, 1300], "deviation": [30] * 4}
    assert kn.next_matches(kn.Glicko(start=ahead), candidates=[("Cid", "Dee")]).lines() == nothing
    with pytest.raises(kn.InputError, match="'Bea' among the candidates cannot meet itself; a pair has two names"):
        kn.next_matches(kn.Glicko(start=ahead), candidates=[("Ann", "Bea"), ("Bea", "Bea")])


def test_pairs_beyond_those_kept_do_not_matter(monkeypatch):
    rater, _ = glicko(4, 60)
    whole = kn.next_matches(rater, count=30, target="order")
    monkeypatch.setattr("kinelo.decisions.choosing.KEPT", 600)
    assert kn.next_matches(rater, count=30, target="order") == whole


def test_pairs_beyond_those_kept_come_once_these_are_used_up(monkeypatch):
    rater, _ = glicko(4, 9)
    whole = kn.next_matches(rater, count=40, target="order", at_most=1)
    monkeypatch.setattr("kinelo.decisions.choosing.KEPT", 7)
    found = kn.next_matches(rater, count=40, target="order", at_most=1)
    assert len(found.matches) == len(whole.matches) == 36
    together = [sum(one.tells for one in batch.matches) for batch in (found, whole)]
    assert together[0] == pytest.approx(together[1], rel=1e-9)  # all have met once, in whichever order


def contests(size=7, count=40):
    rng = np.random.default_rng(6)
    rater = kn.RankElo()
    for _ in range(count):
        shown = np.linspace(1, -1, size) + rng.gumbel(size=size)
        chosen = rng.choice(size, 3, replace=False)
        rater.update_one([f"P{k}" for k in chosen[np.argsort(-shown[chosen])]])
    return rater


@pytest.mark.parametrize("target", ["leader", "order", "P2"])
def test_fields_take_off_what_whole_matrices_say(target):
    """Of each field the information of all its pairs is added to that of the beliefs, and inverted."""
    rater = contests()
    beliefs, _ = beliefs_of(rater, "next_matches")
    found = kn.next_matches(rater, count=4, target=target, size=3)
    a, b, weight, _ = contrasts(target, beliefs)
    n, P = len(beliefs.names), beliefs.covariance.copy()

    def left(P):
        return sum(w * (P[x, x] + P[y, y] - 2 * P[x, y]) for x, y, w in zip(a, b, weight))

    def after(P, field):
        J = np.zeros((n, n))
        for x in field:
            for y in field:
                if x < y:
                    e = np.eye(n)[x] - np.eye(n)[y]
                    gap = abs(beliefs.mean[x] - beliefs.mean[y])
                    w = np.interp(gap, GRID * np.arange(beliefs.law.size), beliefs.law)
                    J += 7 / 9 * w * np.outer(e, e)  # 4 (3 − 1 − 1/2 − 1/3) / (3 · 2)
        return np.linalg.inv(np.linalg.inv(P) + J)

    whole = left(P)
    for contest in found.matches:
        field = [beliefs.names.index(name) for name in contest.entrants]
        assert len(set(field)) == 3
        assert (np.diff(beliefs.mean[field]) <= 0).all()
        assert contest.tells == pytest.approx((left(P) - left(after(P, field))) / whole, rel=1e-6)
        best = max(left(P) - left(after(P, other)) for other in itertools.combinations(range(n), 3))
        assert left(P) - left(after(P, field)) > 0.9 * best  # greedy, with exchanges
        P = after(P, field)


def test_fields_of_equals_tell_what_plackett_and_luce_say():
    """The information of an order of five equals, from the derivatives of its likelihood."""
    from kinelo.raters.bradley_terry.orders import Orders, add_information, order_derivatives

    orders = Orders.of(kn.read_contests({"race": [1] * 5, "driver": list("ABCDE"), "place": [1, 2, 3, 4, 5]}))
    information = np.zeros((5, 5))
    add_information(orders, order_derivatives(orders, np.zeros(5))[1], information)
    pairs = -information[np.triu_indices(5, 1)]
    assert information_of_fields(5) == pytest.approx(pairs.mean() / 0.25)


def test_limits_hold_for_fields():
    rater = contests()
    found = kn.next_matches(rater, count=9, size=3, at_most=1)
    pairs = [frozenset(pair) for one in found.matches for pair in itertools.combinations(one.entrants, 2)]
    assert len(pairs) == len(set(pairs))
    limited = kn.next_matches(rater, count=9, size=4, candidates=dict.fromkeys(["P1", "P3", "P4", "P6", "P5"], 2))
    often = [name for one in limited.matches for name in one.entrants]
    assert len(limited.matches) == 2 and max(map(often.count, often)) == 2 and "P0" not in often
    assert limited.lines()[0].startswith("These contests are to tell who is first: ")
    assert " – ".join(limited.matches[0].entrants) in repr(limited)
    assert not kn.next_matches(rater, size=3, candidates={"P1": 0, "P2": 0, "P4": 1}).matches
    with pytest.raises(kn.InputError, match="no more than the 2 who are there"):
        kn.next_matches(rater, size=3, candidates=["P1", "P2"])
    with pytest.raises(kn.InputError, match="no prices by pair"):
        kn.next_matches(rater, size=3, cost={("P1", "P2"): 3})
    with pytest.raises(kn.InputError, match="size=3 asks for contests of many, which RankElo rates"):
        kn.next_matches(glicko()[0], size=3)


def test_what_is_settled_is_said():
    known = {"name": ["Ann", "Bob"], "rating": [2600, 1500], "deviation": [20, 20]}
    found = kn.next_matches(kn.Glicko(start=known), target="tiers")
    assert found.lines() == ["Nothing is left to be told of which groups lie apart."]


def test_what_cannot_be_asked_is_refused():
    rater, _ = glicko()
    with pytest.raises(kn.InputError, match="'leader', 'order', 'tiers' or a name rated"):
        kn.next_matches(rater, target="nobody")
    with pytest.raises(kn.InputError, match="'X' among the candidates has no rating"):
        kn.next_matches(rater, candidates=["P1", "X"])
    with pytest.raises(kn.InputError, match="list of names, or of pairs"):
        kn.next_matches(rater, candidates=[("P1", "P2", "P3")])
    with pytest.raises(kn.InputError, match="a finite number above 0"):
        kn.next_matches(rater, cost=lambda a, b: 0)
    with pytest.raises(kn.InputError, match="cost must be a function of two names: "):
        kn.next_matches(rater, cost=lambda pair: 1.0)
    with pytest.raises(kn.InputError, match="count=10,001 is more than are chosen at once; it is at most 10,000"):
        kn.next_matches(rater, count=10_001)
    with pytest.raises(kn.InputError, match="PlayerElo rates players, and sides play"):
        kn.next_matches(kn.PlayerElo())
    with pytest.raises(kn.InputError, match="asks a rater such as"):
        kn.next_matches("elo")


def test_contests_and_books_are_asked_too(tmp_path):
    rater = kn.RankElo().update_one(["Ann", "Bob", "Cid"]).update_one(["Bob", "Ann", "Cid"])
    assert len(kn.next_matches(rater, count=3, target="order").matches) == 3
    book = kn.RatingBook(tmp_path / "club.db", kn.Glicko())
    for k, (home, away) in enumerate((("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Ann"))):
        book.update_one(home, away, "win", match_id=f"m{k}", date="2024-01-01")
    assert kn.next_matches(book, count=3) == kn.next_matches(book.rater, count=3)


def test_the_command_says_what_the_function_says(tmp_path):
    matches = votes()
    path = tmp_path / "votes.csv"
    rows = zip(matches.home.tolist(), matches.away.tolist(), matches.result.tolist())
    path.write_text(
        "home,away,result,neutral\n" + "".join(f"{matches.teams[h]},{matches.teams[a]},{r:g},yes\n" for h, a, r in rows)
    )
    call = ["next", "--results", str(path), "--rater", "bradley-terry", "--count", "4", "--at-most", "2"]
    done = CliRunner().invoke(app, [*call, "--json", "--cost", "P0 - P1=3"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    expected = kn.next_matches(
        kn.BradleyTerry().fit(kn.read_matches(path)), count=4, at_most=2, cost={("P0", "P1"): 3.0}
    )
    for told, one in zip(said["matches"], expected.to_dict()["matches"], strict=True):
        assert (told.pop("home"), told.pop("away")) == (one.pop("home"), one.pop("away"))
        assert told == pytest.approx(one)
    assert "These matches are to tell who is first" in CliRunner().invoke(app, call).output


def test_kernels_are_their_plain_selves():
    rater, _ = glicko(2, 6)
    beliefs, _ = beliefs_of(rater, "next_matches")
    assert isinstance(beliefs, Beliefs)
    i, j = np.triu_indices(6, 1)
    P = beliefs.covariance
    G = P @ P
    known = []
    for run in (first_look, first_look.py_func):
        known.append(
            run(beliefs.mean, P, G, beliefs.law, Pairs(i, j, np.ones(15), np.arange(15)), np.array([2] * 5 + [0]))[0]
        )
        looked = run(
            beliefs.mean, P, G, beliefs.law, Pairs(i, j, np.full(15, 2.0), np.arange(15)), np.array([2] * 5 + [0])
        )
        share = known[-1][:, 1] / (known[-1][:, 2] + known[-1][:, 0])
        assert looked[1] == pytest.approx(np.where((i > 0) & (j < 5) | (j > 1) & (j < 5), 0.5 * share, 0.0))
    assert known[0] == pytest.approx(known[1])
    both = [
        run(P, G, Pairs(i, j, np.ones(15), np.full(15, 3)), one, 8, np.full(6, 3))
        for run, one in zip((choose, choose.py_func), known)
    ]
    assert both[0][0].tolist() == both[1][0].tolist()
    for compiled, plain in zip(both[0][1:], both[1][1:]):
        assert compiled == pytest.approx(plain)
    assert [pairs.tolist() for pairs in all_pairs(np.array([2, 5, 6]))] == [[2, 2, 5], [5, 6, 6]]
