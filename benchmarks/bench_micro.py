"""The simulator against a C loop, against its own literal twin, and at the paper's full scale."""

import ctypes
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from numba import njit

import kinelo as kn
from kinelo.micro.simulate import Sampling
from kinelo.play import encoding
from kinelo.play.stream import realisation_keys

SECTION = "Simulator"
SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05)

C_LOOP = r"""
#include <math.h>
#include <stdint.h>
void play(double *rating, const uint32_t *pairs, const uint64_t *win, uint64_t count,
          uint64_t key_1, uint64_t key_2, uint64_t matches, double gamma, double nu) {
    for (uint64_t match = 0; match < matches; match++) {
        uint64_t z = key_1 + match * 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27) ^ key_2) * 0x94D049BB133111EBull;
        z = z ^ (z >> 31);
        unsigned __int128 product = (unsigned __int128)z * count;
        uint64_t pair = product >> 64, fraction = (uint64_t)product;
        uint32_t i = pairs[pair] >> 16, j = pairs[pair] & 0xFFFF;
        double result = fraction < win[pair] ? 1.0 : -1.0;
        double gain = gamma * (result - B(nu * (rating[i] - rating[j])));
        rating[i] += gain;
        rating[j] -= gain;
    }
}
"""
LIBRARY_TANH = "#define B(x) tanh(x)\n"
SAME_TANH = r"""
#include <math.h>
#include <stdint.h>
#include <string.h>
static inline double B(double x) {
    double a = fabs(x), y = -(a < 350.0 ? a : 350.0), n = y * 1.4426950408889634 + 6755399441055744.0, s;
    uint64_t k;
    memcpy(&k, &n, 8);
    n -= 6755399441055744.0;
    double r = (y - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10, p = 1.6059043836821613e-10;
    p = p * r + 2.08767569878681e-09; p = p * r + 2.505210838544172e-08; p = p * r + 2.755731922398589e-07;
    p = p * r + 2.7557319223985893e-06; p = p * r + 2.48015873015873e-05; p = p * r + 0.0001984126984126984;
    p = p * r + 0.001388888888888889; p = p * r + 0.008333333333333333; p = p * r + 0.041666666666666664;
    p = p * r + 0.16666666666666666; p = p * r + 0.5;
    k = (k + 1023) << 52;
    memcpy(&s, &k, 8);
    double t = (1.0 + (r + r * r * p)) * s, q = t * t;
    return copysign((1.0 - q) / (1.0 + q), x);
}
"""

AVX_512 = r"""
#include <immintrin.h>
#include <stdint.h>
#define V 3
#define LANES (8 * V)
typedef __m512i I;
typedef __m512d D;
static inline I word(uint64_t a) { return _mm512_set1_epi64((long long)a); }
static inline D real(double a) { return _mm512_set1_pd(a); }
static inline D times_plus(D p, D r, double c) { return _mm512_add_pd(_mm512_mul_pd(p, r), real(c)); }
static inline D B(D x) {
    const D sign = _mm512_castsi512_pd(word(0x8000000000000000ull)), one = real(1.0);
    D y = _mm512_or_pd(_mm512_min_pd(_mm512_andnot_pd(sign, x), real(350.0)), sign);
    D n = times_plus(y, real(1.4426950408889634), 6755399441055744.0);
    I k = _mm512_castpd_si512(n);
    n = _mm512_sub_pd(n, real(6755399441055744.0));
    D r = _mm512_sub_pd(_mm512_sub_pd(y, _mm512_mul_pd(n, real(6.93147180369123816490e-01))),
                        _mm512_mul_pd(n, real(1.90821492927058770002e-10)));
    D p = real(1.6059043836821613e-10);
    p = times_plus(p, r, 2.08767569878681e-09); p = times_plus(p, r, 2.505210838544172e-08);
    p = times_plus(p, r, 2.755731922398589e-07); p = times_plus(p, r, 2.7557319223985893e-06);
    p = times_plus(p, r, 2.48015873015873e-05); p = times_plus(p, r, 0.0001984126984126984);
    p = times_plus(p, r, 0.001388888888888889); p = times_plus(p, r, 0.008333333333333333);
    p = times_plus(p, r, 0.041666666666666664); p = times_plus(p, r, 0.16666666666666666);
    p = times_plus(p, r, 0.5);
    D s = _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(k, word(1023)), 52));
    D t = _mm512_mul_pd(
        _mm512_add_pd(one, _mm512_add_pd(r, _mm512_mul_pd(_mm512_mul_pd(r, r), p))), s), q = _mm512_mul_pd(t, t);
    D b = _mm512_div_pd(_mm512_sub_pd(one, q), _mm512_add_pd(one, q));
    return _mm512_or_pd(b, _mm512_and_pd(sign, x));
}
void play(double *rating, const uint32_t *pairs, const uint64_t *win, uint64_t count,
          const uint64_t *key_1, const uint64_t *key_2, uint64_t matches, double gamma, double nu) {
    I one[V], two[V], lane[V];
    for (int v = 0; v < V; v++) {
        one[v] = _mm512_loadu_si512(key_1 + 8 * v);
        two[v] = _mm512_loadu_si512(key_2 + 8 * v);
        lane[v] = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), word(8 * v));
    }
    const I low = word(0xFFFFFFFFull), pairs_of_all = word(count);
    for (uint64_t match = 0; match < matches; match++) {
        for (int v = 0; v < V; v++) {
            I z = _mm512_add_epi64(one[v], word(match * 0x9E3779B97F4A7C15ull));
            z = _mm512_mullo_epi64(_mm512_xor_epi64(z, _mm512_srli_epi64(z, 30)), word(0xBF58476D1CE4E5B9ull));
            z = _mm512_xor_epi64(_mm512_xor_epi64(z, _mm512_srli_epi64(z, 27)), two[v]);
            z = _mm512_mullo_epi64(z, word(0x94D049BB133111EBull));
            z = _mm512_xor_epi64(z, _mm512_srli_epi64(z, 31));
            I below = _mm512_mul_epu32(z, pairs_of_all);
            I above = _mm512_add_epi64(
                _mm512_mul_epu32(_mm512_srli_epi64(z, 32), pairs_of_all), _mm512_srli_epi64(below, 32));
            I pair = _mm512_srli_epi64(above, 32);
            I fraction = _mm512_or_epi64(_mm512_slli_epi64(above, 32), _mm512_and_epi64(below, low));
            I both = _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(pair, pairs, 4));
            I i = _mm512_srli_epi64(both, 16), j = _mm512_and_epi64(both, word(0xFFFF));
            __mmask8 won = _mm512_cmplt_epu64_mask(fraction, _mm512_i64gather_epi64(pair, win, 8));
            i = _mm512_add_epi64(_mm512_mul_epu32(i, word(LANES)), lane[v]);
            j = _mm512_add_epi64(_mm512_mul_epu32(j, word(LANES)), lane[v]);
            D mine = _mm512_i64gather_pd(i, rating, 8), theirs = _mm512_i64gather_pd(j, rating, 8);
            D b = B(_mm512_mul_pd(real(nu), _mm512_sub_pd(mine, theirs)));
            D result = _mm512_mask_blend_pd(won, real(-1.0), real(1.0));
            D gain = _mm512_mul_pd(real(gamma), _mm512_sub_pd(result, b));
            _mm512_i64scatter_pd(rating, i, _mm512_add_pd(mine, gain), 8);
            _mm512_i64scatter_pd(rating, j, _mm512_sub_pd(theirs, gain), 8);
        }
    }
}
"""
VECTORS = 24
"""Realisations of the hand-written loop: three vectors."""


def best_of(call, repeats=3, clock=time.process_time):
    """Least time of a few calls; processor time, so that other work on the machine counts as little as it can."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def c_loop(tmp_path, name, prelude, strengths, matches):
    """A straightforward C loop over the same tables and the same stream."""
    source, binary = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
    source.write_text(prelude + C_LOOP)
    command = ["gcc", "-O3", "-ffp-contract=off", "-shared", "-fPIC", str(source), "-o", str(binary), "-lm"]
    subprocess.run(command, check=True)
    play = ctypes.CDLL(str(binary)).play
    table = encoding.result_table(SYSTEM.outcome, strengths)
    (key_1, key_2) = realisation_keys(1, 1)[0]
    rating = np.full(strengths.teams, 7.0)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731

    def run():
        rating[:] = 7.0
        play(
            pointer(rating), pointer(table.pairs), pointer(table.win), ctypes.c_uint64(len(table.win)),
            ctypes.c_uint64(int(key_1)), ctypes.c_uint64(int(key_2)), ctypes.c_uint64(matches),
            ctypes.c_double(SYSTEM.gamma), ctypes.c_double(SYSTEM.outcome.nu),
        )  # fmt: skip

    return run


def avx_512_loop(tmp_path, strengths, matches):
    """The same arithmetic written by hand in AVX-512, VECTORS realisations at once; it must end at our bytes."""
    source, binary = tmp_path / "v.c", tmp_path / "v.so"
    source.write_text(AVX_512)
    command = ["gcc", "-O3", "-ffp-contract=off", "-march=native", "-shared", "-fPIC", str(source), "-o", str(binary)]
    subprocess.run(command, check=True)
    play = ctypes.CDLL(str(binary)).play
    table = encoding.result_table(SYSTEM.outcome, strengths)
    keys = np.ascontiguousarray(realisation_keys(1, VECTORS).T)
    rating = np.full((strengths.teams, VECTORS), 7.0)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731

    def run(count=matches // VECTORS):
        rating[:] = 7.0
        play(
            pointer(rating), pointer(table.pairs), pointer(table.win), ctypes.c_uint64(len(table.win)),
            pointer(keys[0]), pointer(keys[1]), ctypes.c_uint64(count), ctypes.c_double(SYSTEM.gamma),
            ctypes.c_double(SYSTEM.outcome.nu),
        )  # fmt: skip
        return rating

    start = np.full(strengths.teams, 7.0)
    *_, ours = kn.micro.simulation_states(SYSTEM, strengths, stops=[400], realisations=VECTORS, seed=1, start=start)
    assert run(400 * 25).T.tobytes() == ours.rating.tobytes()
    return run


def has_avx_512():
    try:
        return "avx512dq" in open("/proc/cpuinfo", encoding="ascii").read()
    except OSError:
        return False


@njit
def plain_literal(rating, rho, m, matches, gamma, nu):
    """The literal model as one would first write it: shuffle both squads, add up the line-ups, toss the result."""
    teams, players = rho.shape
    first, second = np.arange(players), np.arange(players)
    for _ in range(matches):
        i = np.random.randint(teams)
        j = np.random.randint(teams - 1)
        j += j >= i
        np.random.shuffle(first)
        np.random.shuffle(second)
        z = 0.0
        for k in range(m):
            z += rho[i, first[k]] - rho[j, second[k]]
        result = 1.0 if np.random.random() < (1 + np.tanh(nu * z)) / 2 else -1.0
        gain = gamma * (result - np.tanh(nu * (rating[i] - rating[j])))
        rating[i] += gain
        rating[j] -= gain


def our_loop(strengths, realisations, matches, sampling: Sampling = "marginal"):
    """``kn.simulate`` on one thread."""
    steps = matches // (25 * realisations)
    return lambda: kn.simulate(
        SYSTEM, strengths, steps=steps, realisations=realisations, seed=1, threads=1, sampling=sampling
    )


def in_turns(loops, rounds=6):
    """Nanoseconds per match of each loop: all take turns, so that a slow spell of the machine hits all, best round."""
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(rounds + 1):  # the first round compiles
        for name, (call, matches) in loops.items():
            best[name] = min(best[name], best_of(call, 1) / matches * 1e9)
    return best


def test_micro_speed_on_one_core(table, tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: the C loop cannot be compiled")
    strengths = kn.paper.setup_r2()
    rows = table(SECTION)
    rows.note = "N = 200, w ≡ 1, ν = 0.5, γ = 0.05; one core unless said otherwise; processor time, best of six turns."
    many, few = 50_000_000, 200_000
    by_hand = {}
    if has_avx_512():
        by_hand["C loop by hand in AVX-512, the same arithmetic, 24 realisations"] = (
            avx_512_loop(tmp_path, strengths, many), many // VECTORS * VECTORS,
        )  # fmt: skip
    time_of = in_turns(
        {
            "C loop -O3, tanh of the C library": (c_loop(tmp_path, "a", LIBRARY_TANH, strengths, many // 5), many // 5),
            "C loop -O3, the same arithmetic": (c_loop(tmp_path, "b", SAME_TANH, strengths, many // 5), many // 5),
            "kn.simulate, 50 realisations": (our_loop(strengths, 50, many), many),
            "kn.simulate, 1 realisation": (our_loop(strengths, 1, many // 2), many // 2),
            "kn.simulate, literal, 11 of 23": (our_loop(strengths, 16, few, "literal"), few),
            "plain literal loop in Numba, 11 of 23": (
                lambda: plain_literal(np.full(200, 7.0), strengths.rho, 11, few, 0.05, 0.5),
                few,
            ),
            **by_hand,
        }
    )
    for name, nanoseconds in time_of.items():
        rows.row(name, f"{nanoseconds:.1f} ns per match")
    _, same, marginal, one, literal, plain, *best = time_of.values()
    if best:
        rows.row("C loop by hand in AVX-512 / 50 realisations", f"{best[0] / marginal:.2f}")
    rows.row("C loop, same arithmetic / 50 realisations", f"{same / marginal:.2f}", "≥ 1", same >= marginal)
    rows.row("C loop, same arithmetic / 1 realisation", f"{same / one:.2f}", "≥ 1", same >= one)
    rows.row("plain literal loop / marginal", f"{plain / marginal:.0f}", "≥ 80", plain >= 80 * marginal)
    rows.row("our literal loop / marginal", f"{literal / marginal:.0f}")


def test_micro_full_scale(table):
    strengths = kn.paper.setup_r2()
    kn.simulate(SYSTEM, strengths, steps=1, realisations=50, seed=1)
    start = time.perf_counter()
    kn.simulate(SYSTEM, strengths, steps=2_000_000, realisations=50, seed=1)
    seconds = time.perf_counter() - start
    table(SECTION).row("set-up R2 in full, 2.5·10⁹ matches, all cores", f"{seconds:.1f} s", "< 60 s", seconds < 60)


def test_micro_start_up(table):
    def seconds(*command):
        call = lambda: subprocess.run([sys.executable, *command], check=True, capture_output=True)  # noqa: E731
        return best_of(call, 5, time.perf_counter)

    bare = seconds("-c", "pass")
    importing = seconds("-c", "import kinelo")
    helping = seconds("-m", "kinelo.cli", "--help")
    rows = table("Start-up")
    rows.row("kinelo --help", f"{helping:.3f} s (bare Python {bare:.3f} s)", "< 0.3 s", helping < 0.3)
    rows.row("import kinelo", f"{importing:.3f} s", "< 0.15 s", importing < 0.15)
    code = "import kinelo as kn; kn.simulate(kn.RatingSystem(kn.Tanh(.5)), kn.Fixed([0., 1.]), steps=1, seed=1)"
    first = seconds("-c", code)
    rows.row("first simulation of a new process, compiled code cached", f"{first:.2f} s")
