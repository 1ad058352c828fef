"""Matches saved, levels kept, judges and wrong ratings found in simulated arenas: what verification/MEASURED.md says.

``saved`` plays six arenas of 16 until the leader is believed to be first with .95, matches chosen at random, by largest
information, or for the leader. ``levels`` plays 1,000 small arenas with adaptive pairs, draws, ties and unequal numbers
and counts how often anything that Elimination called sure was wrong. ``judges`` has judges with tastes vote: how often
intervals of 95 % hold, by votes and by judge, and which judges are named. ``watch`` lets some play otherwise than they
are rated: after how many matches they are named, and how many innocents are.
"""

import math
import sys

import numpy as np

import kinelo as kn
from kinelo.decisions.elimination import ABOVE, NEAR, OUT, Q, bet
from kinelo.play.formula import kernel

RANDOM, INFORMATION, LEADER = range(3)
ARENAS = {
    "spread 120": (120.0, 0.0, 0, 0.0),
    "spread 250": (250.0, 0.0, 0, 0.0),
    "spread 120, 30 % drawn": (120.0, 0.3, 0, 0.0),
    "spread 250, 60 % drawn": (250.0, 0.6, 0, 0.0),
    "spread 120, only the three nearest of a ring may meet": (120.0, 0.0, 3, 0.0),
    "spread 250, drifting by 2 a match": (250.0, 0.0, 0, 2.0),
}
"""Spread of strengths, share of draws, how far apart on a ring who may meet (0: anybody), drift of everyone a match."""
SIZE, MOST, ARENA_COUNT = 16, 4000, 25


@kernel
def first_chance(m, P, rng):
    """The place believed to be first, and the chance of that, from 400 draws."""
    root = np.linalg.cholesky(P + 1e-6 * np.eye(m.size))
    best, count = np.argmax(m), 0
    for _ in range(400):
        z = np.empty(m.size)
        for k in range(m.size):
            z[k] = rng.standard_normal()
        count += np.argmax(m + root @ z) == best
    return best, count / 400


@kernel
def pick(rule, m, P, near, rng):
    """Who meets next."""
    n = m.size
    best, pair = -1.0, (0, 1)
    t = np.argmax(m)
    for i in range(n):
        for j in range(i + 1, n):
            apart = min(j - i, n - (j - i))
            if near and apart > near:
                continue
            p = 1.0 / (1.0 + math.exp(-Q * (m[i] - m[j])))
            w = Q * Q * p * (1.0 - p)
            D = P[i, i] + P[j, j] - 2.0 * P[i, j]
            if rule == 0:
                value = rng.random()
            elif rule == 1:
                value = w * D / (1.0 + w * D)
            else:
                value = 0.0
                for k in range(n):
                    if k != t:
                        own = P[t, t] + P[k, k] - 2.0 * P[t, k]
                        taken = (P[t, i] - P[t, j] - P[k, i] + P[k, j]) ** 2 / (1.0 / w + D)
                        value += math.exp(-0.5 * (m[t] - m[k]) ** 2 / own) / own * taken
            if value > best:
                best, pair = value, (i, j)
    return pair


@kernel
def play(strength, drawn, near, drift, rule, most, rng):
    """Matches until the leader is believed with .95, looked at every fifth, and whether it then is the first."""
    s, n = strength.copy(), strength.size
    m, P, fortune = np.full(n, 1500.0), np.eye(n) * 200.0**2, np.zeros((3, n, n))
    for count in range(1, most + 1):
        i, j = pick(rule, m, P, near, rng)
        win = 1.0 / (1.0 + 10.0 ** (-(s[i] - s[j]) / 400.0))
        signed = 0.0 if rng.random() < drawn else (1.0 if rng.random() < win else -1.0)
        bet(np.array([i]), np.array([j]), np.array([signed]), np.ones(1), m, P, fortune, 0.0)
        if drift:
            for k in range(n):
                s[k] += drift * rng.standard_normal()
                P[k, k] += drift * drift
        if count % 5 == 0:
            best, chance = first_chance(m, P, rng)
            if chance >= 0.95:
                return count, best == np.argmax(s)
    return most, False


def saved() -> int:
    """Print how many matches each rule takes."""
    print("arena | random | largest information | for the leader | leader right, %")
    for name, (spread, drawn, near, drift) in ARENAS.items():
        cells, right = [], []
        for rule in (RANDOM, INFORMATION, LEADER):
            counts = []
            for arena in range(ARENA_COUNT):
                rng = np.random.default_rng([arena, 5])
                count, first = play(rng.normal(0, spread, SIZE), drawn, near, drift, rule, MOST, rng)
                counts.append(count)
                right += [first] if count < MOST else []
            middle = np.median(counts)
            cells.append(f"{middle:,.0f}" if middle < MOST else f"> {MOST:,}")
        print(f"{name} | {' | '.join(cells)} | {100 * np.mean(right):.0f}", flush=True)
    return 0


@kernel
def wrongly(strength, drawn, epsilon, alpha, most, rng):
    """Whether leader, leader within ε, or order was wrongly called sure within so many matches, and whether a leader
    was named, by each rule; pairs are two of the likeliest leaders left, or any, and some play thrice as often."""
    n = strength.size
    m, P, fortune = np.full(n, 1500.0), np.eye(n) * 200.0**2, np.zeros((3, n, n))
    out, first = np.zeros(n, np.bool_), np.argmax(strength)
    wrong, named = np.zeros(3, np.bool_), np.zeros(2, np.bool_)
    for _ in range(most):
        root = np.linalg.cholesky(P + 1e-6 * np.eye(n))
        i, j = -1, -1
        if rng.random() < 0.7:
            for _ in range(20):
                z = np.empty(n)
                for k in range(n):
                    z[k] = rng.standard_normal()
                x = m + root @ z
                for k in range(n):
                    if out[k]:
                        x[k] = -1e9
                k = np.argmax(x)
                if i < 0:
                    i = k
                elif k != i:
                    j = k
                    break
        if j < 0:
            i = int(rng.random() ** 2 * n)  # the first of the list more often
            j = (i + 1 + int(rng.random() * (n - 1))) % n
        win = 1.0 / (1.0 + 10.0 ** (-(strength[i] - strength[j]) / 400.0))
        signed = 0.0 if rng.random() < drawn else (1.0 if rng.random() < win else -1.0)
        bet(np.array([i]), np.array([j]), np.array([signed]), np.ones(1), m, P, fortune, epsilon)
        if (~out).sum() > 1:
            for k in range(n):
                out[k] |= fortune[OUT, k, k] >= -math.log(alpha)
            if (~out).sum() == 1:
                named[0], wrong[0] = True, out[first]
        for k in range(n):
            near = True
            for other in range(n):
                if other != k:
                    near &= fortune[NEAR, other, k] >= math.log((n - 1) / alpha)
                    if fortune[ABOVE, other, k] >= math.log(n * (n - 1) / 2.0 / alpha):
                        wrong[2] |= strength[k] < strength[other]
            if near:
                named[1] = True
                wrong[1] |= strength[first] - strength[k] > epsilon
    return wrong, named


def levels(arenas: int = 1000, alpha: float = 0.05) -> int:
    """Print how often something called sure was wrong; 1 where that is more often than the level allows."""
    wrong, named = np.zeros(3), np.zeros(2)
    for arena in range(arenas):
        rng = np.random.default_rng([arena, 9])
        strength = rng.normal(0, (60, 120, 250)[arena % 3], 3 + arena % 6)
        if arena % 2:  # the first two apart by a point, of different places
            order = np.argsort(strength)
            strength[order[-2]] = strength[order[-1]] - 1.0
        found = wrongly(strength, (0.0, 0.3, 0.7)[arena // 3 % 3], 40.0, alpha, 1500, rng)
        wrong, named = wrong + found[0], named + found[1]
    print(f"{arenas} arenas, level {alpha}, 1,500 matches each")
    print(
        f"wrong leader {wrong[0]:.0f} of {named[0]:.0f} named, wrong within 40 points {wrong[1]:.0f} of {named[1]:.0f}"
    )
    print(f"wrong order {wrong[2]:.0f}", flush=True)
    return int(max(wrong) > arenas * alpha + 3 * math.sqrt(arenas * alpha))


DRAWN = 0.2
TASTES = 150.0
KAPPA = 2.0 / 3.0


def ballot(strength: np.ndarray, tastes: np.ndarray, each: int, rng: np.random.Generator) -> dict:
    """So many votes of each judge, whose tastes (judges, models) are added to strengths."""
    judges, models = tastes.shape
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(0, models, judge.size)
    j = (i + rng.integers(1, models, judge.size)) % models
    gap = strength[i] + tastes[judge, i] - strength[j] - tastes[judge, j]
    won = rng.random(judge.size) < 1.0 / (1.0 + 10.0 ** (-gap / 400.0))
    return {
        "home": [f"m{k}" for k in i], "away": [f"m{k}" for k in j], "neutral": [True] * judge.size,
        "result": np.where(rng.random(judge.size) < DRAWN, 0.5, won), "judge": [f"j{k}" for k in judge],
    }  # fmt: skip


def by_all_the_world(strength: np.ndarray) -> dict[str, float]:
    """Ratings if everybody voted: tastes flatten chances."""
    one, other = np.triu_indices(strength.size, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    gaps = (strength[one] - strength[other])[:, None] + math.sqrt(2.0) * TASTES * nodes
    won = (1.0 - DRAWN) * (1.0 / (1.0 + 10.0 ** (-gaps / 400.0))) @ (weights / weights.sum())
    shares = np.concatenate([won, np.full(one.size, DRAWN), 1.0 - DRAWN - won])
    table = {
        "home": [f"m{k}" for k in one] * 3, "away": [f"m{k}" for k in other] * 3, "neutral": [True] * 3 * one.size,
        "result": np.repeat([1.0, 0.5, 0.0], one.size), "weight": np.round(1e5 * shares),
    }  # fmt: skip
    return dict(kn.BradleyTerry(ridge=0.01).fit(kn.read_matches(table)).ratings_.select("name", "rating").rows())


def judges(arenas: int = 60) -> int:
    """Print coverage by number of judges, and who is named; 1 where innocents are too many."""
    print("judges | votes of each | intervals of 95 % that hold: by votes | by judge")
    for number, each in ((5, 100), (10, 60), (20, 40), (50, 30), (100, 20)):
        inside = np.zeros(2)
        for arena in range(arenas):
            rng = np.random.default_rng([arena, number])
            strength = rng.normal(0.0, 100.0, 6)
            votes = ballot(strength, rng.normal(0.0, TASTES, (number, 6)), each, rng)
            truth = by_all_the_world(strength)
            for k, by in enumerate((None, "judge")):
                rater = kn.BradleyTerry(ridge=0.01, errors_by=by).fit(kn.read_matches(votes, conditions=["judge"]))
                rows = rater.intervals().select("name", "low", "high").rows()
                inside[k] += np.mean([low < truth[name] < high for name, low, high in rows])
        print(f"{number} | {each} | {inside[0] / arenas:.3f} | {inside[1] / arenas:.3f}", flush=True)
    print(
        "votes of each of 300 judges, 6 at random, 6 always the first, in 10 arenas | named: at random, first, innocent"
    )
    guilty, innocent = 0, 0
    for each in (25, 50, 100, 200, 400):
        found = np.zeros(3, int)
        for arena in range(10):
            rng = np.random.default_rng([arena, each])
            votes = ballot(rng.normal(0.0, 150.0, 20), rng.normal(0.0, 60.0, (300, 20)), each, rng)
            votes["result"][: 6 * each] = rng.integers(0, 2, 6 * each)
            votes["result"][6 * each : 12 * each] = 1.0
            matches = kn.read_matches(votes, conditions=["judge"])
            named = kn.judges(kn.BradleyTerry().fit(matches), matches).filter("named")["judge"].to_list()
            found += np.bincount(np.array([min(int(name[1:]) // 6, 2) for name in named], np.int64), minlength=3)
        print(f"{each} | {found[0]} of 60, {found[1]} of 60, {found[2]}", flush=True)
        guilty, innocent = guilty + found[:2].sum(), innocent + found[2]
    return int(innocent > 0.1 * (guilty + innocent))


def watch(leagues: int = 10) -> int:
    """Print how many of those who play otherwise than they are rated are named, by matches; 1 where innocents are too
    many. 200 sides, ratings with errors of 40 that are said, 25 % drawn between equals."""
    print("points | matches of each | named of those | innocent of all named")
    named_all, innocent_all = 0, 0
    for change in (200.0, 400.0):
        for count in (50, 100, 200):
            named, innocent = 0, 0
            for league in range(leagues):
                rng = np.random.default_rng([league, int(change), count])
                shown = rng.normal(1500.0, 150.0, 200)
                plays = shown + rng.normal(0.0, 40.0, 200)
                plays[:4] += change * np.array([1.0, -1.0, 1.0, -1.0])
                i = np.concatenate([rng.permutation(200) for _ in range(count)]).reshape(-1, 2)
                x = math.log(10.0) / 800.0 * (1.0 + KAPPA / 2.0) * (plays[i[:, 0]] - plays[i[:, 1]])
                shares = np.exp(x), KAPPA, np.exp(-x)
                u = rng.random(len(i)) * sum(shares)
                result = np.where(u < shares[0], 1.0, np.where(u < shares[0] + KAPPA, 0.5, 0.0))
                names = [f"P{k}" for k in range(200)]
                start = {"name": names, "rating": shown.tolist(), "deviation": [40.0] * 200}
                known = kn.Glicko(start=start, ties=KAPPA, home_advantage=0.0)
                table = {"home": [names[k] for k in i[:, 0]], "away": [names[k] for k in i[:, 1]], "result": result}
                matches = kn.read_matches(table | {"neutral": [True] * len(i)})
                found = {int(name[1:]) for name in kn.watch(known, matches).filter("named")["name"]}
                named, innocent = named + len(found & set(range(4))), innocent + len(found - set(range(4)))
            print(f"{change:g} | {count} | {named} of {4 * leagues} | {innocent} of {named + innocent}", flush=True)
            named_all, innocent_all = named_all + named, innocent_all + innocent
    return int(innocent_all > 0.1 * (named_all + innocent_all))


FORMS = {"saved": saved, "levels": levels, "judges": judges, "watch": watch}

if __name__ == "__main__":
    sys.exit(max(FORMS[name]() for name in sys.argv[1:] or FORMS))
