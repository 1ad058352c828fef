"""What advice and audits refuse, word by word."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.audit.inflation import MOST_GROUPS
from kinelo.advice.audit.inputs import compare_ratings, table_of
from kinelo.advice.check import check_state
from kinelo.advice.judged import JudgedLeague, resting
from refusals import check_refusal

SYSTEM, LEAGUE = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], 1.0)
WEEKLY = replace(SYSTEM, schedule=kn.model.Period(3))
LEARNING = kn.model.Learning(alpha=0.3, diffusion=0.2)
SIDES = [f"s{k}" for k in range(8)]


def matches():
    rng = np.random.default_rng(3)
    pairs = [rng.permutation(8)[:2] for _ in range(200)]
    day = np.datetime64("2020-01-01") + np.arange(200)
    return kn.read_matches({
        "date": day.astype(str), "home": [SIDES[i] for i, _ in pairs], "away": [SIDES[j] for _, j in pairs],
        "result": rng.choice([0, 0.5, 1], 200),
    })  # fmt: skip


def ratings(**columns):
    return pl.DataFrame({"name": SIDES, "rating": np.linspace(1400, 1600, 8), **columns})


def races():
    return kn.read_contests(kn.matches.sample_contests(contests=45, entrants=8, size=4, seed=1))


CASES = {
    "two groups of one side": (
        lambda: kn.audit(matches(), kn.TeamElo.classic(k=20), by=pl.DataFrame({"name": ["s1", "s1"], "group": ["east",
        "west"]})),
        "The list of groups puts 's1' into two groups.",
    ),
    "groups of strangers": (
        lambda: kn.audit(matches(), kn.TeamElo.classic(k=20), by={"Zoe": "east"}), "by names no group of these sides.",
    ),
    "too many groups": (
        lambda: kn.audit(kn.read_matches(MANY), kn.TeamElo.classic(k=20), by=EACH),
        f"by makes {MOST_GROUPS + 1:,} groups; at most {MOST_GROUPS} can be told apart.",
    ),
    "groups of a number": (
        lambda: kn.audit(matches(), kn.TeamElo.classic(k=20), by=7),
        "by is a column of the matches, a mapping from names to groups, or a table with the columns name and group, "
        "not int.",
    ),
    "groups without names": (
        lambda: kn.audit(matches(), kn.TeamElo.classic(k=20), by=pl.DataFrame({"side": ["s1"], "group": ["east"]})),
        "A list of groups has the columns name and group; this one has 'side', 'group'.",
    ),
    "ratings that are a number": (
        lambda: table_of(7, matches()),
        r"ratings must be a table with the columns name and rating, which cannot be read: .+not from int\.",
    ),
    "ratings without a rating": (
        lambda: table_of(ratings().drop("rating"), matches()), "ratings has no column rating; it has name.",
    ),
    "a rating of letters": (
        lambda: table_of(ratings(rating=["1500"] * 7 + ["high"]), matches()), "ratings has no usable rating for 's7'.",
    ),
    "a side twice": (
        lambda: table_of(ratings(name=[*SIDES[:7], "s0"]), matches()), "ratings names a side twice.",
    ),
    "ratings of others": (
        lambda: table_of(ratings(name=[f"other {k}" for k in range(8)]), matches()),
        "These ratings do not belong to these sides: 8 of 8 names never played.",
    ),
    "ratings of those who rest": (
        lambda: compare_ratings(tuple(SIDES), ratings(), np.zeros(8), np.ones(8), np.arange(8) == 3),
        "Fewer than two sides of these ratings have played within two years of the last match.",
    ),
    "learning in periods": (
        lambda: resting(WEEKLY, JudgedLeague(LEAGUE, LEARNING)),
        "Strengths that learn are judged match by match, not for Period(matches=3).",
    ),
    "periods of neighbours": (
        lambda: kn.diagnose(replace(WEEKLY, gamma=1e-3, pairing=kn.model.Window(c=30.0)), LEAGUE),
        "Rounds and periods are judged under AllPlayAll only; simulate plays the rest.",
    ),
    "a continuum of unequal spreads": (
        lambda: check_state(kn.stationary(SYSTEM, kn.theory.Continuum(theta=(4, 10), sigma=(0.5, 1.5)))),
        "A continuum is played for one common sigma; give a league of teams to check.",
    ),
    "a design of no league": (
        lambda: kn.design([4.0, 7.0], None, [SYSTEM]),
        "strengths must be a league such as Fixed or Normal, not [4.0, 7.0].",
    ),
    "a design of nothing": (lambda: kn.design(LEAGUE, None, []), "systems is empty: there is nothing to compare."),
    "a design of a word": (
        lambda: kn.design(LEAGUE, None, "elo"), "systems must be RatingSystems in a list or by name, not 'elo'.",
    ),
    "matchmaking in periods": (
        lambda: kn.matchmaking(WEEKLY, LEAGUE),
        "Matchmaking is computed for matches of two drawn at random, not for Period(matches=3).",
    ),
    "matchmaking by steps of each": (
        lambda: kn.matchmaking(replace(SYSTEM, gamma=(0.05, 0.07, 0.11)), LEAGUE),
        "Matchmaking is computed for one gamma that all teams share, not (0.05, 0.07, 0.11).",
    ),
    "fairness of more than all": (
        lambda: kn.matchmaking(SYSTEM, LEAGUE, fairness=1.5), "fairness must lie between 0 and 1, not 1.5.",
    ),
    "an audit of another rater of contests": (
        lambda: kn.audit(races(), kn.Glicko()),
        "Contests are rated by TeamElo.classic(k=…) or RankElo: audit one of these.",
    ),
    "an audit of contests with K of each": (
        lambda: kn.audit(races(), kn.TeamElo.classic(k=20, k_of={"P1": 40})),
        "Contests are rated with one K for all: give TeamElo.classic(k=…) a number, and no k_of.",
    ),
    "an audit of two contests": (
        lambda: kn.audit(races()[:2], kn.RankElo()), "An audit needs at least 40 contests and has 2.",
    ),
}  # fmt: skip
EACH = {f"s{k}": f"g{k}" for k in range(MOST_GROUPS + 1)}
MANY = {
    "home": [f"s{k}" for k in range(MOST_GROUPS)] * 3, "away": [f"s{k + 1}" for k in range(MOST_GROUPS)] * 3,
    "result": [1, 0.5, 0] * MOST_GROUPS,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])
