"""The random stream: 10⁸ draws tested for uniformity, serial independence, and independence of realisations.

Chi-square tests on every byte of a draw, on pairs of consecutive draws and on pairs from neighbouring realisations;
18 tests, each at level 1e-6: a false alarm of the whole study has probability below 2e-5.
"""

import sys

import numpy as np
from numba import njit
from scipy.stats import chi2

from kinelo.play.stream import draw, realisation_keys

DRAWS = 100_000_000
ERROR = 1e-6


@njit(cache=True)
def tally(key, other, draws):
    single = np.zeros((8, 256), np.int64)
    serial = np.zeros((5, 256, 256), np.int64)
    across = np.zeros((5, 256, 256), np.int64)
    previous = draw(key[0], key[1], np.uint64(0))
    for k in range(1, draws + 1):
        bits = draw(key[0], key[1], np.uint64(k))
        neighbour = draw(other[0], other[1], np.uint64(k))
        for byte in range(8):
            single[byte, (bits >> np.uint64(8 * byte)) & np.uint64(255)] += 1
        for part in range(5):
            shift = np.uint64(14 * part)
            serial[part, (previous >> shift) & np.uint64(255), (bits >> shift) & np.uint64(255)] += 1
            across[part, (bits >> shift) & np.uint64(255), (neighbour >> shift) & np.uint64(255)] += 1
        previous = bits
    return single, serial, across


def main() -> int:
    keys = realisation_keys(1, 2)
    tables = tally(keys[0], keys[1], DRAWS)
    smallest = 1.0
    for name, table in zip(("bytes", "consecutive draws", "neighbouring realisations"), tables, strict=True):
        for counts in table:
            expected = DRAWS / counts.size
            p = float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1))
            smallest = min(smallest, p, 1 - p)
            print(f"{name:26} p-value {p:.4f}")
    holds = smallest > ERROR
    print(f"uniform and independent: {'not refuted' if holds else 'REFUTED'} (threshold {ERROR:g} on either side)")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
