"""What decisions refuse, word by word."""

import pytest

import kinelo as kn
from kinelo.decisions import judging, queueing, wrong_ratings
from kinelo.decisions.choosing import MOST_MATCHES, beliefs_of
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
DUELS = {"date": ["2024-01-01", "2024-01-08", "2024-01-09"], "home": list("ABA"), "away": list("BAB")}
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2]}
OTHER = "wins, draws and losses; other results have no place in it."


def matches(**more):
    return kn.read_matches({**TWO, **more})


def quarters():
    return matches(result=[0.75, 0.5])


def rater():
    return kn.KalmanElo().update(matches())


def ranked():
    return kn.RankElo().update(kn.read_contests(RACES))


def duels(**more):
    return kn.read_matches(DUELS | {"result": [1, 0.5, 0]} | more)


def votes(**more):
    return kn.read_matches({**TWO, "judge": ["Eve", "Fay"], **more}, conditions=["judge"])


def to_test(**more):
    return kn.sequential_test(0, 30, **more)


def three():
    return kn.Elimination(["Ann", "Bob", "Cid"])


def ticket(*names, waited=1.0):
    return queueing.Ticket(names, waited)


CASES = {
    # What to play
    "a target that is nobody": (
        lambda: kn.next_matches(rater(), target="Zoe"),
        "target='Zoe' is not known; it is 'leader', 'order', 'tiers' or a name rated.",
    ),
    "more matches than are chosen": (
        lambda: kn.next_matches(rater(), count=MOST_MATCHES + 1),
        f"count={MOST_MATCHES + 1:,} is more than are chosen at once; it is at most {MOST_MATCHES:,}.",
    ),
    "contests of what rates matches": (
        lambda: kn.next_matches(rater(), size=3),
        "size=3 asks for contests of many, which RankElo rates; size=2 is for matches.",
    ),
    "contests with prices": (
        lambda: kn.next_matches(ranked(), size=3, cost={("A", "B"): 2.0}),
        "Contests of more than two have no prices by pair, and no pairs that may meet.",
    ),
    "contests of some pairs": (
        lambda: kn.next_matches(ranked(), size=3, candidates=[("A", "B")]),
        "Contests of more than two have no prices by pair, and no pairs that may meet.",
    ),
    "what is rated by nobody": (
        lambda: beliefs_of(kn.TeamElo.classic(k=20), "next_matches"),
        "ClassicElo has seen no match yet; call fit or update before you ask for forecasts.",
    ),
    "a beginning of nobody": (
        lambda: kn.next_matches(kn.KalmanElo(start={})),
        "KalmanElo has seen no match yet; call fit or update before you ask for forecasts.",
    ),
    # Elimination
    "one to eliminate": (lambda: kn.Elimination(["Ann"]), "Elimination takes at least 2 names, each once."),
    "one twice": (lambda: kn.Elimination(["Ann", "Bob", "Ann"]), "Elimination takes at least 2 names, each once."),
    "names that are a word": (lambda: kn.Elimination("AB"), "names='AB' must be a list of names."),
    "somebody against herself": (lambda: three().update("Ann", "Ann", 1), "'Ann' cannot meet itself."),
    "three quarters": (
        lambda: three().update("Ann", "Bob", 0.75),
        "A match counts as 0, 0.5 or 1 points of the side named first, not 0.75.",
    ),
    "a stranger": (
        lambda: three().update("Ann", "Zoe", 1), "'Zoe' does not take part; Ann, Bob, Cid do.",
    ),
    "three quarters of a table": (
        lambda: kn.Elimination(["A", "B", "C"]).update_matches(quarters()), f"Elimination counts {OTHER}",
    ),
    # Judges and watch
    "judges of a filter": (
        lambda: judging.judges(rater(), votes(), by="judge"),
        "judges asks a BradleyTerry, which takes all votes at once, not a KalmanElo.",
    ),
    "judges of quarters": (
        lambda: judging.judges(kn.BradleyTerry().fit(votes()), votes(result=[0.75, 0.5]), by="judge"),
        f"judges weighs {OTHER}",
    ),
    "a watch of quarters": (lambda: wrong_ratings.watch(rater(), quarters()), f"watch weighs {OTHER}"),
    # Queues
    "who waits twice": (
        lambda: queueing.form_lobbies(rater(), [ticket("A", "B"), ticket("C"), ticket("B")]), "'B' waits twice.",
    ),
    "a party of too many": (
        lambda: queueing.form_lobbies(rater(), [ticket("A", "B", "C")], queueing.Lobbies(size=2)),
        "A party has 1 to 2 names here, not ['A', 'B', 'C'].",
    ),
    "roles of fewer than play": (
        lambda: queueing.Lobbies(size=3, roles={"tank": 1, "healer": 1}),
        "Roles of a side are as many as play on it, 3.",
    ),
    "too many sides": (lambda: queueing.Lobbies(sides=101), "sides is at most 100, not 101."),
    # Sequential tests
    "points of another scale": (
        lambda: to_test(points="elo"), "points='elo' is not known; it is 'logistic' or 'normalised'.",
    ),
    "bounds the wrong way": (lambda: kn.sequential_test(30, 5), "low=30 must be less than high=5."),
    "bounds that are one": (lambda: kn.sequential_test(5, 5), "low=5 must be less than high=5."),
    "half a pair": (lambda: to_test(pairs=True).update(1), "This test counts both games of a pair."),
    "a pair of games": (
        lambda: to_test().update(1, 0), "This test counts one game; pairs=True counts pairs.",
    ),
    "a quarter of a game": (
        lambda: to_test().update(0.75),
        "A game counts as 0, 0.5 or 1 points of the side that is tested, not (0.75,).",
    ),
    "counts of some": (
        lambda: to_test().update_counts([3, 4]), "counts=[3, 4] must be 3 whole numbers, the worst first.",
    ),
    "counts below nought": (
        lambda: to_test().update_counts([3, -4, 1]), "counts=[3, -4, 1] must be 3 whole numbers, the worst first.",
    ),
    "counts of halves": (
        lambda: to_test(pairs=True).update_counts([3, 4, 1, 2.5, 0]),
        "counts=[3, 4, 1, 2.5, 0] must be 5 whole numbers, the worst first.",
    ),
    "a test of three sides": (
        lambda: to_test().update_matches(matches()),
        "A sequential test is between two sides; these matches name 3, which next_matches and Elimination are for.",
    ),
    "a test of a stranger": (
        lambda: to_test().update_matches(duels(), side="Zoe"), "side='Zoe' does not play; 'A' and 'B' do.",
    ),
    "a test of quarters": (
        lambda: to_test().update_matches(duels(result=[0.75, 0.5, 0])), f"A sequential test counts {OTHER}",
    ),
    "pairs that are left over": (
        lambda: to_test(pairs=True).update_matches(duels()),
        "Matches 3 and 4 are no pair with sides reversed: give two after one another, or count games.",
    ),
    "pairs that are none": (
        lambda: to_test(pairs=True).update_matches(
            kn.read_matches({"home": list("ABAA"), "away": list("BABB"), "result": [1, 0, 1, 0]})
        ),
        "Matches 3 and 4 are no pair with sides reversed: give two after one another, or count games.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])
