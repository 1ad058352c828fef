"""Tables made or changed by hand are refused unless their columns fit together: compiled loops trust them."""

from dataclasses import fields, replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.matches.contests import Slots, check_contests
from kinelo.matches.matches import check_matches


def matches():
    table = {
        "date": ["2020-01-01", "2020-02-01", "2020-02-01", "2020-03-01"], "home": list("ABCB"), "away": list("BCAA"),
        "home_score": [2, 1, 3, 1], "away_score": [1, 1, 0, 0], "surface": ["clay", "grass", "clay", "clay"],
        "season": ["x", "x", "y", "y"], "home_lineup": [["a", "aa"], ["b"], ["c", "cc"], ["b"]],
        "away_lineup": [["b", "bb"], ["c"], ["a"], ["aa"]], "match_id": ["p", "q", "r", "s"],
    }  # fmt: skip
    return kn.read_matches(table, conditions=["surface"])


def contests():
    table = {
        "date": ["2020-01-01"] * 3 + ["2020-01-02"] * 2, "race": [1, 1, 1, 2, 2], "driver": list("ABCBA"),
        "car": list("XYXYX"), "place": [1, 2, 3, 1, 2],
    }  # fmt: skip
    return kn.read_contests(table, slots=["driver", "car"])


def spoilt(values):
    """An array in the ways in which it may not fit: too short, too long, of another kind or shape, no array."""
    yield from (values[:-1], np.concatenate([values, values[:1]]), values.astype(str), values.astype(complex))
    yield from (values.reshape(1, *values.shape), values.tolist(), None, 5)


def beyond(codes, names):
    """Codes of nobody, in the first place and the last."""
    for place, code in ((0, len(names)), (-1, len(names) + 10**6), (0, -2), (-1, -(10**6))):
        wrong = codes.astype(np.int64)
        wrong.flat[place] = code
        yield wrong


def unsound_matches():
    good = matches()
    optional = {"unordered": np.zeros(4, bool), "total": np.array([3.0, 0.0, np.nan, 5.0])}
    for name in ("date", "home", "away", "result", "margin", "neutral", "weight", "row"):
        yield from ((name, {name: wrong}) for wrong in spoilt(getattr(good, name)))
    for name, column in optional.items():
        yield from ((name, {name: wrong}) for wrong in spoilt(column) if wrong is not None)
    for name in ("home", "away"):
        yield from ((name, {name: wrong}) for wrong in beyond(getattr(good, name), good.teams))
    yield "away", {"away": good.home}
    yield from (("teams", {"teams": wrong}) for wrong in (good.teams[:-1], (), None, (1, 2, 3), "ABC"))
    yield from (("result", {"result": np.array([1.0, 0.5, wrong, 0.0])}) for wrong in (1.5, -0.1, np.inf))
    yield from (("weight", {"weight": np.array([1.0, 1.0, wrong, 1.0])}) for wrong in (-1.0, np.nan, np.inf))
    for day in ("NaT", "1500-01-01", "2300-01-01"):
        yield "date", {"date": np.array([day, *good.date[1:]], "datetime64[D]")}
    yield "date", {"date": good.date.astype("datetime64[ns]")}
    yield "identifiers", {"identifiers": good.identifiers[:-1]}
    for name, part in (("conditions", good.conditions["surface"]), ("season", good.season)):
        for wrong in [*spoilt(part.codes), *beyond(part.codes, part.levels)]:
            changed = replace(part, codes=wrong)
            yield name, {name: {"surface": changed} if name == "conditions" else changed}
    yield from (("conditions", {"conditions": wrong}) for wrong in ({"surface": [1]}, None, 5))
    for name in ("offsets", "player", "minutes", "starter", "role"):
        column = getattr(good.lineups, name)
        names = {"player": good.lineups.players, "role": good.lineups.roles}.get(name)
        for wrong in [*spoilt(column), *(() if names is None else beyond(column, names))]:
            if wrong is not None or name in ("offsets", "player"):
                lineups = object.__new__(type(good.lineups))
                lineups.__dict__.update(good.lineups.__dict__ | {name: wrong})
                yield f"lineups.{name}", {"lineups": lineups}
    for wrong in ([0, 2, 4, 3, 6, 8, 9, 10, 11], [1, 2, 4, 5, 6, 8, 9, 10, 11], [0, 2, 4, 5, 6, 8, 9, 10, 10**9]):
        assert len(wrong) == good.lineups.offsets.size
        yield "lineups.offsets", {"lineups": replace(good.lineups, offsets=np.array(wrong))}
    yield "lineups", {"lineups": [["a"], ["b"]]}


def unsound_contests():
    good = contests()
    for name in ("date", "first", "entrant", "place", "ended", "weight", "row"):
        yield from ((name, {name: wrong}) for wrong in spoilt(getattr(good, name)))
    yield from (("distance", {"distance": wrong}) for wrong in spoilt(good.place) if wrong is not None)
    yield from (("entrant", {"entrant": wrong}) for wrong in beyond(good.entrant, good.entrants))
    yield from (("ended", {"ended": wrong}) for wrong in beyond(good.ended, range(4)))
    for wrong in ([0, 3, 6], [0, 3, 10**9], [0, 7, 5], [1, 3, 5], [0, -3, 5], [0, 0, 5], [0, 5, 5], [0, 3, 4]):
        yield "first", {"first": np.array(wrong)}
    yield "entrant", {"entrant": np.array([0, 1, 0, 1, 0], np.int32)}
    yield from (("place", {"place": np.array([1.0, 2.0, wrong, 1.0, 2.0])}) for wrong in (0.0, -1.0))
    yield from (("identifiers", {"identifiers": wrong}) for wrong in (("1",), ("1", "2", "3")))
    yield "titles", {"titles": ("one",)}
    car = good.slots["car"]
    for wrong in [*spoilt(car.codes), *beyond(car.codes, car.names)]:
        yield "slots", {"slots": {**good.slots, "car": Slots(wrong, car.names)}}
    yield from (("slots", {"slots": wrong}) for wrong in ({}, None, {"car": car.codes}, [car]))
    yield "slots", {"slots": {"car": replace(car, names=())}}


@pytest.mark.parametrize(
    ("make", "check", "changes", "rate"),
    [
        (matches, check_matches, unsound_matches, lambda table: kn.TeamElo.classic(k=20).fit(table)),
        (contests, check_contests, unsound_contests, lambda table: kn.RankElo(walk=0.3).fit(table)),
    ],
    ids=["matches", "contests"],
)
def test_no_unsound_table_reaches_a_loop(make, check, changes, rate):
    good, seen = make(), set()
    check(good)
    for name, change in changes():
        seen.add(name.partition(".")[0])
        table = replace(good, **change)
        for door in (check, rate):
            with pytest.raises(kn.InputError, match="do not hold together: ") as refused:
                door(table)
            assert len(str(refused.value)) < 400 and "\n" not in str(refused.value)
    said_only = {"rejected", "notes", "source", "side_headers", "lineups", "distance", "entrants", "titles"}
    assert {field.name for field in fields(good)} - seen <= said_only


def test_arrays_written_to_after_the_table_was_made_are_seen():
    table = matches()
    table.home[2] = 10**6
    with pytest.raises(kn.InputError, match="home holds the code 1,000,000, and there are 3 names"):
        kn.TeamElo.classic(k=20).fit(table)


def test_parts_of_a_sound_table_are_sound():
    for index in (slice(0, 0), slice(1, 3), np.array([3, 0]), np.array([True, False, True, False])):
        part = matches()[index]
        check_matches(part)
        assert part.result.tolist() == matches().result[index].tolist()
    for index in (slice(0, 0), slice(1, 2), np.array([1, 0])):
        some = contests()[index]
        check_contests(some)
        assert [len(some), *some.day] == [len(contests().day[index]), *contests().day[index]]
    both = kn.matches.Contests.from_matches(matches())
    check_contests(both)
    assert len(both) == len(matches())
