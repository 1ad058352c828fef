"""Contests whose luck differs: a factor of the noise for each level of a circumstance."""

import copy
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import kinelo as kn
from kinelo.errors import InputError

GIVEN = {"walk": 0.3, "prior_spread": 1.0, "newcomer": 0.0, "regression": 0.0, "retirement": 0.2, "off": 0.0}
GIVEN |= {"anchor": 0.0, "experience": 0.0, "contest_walk": 0.0, "newcomer_follows": 1.0}
LUCK = {"road": 1.0, "oval": 2.5, "street": 0.7}


def table_of(contests=240, size=12, luck=LUCK, seed=1):
    """Weekly races on tracks by turns, of which a level is how large the noise is."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=30)
    rows = {"race": [], "date": [], "driver": [], "track": [], "place": []}
    for c in range(contests):
        track = list(luck)[c % len(luck)]
        chosen = rng.choice(30, size, replace=False)
        order = chosen[np.argsort(-(strength[chosen] + luck[track] * rng.normal(size=size)))]
        rows["race"] += [c] * size
        rows["date"] += [str(np.datetime64("2020-01-06") + 7 * c)] * size
        rows["driver"] += [f"D{k}" for k in order]
        rows["track"] += [track] * size
        rows["place"] += range(1, size + 1)
    return rows


def races(**how):
    return kn.read_contests(table_of(**how), slots=["driver"], advantages=["track"])


@pytest.fixture(scope="module")
def fitted():
    contests = races()
    return contests, kn.RankElo(noise_by=["track"]).fit(contests[:160])


def test_factors_are_found(fitted):
    """Ratios of factors within 3.3 standard errors of the truth, each missed once in a thousand; none is rated."""
    _, rater = fitted
    found = {row["level"]: row for row in rater.noise_factors_.to_dicts()}
    log = {level: np.log(row["factor"]) for level, row in found.items()}
    error = {level: np.log(row["high"] / row["low"]) / 2 / 1.2816 for level, row in found.items()}
    for level in ("oval", "street"):
        gap = log[level] - log["road"] - np.log(LUCK[level])
        assert abs(gap) < 3.3 * np.hypot(error[level], error["road"]) < 0.6
    assert found["oval"]["matches"] == 53
    assert set(rater.ratings_["kind"]) == {"driver"} and rater.advantages_.height == 0


def test_winners_and_podiums_are_level_where_luck_differs(fitted):
    """On each track, chances given to favourites against how often they come true: within 2.6 standard errors."""
    contests, rater = fitted
    flat = kn.RankElo().fit(contests[:160].rating("driver"))
    later = contests[160:]
    forecasts = {
        "known": copy.deepcopy(rater).one_step_ahead(later),
        "flat": flat.one_step_ahead(later.rating("driver")),
    }
    track = np.array(later.slots["track"].names)[later.slots["track"].codes[:, 0]]
    gaps = {}
    for name, forecast in forecasts.items():
        table = forecast.to_polars().with_columns(track=pl.Series(track), place=pl.Series(later.place))
        for level in LUCK:
            for column, last in (("win", 1), ("top_3", 3)):
                own = table.filter(pl.col("track") == level)
                chance = own[column].to_numpy()
                hoped = chance > 1.5 * last / 12
                seen = (own["place"].to_numpy() <= last)[hoped]
                error = np.sqrt((chance[hoped] * (1 - chance[hoped])).sum())
                gaps[name, level, column] = (seen.sum() - chance[hoped].sum()) / error
    assert max(abs(gap) for (name, *_), gap in gaps.items() if name == "known") < 2.6
    assert min(gaps["flat", "oval", column] for column in ("win", "top_3")) < -1.6  # one in twenty by chance


def test_luck_never_met_is_as_uncertain_as_levels_differ(fitted):
    """Forecasts of a level that is hardly known are averaged over what its luck may be."""
    contests, rater = fitted
    names = list(contests.entrants[:4])
    known = rater.predict_one(names, conditions={"track": "oval"})
    with pytest.warns(
        kn.KineloWarning, match=r"'hill' is no 'track' that was met \('road', 'oval', 'street'\)"
    ) as said:
        new = rater.predict_one(names, conditions={"track": "hill"})
    assert new.notes == (str(said[0].message).removesuffix("."),) and known.notes == ()
    errors = rater.noise_factors_.filter(level="oval").select((pl.col("high") / pl.col("low")).log() / 2 / ndtri(0.9))
    assert known.luck_error == pytest.approx(np.full(4, errors.item()))
    assert new.luck_error == pytest.approx(np.full(4, rater._noise.spread("track"))) and new.luck[0] == 1.0
    flat = replace(new, luck=None, luck_error=None)
    assert np.abs(flat.win - new.win).max() > 0.003


def test_a_contest_of_more_luck_teaches_less_and_spreads_forecasts():
    contests = races(contests=9)
    rater = kn.RankElo(**GIVEN, noise_by=["track"]).update(contests[:6])
    met = {("track", "oval"): 0, ("track", "road"): 1}
    rater._noise = kn.raters.noise.NoiseFactors(met, np.log([2.0, 1.0]), np.full(2, 0.1), np.array([9, 9]))
    rater._reset(dict(rater.parameters_))
    rater.update(contests[:6])
    one, other = (rater.predict_one(["D1", "D2", "D3"], conditions={"track": t}) for t in ("road", "oval"))
    assert (other.deviation**2 - one.deviation**2) == pytest.approx(3.0) and other.win.max() < one.win.max()
    assert other.mean == pytest.approx(one.mean)
    assert rater.predict_one(["D1", "D2", "D3"]).deviation == pytest.approx(one.deviation)
    learnt = {}
    for level in ("road", "oval"):
        twin = copy.deepcopy(rater).update_one(["D1", "D2", "D3"], conditions={"track": level})
        learnt[level] = np.abs(twin._state.known.x[:, 0] - rater._state.known.x[:, 0]).max()
    assert learnt["oval"] < 0.85 * learnt["road"]


def test_noise_is_kept_in_arrays_and_books(fitted, tmp_path):
    contests, rater = fitted
    again = kn.RankElo(noise_by=["track"])
    again.from_arrays(rater.to_arrays())
    field, where = ["D1", "D2", "D3"], {"track": "oval"}
    expected = rater.predict_one(field, conditions=where).win
    assert (again.predict_one(field, conditions=where).win == expected).all()
    assert again.noise_factors_.equals(rater.noise_factors_)
    book = kn.RatingBook(tmp_path / "races.db", copy.deepcopy(rater))
    book.add(contests[160:200])
    book.add(contests[200:])
    opened = kn.RatingBook(tmp_path / "races.db")
    whole = copy.deepcopy(rater)
    whole._reset(dict(rater.parameters_))
    whole.update(contests[160:])
    assert opened.rater.noise_factors_.equals(rater.noise_factors_)
    assert opened.rater.ratings_.equals(whole.ratings_)


def test_matches_have_circumstances_too():
    rng = np.random.default_rng(4)
    rows = {"home": [], "away": [], "result": [], "format": []}
    strength = rng.normal(size=8)
    for k in range(900):
        a, b = rng.choice(8, 2, replace=False)
        long = k % 2 == 0
        shown = strength[a] - strength[b] + (0.7 if long else 2.0) * rng.normal()
        rows["home"].append(f"T{a}")
        rows["away"].append(f"T{b}")
        rows["result"].append(float(shown > 0))
        rows["format"].append("long" if long else "short")
    matches = kn.read_matches(rows, conditions=["format"])
    rater = kn.RankElo(noise_by=["format"], newcomer=0.0, regression=0.0).fit(matches)
    factor = {row["level"]: row["factor"] for row in rater.noise_factors_.to_dicts()}
    assert factor["short"] > 1.3 * factor["long"]
    coming = kn.read_matches({"home": ["T0"], "away": ["T1"], "format": ["long"]}, played=False, conditions=["format"])
    noise, at = rater._noise, rater._noise.index["format", "long"]

    def told():
        """What is expected of the match, how even it is, and both of a contest."""
        points, there = rater.predict(coming).probabilities[0] @ [1.0, 0.5, 0.0], {"conditions": {"format": "long"}}
        even = kn.match_quality(rater, "T0", "T1", **there), kn.match_quality(rater, ["T0", "T1", "T2"], **there)
        return np.array([points, *even, *rater.predict_one(["T0", "T1", "T2"], **there).win])

    noise.error[at] = 0.9
    said, log, known = told(), noise.log[at], []
    noise.error[at] = 0.0
    for noise.log[at] in (log - 0.9 * 3**0.5, log, log + 0.9 * 3**0.5):
        known.append(told())
    assert said == pytest.approx(np.array([1 / 6, 2 / 3, 1 / 6]) @ known, abs=1e-9)
    assert (np.abs(said - known[1]) > 0.002).all()


def test_circumstances_that_are_not_there_are_refused():
    contests = races(contests=6)
    with pytest.raises(InputError, match=r"'surface' of noise_by was not read; read it with read_contests"):
        kn.RankElo(**GIVEN, noise_by=["surface"]).update(contests)
    table = table_of(contests=6)
    table["track"] = [f"L{k}" for k in range(len(table["track"]))]
    lanes = kn.read_contests(table, slots=["driver"], advantages=["track"])
    with pytest.raises(InputError, match="'track' differs within the contest 0; noise_by takes what is one for all"):
        kn.RankElo(**GIVEN, noise_by=["track"]).update(lanes)
    with pytest.raises(InputError, match="is no column of noise_by; these are: track"):
        kn.RankElo(**GIVEN, noise_by=["track"]).update(contests).predict_one(["D1", "D2"], conditions={"rain": "no"})
