"""Lobbies from a queue: whatever comes out fits, is as even as a search over all splits, and starts when it should."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

import kinelo as kn
from kinelo.decisions.queueing import (
    Lobbies,
    Policy,
    QueueTrial,
    Ticket,
    _even,
    _simulated,
    form_lobbies,
    queue_trial,
)

RATINGS = {f"p{k}": 1500.0 + 14.0 * ((k * 29) % 61 - 30) for k in range(60)}
ROLES = {"tank": 1, "healer": 1, "fighter": 1}


def rater():
    """Everyone rated as said, on one scale, with deviations that differ."""
    start = {"name": list(RATINGS), "rating": list(RATINGS.values()),
             "deviation": [30.0 + 7.0 * (k % 11) for k in range(60)]}  # fmt: skip
    return kn.Glicko(350.0, 30.0, 0.0, ties=0.0, start=start)


def plain_evenness(sides, table):
    """By a sum over a fine grid of what is believed of each pair of sides."""
    found = []
    for i, one in enumerate(sides):
        for other in sides[i + 1 :]:
            mean = np.mean([table[name][0] for name in one]) - np.mean([table[name][0] for name in other])
            variance = sum(sum(table[name][1] ** 2 for name in side) / len(side) ** 2 for side in (one, other))
            x = np.linspace(-8, 8, 4001)
            weight = np.exp(-(x**2) / 2)
            p = 1 / (1 + 10 ** (-(mean + x * variance**0.5) / 400))
            found.append(1 - np.sum(weight * (2 * p - 1) ** 2) / weight.sum())
    return np.mean(found)


def queue(seed, count=16, roles=False, regions=False, parties=True, size=3):
    rng, names, tickets = (
        np.random.default_rng(seed),
        [f"p{k}" for k in np.random.default_rng(seed).permutation(60)],
        [],
    )
    for _ in range(count):
        n = int(rng.choice([1, 1, 2, min(3, size)])) if parties else 1
        players = tuple(names.pop() for _ in range(n))
        tickets.append(Ticket(
            players, float(rng.integers(0, 90)),
            tuple(rng.choice(["eu", "us", "as"], rng.integers(0, 3), replace=False).tolist()) if regions else (),
            {name: rng.choice(list(ROLES), rng.integers(1, 3), replace=False).tolist() for name in players}
            if roles else None,
        ))  # fmt: skip
    return tickets


def playable(names, tickets, roles):
    """Whether some order of these players gives everybody a role that is said, by trying all."""
    said = {name: (t.roles or {}).get(name, list(roles)) for t in tickets for name in t.players}
    seats = [role for role, n in roles.items() for _ in range(n)]
    return any(all(seat in said[name] for seat, name in zip(seats, order)) for order in permutations(names))


@pytest.mark.parametrize("roles", [None, ROLES], ids=["any role", "roles"])
@pytest.mark.parametrize("regions", [False, True], ids=["one region", "regions"])
def test_lobbies_fit_and_are_the_most_even_split_of_those_in_them(roles, regions):
    table = {r["name"]: (r["rating"], r["uncertainty"]) for r in rater().ratings_.to_dicts()}
    made = 0
    for seed in range(25):
        tickets = queue(seed, roles=roles is not None, regions=regions)
        what = Lobbies(sides=2, size=3, patience=45.0, good=0.95, roles=roles)
        lobbies = form_lobbies(rater(), tickets, what)
        party = {name: ticket for ticket in tickets for name in ticket.players}
        names = [name for lobby in lobbies for side in lobby.sides for name in side]
        assert len(names) == len(set(names))
        for lobby in lobbies:
            made += 1
            assert [len(side) for side in lobby.sides] == [3, 3]
            for side in lobby.sides:
                assert all(set(party[name].players) <= set(side) for name in side)
                assert roles is None or playable(side, tickets, roles)
            here = [party[name] for side in lobby.sides for name in side]
            for ticket in here:
                assert not ticket.regions or not lobby.region or lobby.region in ticket.regions
            assert lobby.region or not any(ticket.regions for ticket in here)
            assert lobby.quality == pytest.approx(plain_evenness(lobby.sides, table), abs=2e-4)
            assert lobby.waited == max(t.waited for t in here) or lobby.waited in {t.waited for t in here}
            sure = plain_evenness(lobby.sides, {name: (rating, 0.0) for name, (rating, _) in table.items()})
            assert sure >= 0.95 or lobby.waited >= 45.0
            # No split with the same parties (and roles) has means nearer to each other.
            everybody, best = [name for side in lobby.sides for name in side], np.inf
            for order in permutations(everybody[1:], 2):
                one = [everybody[0], *order]
                other = [name for name in everybody if name not in one]
                apart = all(set(party[n].players) <= set(side) for side in (one, other) for n in side)
                if apart and (roles is None or all(playable(side, tickets, roles) for side in (one, other))):
                    best = min(best, abs(sum(RATINGS[n] for n in one) - sum(RATINGS[n] for n in other)))
            found = abs(sum(RATINGS[n] for n in lobby.sides[0]) - sum(RATINGS[n] for n in lobby.sides[1]))
            assert found == pytest.approx(best)
    assert made > (12 if roles or regions else 30)


def test_the_longest_waiting_are_served_first_and_who_may_wait_waits_for_somebody_nearer():
    """Duels of those who came alone: the nearest of all is taken where somebody must start, nobody else starts."""
    tickets = queue(3, count=15, parties=False, size=1)
    must = max(tickets, key=lambda ticket: ticket.waited)
    (lobby,) = form_lobbies(rater(), tickets, Lobbies(size=1, patience=must.waited, good=1.0))
    name = must.players[0]
    near = min(abs(RATINGS[t.players[0]] - RATINGS[name]) for t in tickets if t is not must)
    ((one,), (other,)) = lobby.sides
    assert one == name != other and abs(RATINGS[other] - RATINGS[name]) == near and lobby.waited == must.waited
    assert form_lobbies(rater(), tickets, Lobbies(size=1, patience=must.waited + 1.0, good=1.0)) == []
    everybody = form_lobbies(rater(), tickets, Lobbies(size=1, patience=0.0, good=1.0))
    assert len(everybody) == 7 and [one.waited for one in everybody] == sorted(o.waited for o in everybody)[::-1]
    fields = form_lobbies(rater(), tickets, Lobbies(sides=5, size=1, patience=0.0))
    assert [len(lobby.sides) for lobby in fields] == [5, 5, 5]
    apart = [np.ptp([RATINGS[side[0]] for side in lobby.sides]) for lobby in fields]
    assert min(apart) < 0.7 * np.ptp([RATINGS[t.players[0]] for t in tickets])


@pytest.mark.parametrize(("unfit", "found"), [(7, True), (8, False)])
def test_four_times_as_many_as_a_lobby_takes_are_looked_at(unfit, found):
    """Of a duel eight: the nearest in rating play elsewhere, and the first who fits is the next."""
    names = sorted(RATINGS, key=RATINGS.__getitem__)
    tickets = [Ticket((names[0],), 50.0, ("eu",)), Ticket((names[unfit + 1],), 1.0, ("eu",))]
    tickets += [Ticket((name,), 2.0, ("us",)) for name in names[1 : unfit + 1]]
    lobbies = form_lobbies(rater(), tickets, Lobbies(size=1, patience=50.0, good=1.0))
    assert [lobby.sides for lobby in lobbies] == ([((names[0],), (names[unfit + 1],))] if found else [])
    assert [lobby.region for lobby in lobbies] == (["eu"] if found else [])


@pytest.mark.parametrize(("size", "pair", "all_ways"), [(6, False, True), (7, True, False), (7, False, False)])
def test_all_ways_to_split_are_looked_at_up_to_twelve_tickets(size, pair, all_ways):
    """Of more the large parties first, and the strongest of a size, each to the weaker side that has room."""
    names = [f"p{(11 + 7 * k) % 60}" for k in range(2 * size)]
    tickets = [Ticket(tuple(names[:2])), *(Ticket((name,)) for name in names[2:])] if pair else [
        Ticket((name,)) for name in names
    ]  # fmt: skip
    (lobby,) = form_lobbies(rater(), tickets, Lobbies(size=size, patience=0.0))
    total = sum(RATINGS[name] for name in names)
    found = abs(2 * sum(RATINGS[name] for name in lobby.sides[0]) - total)
    best = min(abs(2 * sum(RATINGS[n] for n in one) - total) for one in combinations(names, size))
    sides = [[], []]
    for ticket in sorted(tickets, key=lambda one: (-len(one.players), -np.mean([RATINGS[n] for n in one.players]))):
        free = [side for side in sides if len(side) + len(ticket.players) <= size]
        min(free, key=lambda side: sum(RATINGS[name] for name in side)).extend(ticket.players)
    dealt = abs(2 * sum(RATINGS[name] for name in sides[0]) - total)
    assert dealt > best + 1.0
    assert found == pytest.approx(best if all_ways else dealt)


def test_ratings_without_deviations_and_newcomers_are_in_doubt_by_two_hundred_points():
    start = {"Ann": 1702.0, "Bob": 1650.0}
    for one, there in ((kn.TeamElo.classic(start=start, initial=1350.0), 200.0), (rater(), 30.0)):
        pair = ("Ann", "Zoe") if there == 200.0 else ("p0", "Zoe")
        (lobby,) = form_lobbies(one, [Ticket((name,)) for name in pair], Lobbies(size=1, patience=0.0))
        new = 1350.0 if there == 200.0 else one.initial
        known = {pair[0]: (1702.0 if there == 200.0 else RATINGS["p0"], there), "Zoe": (new, 200.0)}
        assert lobby.quality == pytest.approx(plain_evenness(lobby.sides, known), abs=2e-4)


def test_a_trial_says_what_both_ways_come_to():
    ours = Policy("as even as can be", 1207, 12.4, 33.6, 0.9124, 0.5633, 3)
    nearest = Policy("nearest rating", 1309, 5.7, 17.2, 0.8251, 0.6127, 1)
    found = QueueTrial((ours, nearest), 12.5, 12345)
    assert found.lines() == [
        "Of 12,345 players in 12.5 minutes: the favourite wins 56.3% after 12 seconds in the mean, by nearest rating "
        "61.3% after 6 seconds."
    ]
    assert [column.label for column in found.table().columns] == [
        "Lobbies", "Started", "Waited, s", "95 % within, s", "Evenness", "Favourite wins", "Still waiting",
    ]  # fmt: skip
    assert found.table().cells() == [
        ["as even as can be", "1207", "12", "34", "0.912", "56.3%", "3"],
        ["nearest rating", "1309", "6", "17", "0.825", "61.3%", "1"],
    ]
    for none in ((replace(ours, lobbies=0), nearest), (ours, replace(nearest, lobbies=0))):
        assert QueueTrial(none, 12.5, 12345).lines() == ["12,345 players in 12.5 minutes are too few for a lobby."]


def test_doubt_holds_nobody_up():
    """Newcomers of whom nothing is known, and settled players of one rating, start alike."""
    known = kn.Glicko(350.0, 30.0, 0.0, ties=0.0, start={"name": ["A", "B"], "rating": [1500.0] * 2,
                                                         "deviation": [30.0] * 2})  # fmt: skip
    what = Lobbies(size=1, patience=60.0, good=1.0)
    (sure,), (open_,) = (form_lobbies(known, [Ticket((name,)) for name in pair], what) for pair in ("AB", "CD"))
    assert sure.quality > 0.98 > 0.9 > open_.quality


def test_many_sides_of_parties_are_split_into_equal_sides():
    for seed in range(8):
        tickets = queue(40 + seed, count=18)
        for lobby in form_lobbies(rater(), tickets, Lobbies(sides=4, size=3, patience=0.0)):
            assert [len(side) for side in lobby.sides] == [3] * 4
            for ticket in tickets:
                there = {k for k, side in enumerate(lobby.sides) for name in side if name in ticket.players}
                assert len(there) <= 1
            means = [np.mean([RATINGS[name] for name in side]) for side in lobby.sides]
            assert np.ptp(means) < 400.0
        alone = queue(40 + seed, count=12, parties=False)
        (lobby,) = form_lobbies(rater(), alone, Lobbies(sides=4, size=3, patience=0.0))
        means = [np.mean([RATINGS[name] for name in side]) for side in lobby.sides]
        assert np.ptp(means) < 0.15 * np.ptp([RATINGS[ticket.players[0]] for ticket in alone])


def test_newcomers_and_books_are_asked_alike(tmp_path):
    book = kn.RatingBook(tmp_path / "x.db", rater())
    tickets = [Ticket(("p1",), 9.0), Ticket(("nobody",), 3.0), Ticket(("p2",), 4.0), Ticket(("p3",), 5.0)]
    what = Lobbies(size=1, patience=0.0)
    assert form_lobbies(book, tickets, what) == form_lobbies(rater(), tickets, what)
    empty = kn.RatingBook(tmp_path / "y.db", kn.RankElo())
    (lobby,) = form_lobbies(empty, tickets[:2], what)
    assert lobby.quality == pytest.approx(plain_evenness(lobby.sides, dict.fromkeys(("p1", "nobody"), (1500.0, 200.0))))


def test_a_trial_waits_as_the_theory_of_pairs_says_and_evens_out_with_patience():
    """By nearest rating every second of a pair starts it at once: in the mean ½/λ seconds and half a look. 600 come,
    whose waits have a standard error below .1 s."""
    ratings = {f"p{k}": float(x) for k, x in enumerate(np.random.default_rng(1).normal(1500.0, 200.0, 6000))}
    waits, quality = [], []
    for patience in (10.0, 30.0, 80.0):
        what = Lobbies(size=1, patience=patience, good=0.995)
        found = queue_trial(ratings, what, per_minute=20.0, minutes=30.0, every=2.0, seed=2)
        ours, nearest = found.policies
        assert ours.lobbies * 2 + ours.left == found.players == nearest.lobbies * 2 + nearest.left
        assert nearest.waited == pytest.approx(0.5 * 3.0 + 1.0, abs=0.3) and nearest.left <= 1
        assert ours.waited < patience and ours.waited_95 <= max(patience + 3.5, nearest.waited_95)
        waits.append(ours.waited)
        quality.append(ours.quality)
        assert ours.favourite == pytest.approx(0.5 + 0.5 * (1 - ours.quality) ** 0.5, abs=0.06)
    assert waits == sorted(waits) and quality == sorted(quality) and quality[-1] > 0.97 > nearest.quality + 0.2
    assert f"wins {ours.favourite:.1%} after {ours.waited:.0f} seconds" in found.lines()[0]
    assert found.table().cells()[1][0] == "nearest rating"


def test_waits_are_those_of_players_and_not_of_parties():
    """A pair that waits since .5 and two who come at 9.5 start at the look at 10."""
    arrivals = [(0.5, ("a", "b"), ()), (9.5, ("c",), ()), (9.5, ("d",), ())]
    known, true = dict.fromkeys("abcd", (1500.0, 100.0)), {"a": 1600.0, "b": 1700.0, "c": 1500.0, "d": 1540.0}
    found = _simulated("one", arrivals, known, true, Lobbies(size=2, patience=0.0), _even, 5.0, 20.0)
    chance = 1 / (1 + 10 ** (-(1650.0 - 1520.0) / 400))
    assert (found.lobbies, found.left, found.waited, found.waited_95) == (1, 0, 5.0, 9.5)
    assert found.favourite == pytest.approx(chance) and found.quality == pytest.approx(1 - (2 * chance - 1) ** 2)


def test_a_trial_of_teams_keeps_regions_and_parties_apart():
    ratings = {f"p{k}": float(x) for k, x in enumerate(np.random.default_rng(1).normal(1500.0, 200.0, 4000))}
    what = Lobbies(size=5, patience=60.0, good=0.99)
    one, two = (queue_trial(ratings, what, per_minute=40.0, minutes=20.0, parties={1: 6, 2: 2, 5: 1}, regions=regions)
                for regions in (None, {"eu": 2.0, "us": 1.0}))  # fmt: skip
    assert one.policies[0].quality > one.policies[1].quality
    assert two.policies[1].waited > 1.3 * one.policies[1].waited
    assert one.policies[0].lobbies * 10 + one.policies[0].left == one.players


def test_queues_that_cannot_be_are_refused():
    for words, why in (
        ({"sides": 1}, "sides"), ({"size": 0}, "size"), ({"sides": 101}, "at most 100"), ({"good": 1.1}, "good"),
        ({"patience": -1.0}, "patience"), ({"roles": {"tank": 2}}, "as many as play on it, 5"),
    ):  # fmt: skip
        with pytest.raises(kn.InputError, match=why):
            Lobbies(**words)
    with pytest.raises(kn.InputError, match="'p1' waits twice"):
        form_lobbies(rater(), [Ticket(("p1",)), Ticket(("p2", "p1"))])
    with pytest.raises(kn.InputError, match="A party has 1 to 2 names here"):
        form_lobbies(rater(), [Ticket(("p1", "p2", "p3"))], Lobbies(size=2))
    with pytest.raises(kn.InputError, match="players arrive in that time, and 60 are rated"):
        queue_trial(RATINGS)
    with pytest.raises(kn.InputError, match="per_minute"):
        queue_trial(RATINGS, per_minute=0.0)
    found = queue_trial(RATINGS, per_minute=0.1, minutes=10.0)
    assert found.policies[0].lobbies == 0 and "too few for a lobby" in found.lines()[0]
