"""The band of a calibration table holds what it says: 95 of 100 frequencies of a calibrated forecast."""

import numpy as np

import kinelo as kn


def test_the_band_covers_ninety_five_of_a_hundred():
    """Results drawn from the forecasts themselves, 40 seasons of 2,000 matches.

    About 1,000 cells of at least 50 matches: the share within the band has a standard error of 0.007, so a true
    coverage of 0.95 fails here once in 10,000 seeds.
    """
    rng, inside = np.random.default_rng(5), []
    for _ in range(40):
        p = rng.dirichlet([2.0, 1.0, 2.0], 2000)
        drawn = (rng.random(2000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
        table = {"home": ["A"] * 2000, "away": ["B"] * 2000, "result": 1 - drawn / 2}
        test = kn.forecasts.Backtest(kn.read_matches(table), {"truth": kn.forecasts.Forecast(p)}, {}, {"truth": 0.0})
        for row in test.calibration("truth").iter_rows(named=True):
            if row["matches"] >= 50:
                inside.append(row["low"] <= row["frequency"] <= row["high"])
    assert abs(np.mean(inside) - 0.95) < 0.027
