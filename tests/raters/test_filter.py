"""The filter on slots against plain twins: matrices for the covariance, dictionaries for the diagonal."""

import math

import numpy as np
import pytest

from kinelo.raters.filter import alone, together
from kinelo.raters.filter.belief import TODAY
from kinelo.raters.filter.entries import NO_ENTRIES, NO_ROTATIONS, Entries, Rotations, entries_of, observed
from kinelo.raters.filter.kinds import Kind, kinds_of_batch
from kinelo.raters.filter.smoother import backwards, smooth, symmetric

YEAR = 365.25
LEVEL, HOME, SIDE, PLAYER, SQUAD, OWN, GROUND = range(7)
TABLE = [
    Kind(walk=0.1, prior=0.5),
    Kind(walk=0.02, prior=0.4),
    Kind(walk=0.3, rho=0.2, prior=0.9, foes=0.35, level=1.0, counts=True),
    Kind(walk=0.25, rho=0.3, prior=0.7, mates=0.5, level=1.0, common=0.4, counts=True),
    Kind(walk=0.25, rho=0.3, prior=0.7, level=1.0, counts=True, whole=True),
    Kind(walk=0.05, prior=0.2),
    Kind(prior=0.3, apart=True),
]
NOISE = 1.3
KIND = np.array([LEVEL, HOME] + [SIDE] * 4 + [PLAYER] * 12 + [SQUAD] * 3 + [OWN] * 3 + [GROUND] * 4, np.int8)


def matches(n=60, seed=3, virtual=False):
    """Lists of entries in which sides, line-ups, squads, own strengths and grounds take part, newcomers on the way."""
    rng = np.random.default_rng(seed)
    offsets, slot, share = [0], [], []
    for g in range(n):
        chosen = {1: 1.0}
        for sign in (1.0, -1.0):
            if rng.random() < 0.3:
                pool = [k for k in range(2, 6) if k not in chosen]
                chosen[int(rng.choice(pool[: 2 + g // 10]))] = sign
            else:
                pool = [k for k in range(6, 18) if k not in chosen][: 7 + g // 6]
                for k in rng.choice(pool, 3, replace=False):
                    chosen[int(k)] = sign * float(rng.choice([0.2, 0.3, 0.5]))
            for pool in (range(18, 21), range(21, 24), range(24, 28)):
                free = [k for k in pool if k not in chosen]
                if rng.random() < 0.5:
                    chosen[int(rng.choice(free))] = sign * (0.4 if pool[0] == 18 else 1.0)
        slot += [-1 - int(KIND[k]) if virtual and k > 1 and rng.random() < 0.2 else k for k in chosen]
        share += list(chosen.values())
        offsets.append(len(slot))
    entries = Entries(np.array(offsets), np.array(slot), np.array(share))
    day = np.sort(rng.integers(0, 900, n))
    return entries, day, rng.choice([0.0, 0.5, 1.0, 1.0], n), rng.normal(0, 1.5, n)


def fresh_slots(batch=1):
    size = KIND.size
    x, v, games, last = (
        np.zeros((size, batch)),
        np.zeros((size, batch)),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    x[0], v[0], v[1], games[:2] = -0.3, TABLE[0].prior, TABLE[1].prior, 1
    return alone.SlotBeliefs(x, v, last, games, KIND.copy(), np.full(2, -(2**62)))


def fresh_joint():
    s = fresh_slots()
    C = np.zeros((KIND.size, KIND.size))
    C[0, 0], C[1, 1] = s.v[0, 0], s.v[1, 0]
    row = np.full(KIND.size, -1)
    row[:2] = 0, 1
    return together.Joint(s.x[:, 0], np.zeros(KIND.size), row, C, np.array([2]), s.last, s.games, s.kind, s.clock)


class Plain:
    """What is believed, as dictionaries (diagonal) or as vector and matrix; a newcomer's row is set."""

    def __init__(self, full):
        self.full = full
        n = KIND.size
        self.x, self.C = np.zeros(n), np.zeros((n, n))
        self.x[0], self.C[0, 0], self.C[1, 1] = -0.3, TABLE[0].prior, TABLE[1].prior
        self.last, self.met, self.start = dict.fromkeys(range(2), 0), {0, 1}, None

    def at(self, day, slots):
        """Mean and covariance with some slots brought to a day."""
        F, Q = np.eye(len(self.x)), np.zeros(self.C.shape)
        for k in {*slots} & self.met:
            kind, years = TABLE[KIND[k]], max(day - self.last[k], 0) / YEAR
            F[k, k] = math.exp(-kind.rho * years)
            Q[k, k] = kind.walk * (years if kind.rho == 0 else (1 - F[k, k] ** 2) / (2 * kind.rho))
        return F @ self.x, F @ self.C @ F.T + Q, F

    def entered(self, day, slots, shares, kinds):
        """The same with the newcomers among them, in further rows where nobody has met them."""
        fresh = [e for e, k in enumerate(slots) if k not in self.met]
        x, C, F = self.at(day, [*slots, 0] if fresh else slots)
        index = []
        for k in slots:
            if k < 0:
                x, C = np.append(x, 0.0), np.pad(C, (0, 1))
            index.append(len(x) - 1 if k < 0 else k)
        ready = [e for e in range(len(slots)) if e not in fresh and TABLE[kinds[e]].counts]
        late = 1 - math.exp(-max(day - self.start, 0) / YEAR) if self.start is not None else 0.0
        x_old, C_old = x.copy(), C.copy()
        A = np.zeros((len(fresh), len(x)))
        own = np.zeros((len(fresh), len(fresh)))
        alike = np.zeros(len(fresh))
        for a, e in enumerate(fresh):
            kind, w = TABLE[kinds[e]], shares[e]
            mates = [k for k in ready if shares[k] * w > 0]
            foes = [k for k in ready if shares[k] * w < 0]
            total = sum(abs(shares[k]) for k in mates)
            lean = kind.foes if foes else 0.0
            if kind.whole and total > 0:
                for k in mates:
                    A[a, index[k]] = abs(shares[k]) / total
            else:
                A[a, 0] = kind.level * (1 - lean) * late
                for k in mates:
                    A[a, index[k]] = kind.mates * abs(shares[k])
                for k in foes:
                    A[a, index[k]] += lean * abs(shares[k])
            own[a, a] = kind.prior
            alike[a] = math.copysign(math.sqrt(kind.common * kind.prior), w)
        if fresh:
            rows = [index[e] for e in fresh]
            x[rows] = A @ x_old
            together_ = np.where(np.outer(alike, alike) > 0, np.abs(np.outer(alike, alike)), 0.0)
            if self.full:
                C[rows, :] = A @ C_old
                C[:, rows] = C[rows, :].T
                C[np.ix_(rows, rows)] = A @ C_old @ A.T + own + together_
                for a, e in enumerate(fresh):
                    if TABLE[kinds[e]].apart:
                        assert not A[a].any()
            else:
                for a, e in enumerate(fresh):
                    opposite = [index[k] for k in ready if shares[k] * shares[e] < 0]
                    variance = own[a, a] + A[a, 0] ** 2 * C_old[0, 0]
                    variance += sum(A[a, k] ** 2 * C_old[k, k] for k in opposite)
                    C[rows[a], rows[a]] = variance
        load = sum(shares[e] * A[a, 0] for a, e in enumerate(fresh))
        common = [sum(shares[e] * alike[a] for a, e in enumerate(fresh) if shares[e] * s > 0) for s in (1, -1)]
        return x, C, np.array(index), load, sum(c * c for c in common), A, fresh, F

    def forecast(self, day, slots, shares, kinds):
        x, C, index, _, common, *_ = self.entered(day, slots, shares, kinds)
        h = np.zeros(len(x))
        np.add.at(h, index, shares)
        return h @ x, h @ self.apart(C, index) @ h + (0.0 if self.full else common)

    def apart(self, C, index):
        return C

    def play(self, day, weight, y, slots, shares):
        kinds = KIND[slots]
        self.start = day if self.start is None else self.start
        x, C, index, load, common, A, fresh, F = self.entered(day, slots, shares, kinds)
        h = np.zeros(len(x))
        h[index] = shares
        m, V = h @ x, h @ C @ h + (0.0 if self.full else common)
        self.trace = (A, [slots[e] for e in fresh], F, h, C.copy(), x.copy())
        if weight > 0:
            S = V + NOISE / weight
            if self.full:
                K = C @ h
                loose = [k for k in range(len(x)) if TABLE[KIND[k]].apart]
                x, C = x + K * (y - m) / S, C - np.outer(K, K) / S
                for k in loose:  # what they share with the rest is forgotten
                    variance = C[k, k]
                    C[k, :] = C[:, k] = 0.0
                    C[k, k] = variance
            else:
                v, g = np.diag(C).copy(), h.copy()
                g[0] = load
                x, C = x + g * v * (y - m) / S, np.diag(v - (g * v) ** 2 / S)
        elif not self.full:
            C = np.diag(np.diag(C))
        self.x, self.C = x, C
        self.met |= set(slots)
        self.last |= dict.fromkeys([*slots, 0] if fresh else slots, day)
        return m, V


def plain_run(full, n=60):
    entries, day, weight, y = matches(n)
    plain, said = Plain(full), []
    for g in range(n):
        lo, hi = entries.offsets[g : g + 2]
        said.append(plain.play(day[g], weight[g], y[g], entries.slot[lo:hi].tolist(), entries.share[lo:hi]))
    return plain, np.array(said)


def run_together(entries, day, weight, y, s, block=1, out=together.NO_STEPS):
    p = kinds_of_batch([TABLE], [NOISE])
    room, seen = together.room_for(len(s.C), block, entries, steps=out), observed(day, weight, y)
    together.filter_together(seen, NO_ENTRIES, entries, NO_ROTATIONS, p, s, room)
    return seen.mean, seen.variance


def run_alone(entries, day, weight, y, s, tables=(TABLE,), noise=(NOISE,)):
    p = kinds_of_batch(tables, noise)
    seen = observed(day, weight, np.repeat(y[:, None], len(tables), axis=1))
    alone.filter_alone(seen, NO_ENTRIES, entries, NO_ROTATIONS, p, s, alone.room_for(entries))
    return seen.mean, seen.variance


def test_the_diagonal_loop_is_its_plain_twin():
    plain, said = plain_run(full=False)
    s = fresh_slots()
    mean, variance = run_alone(*matches(), s)
    np.testing.assert_allclose(np.column_stack([mean, variance]), said, atol=1e-12)
    np.testing.assert_allclose(s.x[:, 0], plain.x, atol=1e-12)
    np.testing.assert_allclose(s.v[:, 0], np.diag(plain.C), atol=1e-12)
    assert s.clock[TODAY] == matches()[1][-1] and s.games.sum() == 2 + matches()[0].slot.size


@pytest.mark.parametrize("block", [1, 4, 16])
def test_the_covariance_loop_is_its_plain_twin(block):
    plain, said = plain_run(full=True)
    s = fresh_joint()
    mean, variance = run_together(*matches(), s, block)
    np.testing.assert_allclose(np.column_stack([mean, variance]), said, atol=1e-11)
    np.testing.assert_allclose(s.x, plain.x, atol=1e-11)
    joined = np.flatnonzero(s.row >= 0)
    C = symmetric(s.C)[np.ix_(s.row[joined], s.row[joined])]
    np.testing.assert_allclose(C, plain.C[np.ix_(joined, joined)], atol=1e-11)
    loose = KIND == GROUND
    np.testing.assert_allclose(s.v[loose], np.diag(plain.C)[loose], atol=1e-12)


def test_members_of_a_batch_do_not_know_of_each_other():
    other = [kind._replace(walk=2 * kind.walk, prior=0.5 * kind.prior, mates=0.3 * kind.mates) for kind in TABLE]
    both = run_alone(*matches(), fresh_slots(2), (TABLE, other), (NOISE, 0.7))
    for q, (table, noise) in enumerate(((TABLE, NOISE), (other, 0.7))):
        one = run_alone(*matches(), fresh_slots(), (table,), (noise,))
        for several, single in zip(both, one):
            np.testing.assert_array_equal(several[:, q], single[:, 0])


@pytest.mark.parametrize("full", [False, True])
def test_a_forecast_is_a_match_that_teaches_nothing(full):
    entries, day, weight, y = matches()
    coming, days, *_ = matches(25, seed=9, virtual=True)
    days = days + 700
    plain, _ = plain_run(full)
    p, s = kinds_of_batch([TABLE], [NOISE]), fresh_joint() if full else fresh_slots()
    (run_together if full else run_alone)(entries, day, weight, y, s)
    before = [np.copy(part) for part in s]
    found = (together.expected_together if full else alone.expected_alone)(days, coming, p, s)
    wanted = []
    for g in range(25):
        lo, hi = coming.offsets[g : g + 2]
        slots = coming.slot[lo:hi].tolist()
        kinds = [-1 - k if k < 0 else KIND[k] for k in slots]
        wanted.append(plain.forecast(days[g], slots, coming.share[lo:hi], kinds))
    np.testing.assert_allclose(np.column_stack(found), wanted, atol=1e-11)
    for one, two in zip(before, s):
        np.testing.assert_array_equal(one, two)


def test_matches_one_by_one_end_at_the_same_bits():
    entries, day, weight, y = matches()
    whole, parts = fresh_joint(), fresh_joint()
    run_together(entries, day, weight, y, whole)
    for g in range(len(day)):
        run_together(entries.of(g, g + 1), day[g : g + 1], weight[g : g + 1], y[g : g + 1], parts)
    for one, two in zip(whole, parts):
        np.testing.assert_array_equal(one, two)


def test_forecasts_ahead_know_another_list():
    entries, day, weight, y = matches()
    ahead, *_ = matches(seed=5)
    p, n = kinds_of_batch([TABLE], [NOISE]), len(day)
    wanted, s = [], fresh_slots()
    for g in range(n):
        one = slice(g, g + 1)
        m, V = alone.expected_alone(day[one], ahead.of(g, g + 1), p, s)
        wanted.append((m[0, 0], V[0, 0]))
        run_alone(entries.of(g, g + 1), day[one], weight[one], y[one], s)
    seen, s = observed(day, weight, y[:, None]), fresh_slots()
    alone.filter_alone(seen, ahead, entries, NO_ROTATIONS, p, s, alone.room_for(entries, ahead))
    np.testing.assert_allclose(np.column_stack([seen.mean, seen.variance]), wanted, atol=1e-13)


@pytest.mark.parametrize("full", [False, True])
def test_line_ups_of_which_one_will_play_add_their_spread(full):
    entries, day, weight, y = matches()
    p, s = kinds_of_batch([TABLE], [NOISE]), fresh_joint() if full else fresh_slots()
    (run_together if full else run_alone)(entries, day, weight, y, s)
    one = entries.of(0, 1)
    lists = [[(6, 0.5), (7, 0.5)], [(6, 0.5), (8, 0.5)], [(9, 1.0)]]
    rotations = Rotations(
        np.array([0, 1]), np.array([0.6]), np.array([0, 3]), np.append(0, np.cumsum([len(k) for k in lists])),
        np.array([k for part in lists for k, _ in part]), np.array([w for part in lists for _, w in part]),
    )  # fmt: skip
    expected = together.expected_together if full else alone.expected_alone
    today = day[-1:]
    x, _, _ = (plain := plain_run(full)[0]).at(today[0], range(KIND.size))
    spread = np.var([sum(w * x[k] for k, w in part) for part in lists])
    more = expected(today, one, p, s, rotations)[1] - expected(today, one, p, s)[1]
    assert plain.met and more.item() == pytest.approx(0.6 * spread, rel=1e-9)


def test_the_smoother_is_conditioning_on_everything():
    """All beliefs as one Gaussian over the noises of entries, walks and matches; kinds kept apart are left out."""
    entries, day, weight, y = matches()
    kept = KIND[entries.slot] != GROUND
    counts = np.add.reduceat(kept, entries.offsets[:-1])
    entries = Entries(np.append(0, np.cumsum(counts)), entries.slot[kept], entries.share[kept])
    n, stop = len(day), 35
    s, rows = fresh_joint(), KIND.size
    out = together.steps(n, entries.slot.size, rows)
    run_together(entries.of(0, stop), day[:stop], weight[:stop], y[:stop], s, 1, together.Steps(
        out.K[:stop], out.surprise[:stop], out.S[:stop], out.f[: entries.offsets[stop]],
        out.fresh[: entries.offsets[stop]], out.given[: entries.offsets[stop]],
    ))  # fmt: skip
    x, C, of_row = s.x.copy(), s.C.copy(), s.row.copy()
    at = entries.offsets[stop]
    run_together(entries.of(stop, n), day[stop:], weight[stop:], y[stop:], s, 1, together.Steps(
        out.K[stop:], out.surprise[stop:], out.S[stop:], out.f[at:], out.fresh[at:], out.given[at:]
    ))  # fmt: skip
    r, N = np.zeros(rows), np.zeros((rows, rows))
    counted = np.array([kind.counts for kind in TABLE])[KIND]
    backwards(stop, n, entries, counted, s.row, out, r, N)
    there = np.flatnonzero(of_row >= 0)
    by_row = np.zeros(rows)
    by_row[of_row[there]] = x[there]
    mean, covariance = smooth(by_row, C, r, N)
    wanted_mean, wanted = conditioned(entries, day, weight, y, stop, there)
    np.testing.assert_allclose(mean[of_row[there]], wanted_mean, atol=1e-9)
    np.testing.assert_allclose(covariance[np.ix_(of_row[there], of_row[there])], wanted, atol=1e-9)


def conditioned(entries, day, weight, y, stop, there):
    """Mean and covariance of some slots after ``stop`` matches given all of them, from one joint covariance."""
    plain, mean_rows, A_rows, seen = Plain(full=True), [], [], []
    n = KIND.size
    basis = {("first", k): math.sqrt(plain.C[k, k]) for k in range(2)}
    vector = {k: ({("first", k): 1.0}, plain.x[k]) for k in range(2)}
    for k in range(2, n):
        vector[k] = ({}, 0.0)
    moment = None
    for g in range(len(day)):
        lo, hi = entries.offsets[g : g + 2]
        slots, shares = entries.slot[lo:hi].tolist(), entries.share[lo:hi]
        plain.start = day[g] if plain.start is None else plain.start
        _, _, _, _, _, A, fresh, F = plain.entered(day[g], slots, shares, KIND[slots])
        _, Q, _ = plain.at(day[g], [*slots, 0] if fresh else slots)
        added = np.diag(Q) - np.diag(F) ** 2 * np.diag(plain.C)
        for k in range(n):
            if F[k, k] != 1.0 or added[k] > 0:
                basis["walk", g, k] = math.sqrt(max(added[k], 0.0))
                part, constant = vector[k]
                vector[k] = ({b: F[k, k] * c for b, c in part.items()} | {("walk", g, k): 1.0}, F[k, k] * constant)
        old = dict(vector)
        for a, e in enumerate(fresh):
            k = slots[e]
            kind = TABLE[KIND[k]]
            part, constant = {("own", k): 1.0}, 0.0
            basis["own", k] = math.sqrt(kind.prior)
            if kind.common:
                key = ("common", g, shares[e] > 0)
                basis[key] = math.sqrt(kind.common * kind.prior)
                part[key] = 1.0
            for ref in np.flatnonzero(A[a]):
                for b, c in old[ref][0].items():
                    part[b] = part.get(b, 0.0) + A[a, ref] * c
                constant += A[a, ref] * old[ref][1]
            vector[k] = (part, constant)
        if weight[g] > 0:
            total, constant = {("noise", g): 1.0}, 0.0
            basis["noise", g] = math.sqrt(NOISE / weight[g])
            for k, w in zip(slots, shares):
                for b, c in vector[k][0].items():
                    total[b] = total.get(b, 0.0) + w * c
                constant += w * vector[k][1]
            A_rows.append(total)
            mean_rows.append(constant)
            seen.append(y[g])
        plain.play(day[g], weight[g], y[g], slots, shares)
        if g == stop - 1:
            moment = [vector[k] for k in there]
    keys = {b: k for k, b in enumerate(basis)}
    M = np.zeros((len(A_rows) + len(moment), len(keys)))
    for k, part in enumerate(A_rows + [part for part, _ in moment]):
        for b, c in part.items():
            M[k, keys[b]] = c * basis[b]
    m = len(A_rows)
    gain = M[m:] @ M[:m].T @ np.linalg.inv(M[:m] @ M[:m].T)
    mean = np.array([constant for _, constant in moment]) + gain @ (np.array(seen) - np.array(mean_rows))
    return mean, M[m:] @ M[m:].T - gain @ M[:m] @ M[m:].T


def test_entries_from_columns():
    slots = np.array([4, 5, 6])
    plain = entries_of([(slots, 1.0, None), (slots + 3, -1.0, None)])
    assert plain.offsets.tolist() == [0, 2, 4, 6] and plain.slot.tolist() == [4, 7, 5, 8, 6, 9]
    some = entries_of([(slots, 1.0, None), (slots + 3, -1.0, np.array([True, False, True]))])
    assert some.slot.tolist() == [4, 7, 5, 6, 9] and some.of(1, 3).slot.tolist() == [5, 6, 9]
