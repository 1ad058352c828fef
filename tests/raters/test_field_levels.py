"""The level of a field, which places do not show, is drawn to that of all contests where fields are alike; who is new
begins beside the others or at a level of its own and gains by experience, and who takes part moves.
"""

import numpy as np
import pytest

import kinelo as kn
from kinelo.forecasts.contest_scores import order_log_loss

GIVEN = {"walk": 0.4, "prior_spread": 1.0, "newcomer": -0.3, "regression": 0.0, "retirement": 0.2, "off": 0.03}


def races(learns, contests=130, size=40, seed=1):
    """Weekly contests of a population that is replaced within months, of which two halves come by turns of a quarter.

    Newcomers begin a unit below the others and gain ``learns`` of it in some ten contests.
    """
    rng = np.random.default_rng(seed)
    people, known = 3 * size, 3 * size
    name, strength, seen = list(range(people)), rng.normal(size=people), np.full(people, 50)
    rows = {"race": [], "date": [], "driver": [], "place": []}
    for c in range(contests):
        for k in np.flatnonzero(rng.random(people) < 0.06):
            name[k], strength[k], seen[k], known = known, rng.normal() - 1.0, 0, known + 1
        half = np.flatnonzero(np.arange(people) % 2 == c // 13 % 2)
        chosen = rng.choice(half, size, replace=False)
        strength[chosen] += learns * np.exp(-seen[chosen] / 8.0) * (1.0 - np.exp(-1.0 / 8.0))
        seen[chosen] += 1
        order = chosen[np.argsort(-(strength[chosen] + rng.normal(size=size)))]
        rows["race"] += [c] * size
        rows["date"] += [str(np.datetime64("2020-01-06") + 7 * c)] * size
        rows["driver"] += [f"D{name[k]}" for k in order]
        rows["place"] += range(1, size + 1)
    return kn.read_contests(rows)


def test_performances_are_read_higher_by_a_part_of_the_way_to_the_level_of_all():
    """With one slot an entrant, what a place shows as precision lowers the variance by its square, and lifts by it."""
    contests = races(0.0, contests=6, size=9)
    plain, drawn = (kn.RankElo(**GIVEN, anchor=0.0, experience=0.0).update(contests[:5]) for _ in range(2))
    drawn.parameters_["anchor"] = 0.4
    forecast = plain.predict(contests[5])
    variance = forecast.deviation**2 - 1.0
    lift = -0.4 * 9 / (9 + 20 * 0.4) * forecast.mean.mean()
    after = []
    for rater in (plain, drawn):
        state = rater.update(contests[5])._state
        own = [state.index["driver", contests.entrants[code]] for code in contests[5].entrant]
        after.append((state.known.x[own, 0], state.known.v[own, 0]))
    assert after[1][1] == pytest.approx(after[0][1], abs=1e-12)  # the level tells nothing of how sure a rating is
    gain = (variance - after[0][1]) / variance
    assert after[1][0] - after[0][0] == pytest.approx(gain * lift, rel=1e-6)
    assert abs(lift) > 0.01 and gain.min() < 0.8 * gain.max()


@pytest.mark.parametrize(
    ("learns", "seed"), [(1.0, 1), *(pytest.param(*other, marks=pytest.mark.long) for other in ((1.0, 2), (0.0, 3)))]
)
def test_the_level_is_held_where_newcomers_learn_and_nothing_is_lost_where_not(learns, seed):
    """Gains of the log-loss of orders (.0023, .0019) are seen at 2.3 standard errors, a chance of one in a hundred."""
    contests = races(learns, contests=200, seed=seed)
    given = {"retirement": 0.0, "off": 0.0, "newcomer_follows": 1.0, "contest_walk": 0.0}
    free, held = (kn.RankElo(**given, anchor=a, experience=0.0).fit(contests[:100]) for a in (0.0, None))
    gain = np.subtract(*(order_log_loss(rater.one_step_ahead(contests[100:])) for rater in (free, held)))
    error = gain.std() / np.sqrt(gain.size)
    if learns:
        assert held.parameters_["anchor"] > 0.1 and gain.mean() > 2.3 * error > 0.0
    else:
        assert abs(gain.mean()) < 5e-4 and gain.mean() > -2.6 * error


def test_nothing_is_drawn_where_two_meet_or_ratings_say_the_level():
    contests = races(1.0, contests=12, size=8)
    begun = kn.RankElo(start={"D10": 1700.0}, walk=0.3, off=0.0, regression=0.0, newcomer=0.0)
    begun.fit(contests)
    duels = kn.RankElo(walk=0.3, regression=0.0, newcomer=0.0).fit(races(1.0, contests=30, size=2))
    for rater in (begun, duels):
        for name, value in (("anchor", 0.0), ("newcomer_follows", 1.0), ("experience", 0.0)):
            assert rater.parameters_[name] == value and name not in rater.estimates_.values
    assert duels.parameters_["contest_walk"] == 0.0 and "contest_walk" not in duels.estimates_.values


def test_estimates_stored_before_there_were_all_parameters_keep_their_meaning():
    rater = kn.RankElo().update(races(0.0, contests=3, size=5))
    rater._reset({"walk": 0.3, "newcomer": -0.2})
    assert rater.parameters_["contest_walk"] == 0.0 and rater.parameters_["newcomer_follows"] == 1.0


@pytest.mark.parametrize("name", ["newcomer_follows", "off"])
def test_a_part_is_at_most_all(name):
    with pytest.raises(kn.InputError, match=f"{name} is a finite number of at least 0 and at most 1"):
        kn.RankElo(**{name: 1.01})


def test_each_contest_adds_less_to_who_has_seen_more_of_them():
    """Two thirds of it come in ten contests, all of it in very many: 0.6 (e^{−(n − 1)/10} − e^{−n/10}) after n."""
    contests = races(0.0, contests=30, size=9)
    rater = kn.RankElo(**GIVEN, anchor=0.0, experience=0.0).update(contests[:29])
    before = rater.predict(contests[29]).mean
    rater.parameters_["experience"] = 0.6
    after = rater.predict(contests[29]).mean
    seen = np.bincount(contests[:29].entrant, minlength=len(contests.entrants))[contests[29].entrant]
    gain = 0.6 * (np.exp(-(seen - 1) / 10.0) - np.exp(-seen / 10.0))
    known = seen > 0
    assert (after - before)[known] == pytest.approx(gain[known], abs=1e-12)
    assert (after - before)[~known] == pytest.approx(gain[known].mean(), abs=1e-12)  # newcomers begin beside the others
    assert 0 < known.sum() < 9 and len(set(seen)) > 3


@pytest.mark.parametrize(("learns", "seed"), [(1.0, 1), pytest.param(0.0, 3, marks=pytest.mark.long)])
def test_what_newcomers_gain_is_found_and_nothing_is_lost_where_they_gain_nothing(learns, seed):
    """Gains of the log-loss of orders are seen at 2.3 standard errors, a chance of one in a hundred."""
    contests = races(learns, contests=200, seed=seed)
    given = {"retirement": 0.0, "off": 0.0, "newcomer_follows": 1.0, "contest_walk": 0.0}
    without, found = (kn.RankElo(**given, anchor=0.0, experience=e) for e in (0.0, None))
    gain = np.subtract(
        *(order_log_loss(r.fit(contests[:100]).one_step_ahead(contests[100:])) for r in (without, found))
    )
    value, spread = found.parameters_["experience"], found.estimates_.standard_errors["experience"]
    error = gain.std() / np.sqrt(gain.size)
    assert abs(value - learns) < 3.0 * spread < 1.0
    if learns:
        assert gain.mean() > 2.3 * error > 0.0
    else:
        assert abs(gain.mean()) < 5e-4 and gain.mean() > -2.6 * error


def test_a_contest_adds_to_the_variance_of_who_has_taken_part_before():
    contests = races(0.0, contests=6, size=9)
    rater = kn.RankElo(**GIVEN, anchor=0.0, experience=0.0, contest_walk=0.0).update(contests[:5])
    before = rater.predict(contests[5])
    rater.parameters_["contest_walk"] = 0.3
    after = rater.predict(contests[5])
    known = np.isin(contests[5].entrant, contests[:5].entrant)
    assert after.deviation**2 - before.deviation**2 == pytest.approx(np.where(known, 0.09, 0.0), abs=1e-12)
    assert after.mean == pytest.approx(before.mean, abs=1e-12) and 0 < known.sum() < 9


def keen_and_rare(moves, contests=160, size=40, seed=1):
    """Weekly contests to which half of all come often and half seldom, a fifth being new; strengths move by ``moves``
    with each contest taken part in.
    """
    rng = np.random.default_rng(seed)
    people = known = 6 * size
    strength, keen, name = rng.normal(size=people), np.where(np.arange(people) % 2, 1.0, 0.1), list(range(people))
    rows = {"race": [], "date": [], "driver": [], "place": []}
    for c in range(contests):
        chosen = rng.choice(people, size, replace=False, p=keen / keen.sum())
        strength[chosen] += moves * rng.normal(size=size)
        for k in chosen[: size // 5]:
            name[k], strength[k], known = known, rng.normal(), known + 1
        order = chosen[np.argsort(-(strength[chosen] + rng.normal(size=size)))]
        rows["race"] += [c] * size
        rows["date"] += [str(np.datetime64("2020-01-06") + 7 * c)] * size
        rows["driver"] += [f"D{name[k]}" for k in order]
        rows["place"] += range(1, size + 1)
    return kn.read_contests(rows)


@pytest.mark.parametrize(("moves", "seed"), [(0.3, 2), pytest.param(0.0, 1, marks=pytest.mark.long)])
def test_whether_strengths_move_with_contests_taken_part_in_is_found(moves, seed):
    """Within three standard errors of the truth, a chance of three in a thousand."""
    given = {"prior_spread": 1.0, "regression": 0.0, "retirement": 0.0, "off": 0.0, "anchor": 0.0, "experience": 0.0}
    found = kn.RankElo(**given, newcomer=0.0, newcomer_follows=1.0).fit(keen_and_rare(moves, seed=seed))
    value, error = (said["contest_walk"] for said in (found.parameters_, found.estimates_.standard_errors))
    if moves:
        assert abs(value - moves) < 3.0 * error < 0.2
    else:
        assert value < 0.08


def fields(belong, contests=120, size=24, seed=1):
    """Contests now of the strong, now of the weak, a quarter of each field new: whoever comes, or such as belong."""
    rng = np.random.default_rng(seed)
    strength, rows = list(rng.normal(size=200)), {"race": [], "date": [], "driver": [], "place": []}
    for c in range(contests):
        known = np.array(strength)
        weight = np.exp(1.2 * rng.normal() * known)
        chosen = rng.choice(known.size, size - size // 4, replace=False, p=weight / weight.sum()).tolist()
        level = known[chosen].mean() if belong else 0.0
        chosen += range(known.size, known.size + size // 4)
        strength += (level - 0.3 + 0.7 * rng.normal(size=size // 4)).tolist()
        shown = np.array(strength)[chosen] + rng.normal(size=size)
        rows["race"] += [c] * size
        rows["date"] += [str(np.datetime64("2020-01-06") + 7 * c)] * size
        rows["driver"] += [f"D{chosen[k]}" for k in np.argsort(-shown)]
        rows["place"] += range(1, size + 1)
    return kn.read_contests(rows)


def test_newcomers_begin_at_a_part_of_the_level_of_the_known_of_their_first_field():
    contests = fields(False, contests=9)
    rater = kn.RankElo(**GIVEN, anchor=0.0, experience=0.0).update(contests[:8])
    known = np.isin(contests[8].entrant, contests[:8].entrant)
    began = []
    for part in (0.0, 0.4, 1.0):
        rater.parameters_["newcomer_follows"] = part
        mean = rater.predict(contests[8]).mean
        began.append(mean[~known])
        assert began[-1] == pytest.approx(part * mean[known].mean() - 0.3, abs=1e-12)
    assert 0 < known.sum() < 24 and abs(began[0] - began[2]).min() > 0.1


@pytest.mark.parametrize(("belong", "seed"), [(False, 1), (True, 2)])
def test_where_anybody_enters_any_field_newcomers_begin_at_their_own_level(belong, seed):
    """A gain of the log-loss of orders of .02 is seen at 2.3 standard errors, a chance of one in a hundred; where
    newcomers belong to the fields they enter, nothing is lost."""
    contests = fields(belong, seed=seed)
    given = {"walk": 0.1, "regression": 0.0, "retirement": 0.0, "off": 0.0, "anchor": 0.0, "experience": 0.0}
    given["contest_walk"] = 0.0
    beside, found = (kn.RankElo(**given, newcomer_follows=part).fit(contests[:60]) for part in (1.0, None))
    gain = np.subtract(*(order_log_loss(rater.one_step_ahead(contests[60:])) for rater in (beside, found)))
    error, value = gain.std() / np.sqrt(gain.size), found.parameters_["newcomer_follows"]
    if belong:
        assert value > 0.8 and gain.mean() >= -2.6 * error
    else:
        assert value < 0.5 and gain.mean() > 2.3 * error > 0.0
