"""What a question over HTTP may hold: every limit from both sides, and what holds where nothing is said."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
from pydantic import TypeAdapter, ValidationError

from kinelo.errors import InputError
from kinelo.service import wording as say
from kinelo.service.settings import Settings

# The least and the most of a number; of lists, of how many.
NUMBERS = {
    (say.Match, "result"): (0.0, 1.0), (say.Match, "margin"): (-1e9, 1e9), (say.Match, "weight"): (0.0, 1e6),
    (say.Present, "sides"): (2, 100), (say.Present, "newcomers"): (0, 1_000_000), (say.Present, "best"): (1, 50),
    (say.Wanted, "count"): (1, 1000), (say.Wanted, "at_most"): (1, 1000), (say.Wanted, "size"): (2, 100),
    (say.Due, "after"): (1, 1_000_000_000), (say.Whose, "last"): (1, 50),
    (say.SeasonToClose, "reset"): (0.0, 1.0), (say.SeasonToClose, "moves"): (0.0, 1e6),
    (say.Waiting, "waited"): (0.0, 1e9), (say.Queue, "sides"): (2, 100), (say.Queue, "size"): (1, 100),
    (say.Queue, "patience"): (0.0, 1e9), (say.Queue, "good"): (0.0, 1.0),
    (say.TierRule, "divisions"): (1, 20), (say.TierRule, "margin"): (0.0, 1e6), (say.TierRule, "decay"): (0.0, 1e6),
    (say.TierRule, "placement"): (0, 1_000_000), (say.TierRule, "decay_after"): (0, 100_000),
    (say.TierRule, "decay_most"): (0.0, 1e6), (say.TierRule, "every"): (1, 400),
}  # fmt: skip
LISTS = {
    (say.Match, "home_lineup"): (0, 100), (say.Match, "away_lineup"): (0, 100), (say.Fixture, "home_lineup"): (0, 100),
    (say.Fixture, "away_lineup"): (0, 100), (say.FieldToCome, "entrants"): (2, 500), (say.Contest, "order"): (1, 500),
    (say.Contest, "unfinished"): (0, 500), (say.Candidates, "candidates"): (1, 1000),
    (say.Wanted, "candidates"): (0, 1000), (say.WhichMatch, "of"): (0, 100), (say.Waiting, "players"): (1, 100),
    (say.Waiting, "regions"): (0, 100), (say.Present, "players"): (2, 200),
}  # fmt: skip
BASE = say.EXAMPLES | {say.Waiting: {"players": ["Ann"]}}


def taken(shape, **more) -> bool:
    try:
        shape.model_validate(BASE[shape] | more)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("shape", "field"), NUMBERS)
def test_a_number_is_taken_up_to_both_ends_and_no_further(shape, field):
    low, high = NUMBERS[shape, field]
    step = 1 if isinstance(low, int) else max(1e-9, 1e-9 * high)
    assert taken(shape, **{field: low}) and taken(shape, **{field: high})
    assert not taken(shape, **{field: low - step}) and not taken(shape, **{field: high + step})
    assert not taken(shape, **{field: str(low)}) and not taken(shape, **{field: float("nan")})


@pytest.mark.parametrize(("shape", "field"), LISTS)
def test_a_list_is_as_long_as_is_taken_and_no_longer(shape, field):
    low, high = LISTS[shape, field]
    names = [f"N{k}" for k in range(high + 1)]
    assert taken(shape, **{field: names[:low]}) and taken(shape, **{field: names[:high]})
    assert not taken(shape, **{field: names})
    assert not low or not taken(shape, **{field: names[: low - 1]})


def test_names_days_and_lists_of_matches():
    assert [taken(say.Erased, name=length * "x") for length in (0, 1, 200, 201)] == [False, True, True, False]
    days = {"2024-02-03": True, "2024-2-3": False, "2024-02-03T10:00": False, "x2024-02-03": False}
    assert {day: taken(say.Fixture, date=day) for day in days} == days
    match, contest = BASE[say.Match], BASE[say.Contest]
    for shape, one in ((say.Matches, match), (say.Contests, contest)):
        read = TypeAdapter(shape).validate_python
        assert len(read([one] * 1000)) == 1000 and read([]) == []
        with pytest.raises(ValidationError):
            read([one] * 1001)
    tiers = {f"T{k}": float(k) for k in range(51)}
    for number, right in ((1, False), (2, True), (50, True), (51, False)):
        assert taken(say.TierRule, bounds=dict(list(tiers.items())[:number])) is right


def test_what_holds_where_nothing_is_said():
    present, wanted = say.Present(players=["A", "B"]), say.Wanted()
    assert (present.sides, present.newcomers, present.best) == (2, 0, 5)
    assert (wanted.count, wanted.target, wanted.size) == (10, "leader", 2)
    queue, rule = say.Queue(waiting=[]), say.TierRule(bounds={"a": 1.0, "b": 2.0})
    assert (queue.sides, queue.size, queue.patience, queue.good) == (2, 5, 60.0, 0.97)
    assert (rule.by, rule.divisions, rule.placement, rule.margin) == ("points", 1, 10, 0.0)
    assert (rule.decay, rule.decay_after, rule.decay_most, rule.every) == (0.0, 28, 200.0, 7)
    match = say.Match(match_id="m", home="A", away="B", result=0.5)
    assert (match.weight, match.neutral, match.margin, match.home_lineup) == (1.0, False, None, [])


SETTINGS = {
    "port": (0, 65535, "--port must lie between 0 and 65535, not at {}."),
    "workers": (1, 64, "--workers must lie between 1 and 64, not at {}."),
    "refit_every": (1, None, "--refit-every must be at least 1, not {}."),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_service_is_set_up_to_both_ends_and_no_further(name, monkeypatch):
    monkeypatch.delenv("KINELO_TOKEN", raising=False)
    low, high, sentence = SETTINGS[name]
    for value in (low, high or 10**6):
        assert getattr(Settings("b.db", **{name: value}), name) == value
    for value in (low - 1, *([] if high is None else [high + 1])):
        with pytest.raises(InputError) as refused:
            Settings("b.db", **{name: value})
        assert str(refused.value) == sentence.format(value)


def test_a_token_has_sixteen_letters_at_least(monkeypatch):
    assert Settings("b.db", token=16 * "x").token == 16 * "x"
    with pytest.raises(InputError, match="is shorter than 16 letters"):
        Settings("b.db", token=15 * "x")
    monkeypatch.delenv("KINELO_TOKEN", raising=False)
    plain = Settings("b.db")
    assert (plain.port, plain.workers, plain.most_bytes, plain.host) == (8000, 1, 1_048_576, "127.0.0.1")
    assert Settings("b.db", host="::1", port=9).address == "http://[::1]:9"
