"""The live run and its rhythm: the same numbers as the library's, and never more than one frame under way."""

from __future__ import annotations

import asyncio
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.errors import InputError
from kinelo.lab.control import Control, Options
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.explorer import FIRST_SPEED, Explorer, Pacer, Pools
from kinelo.lab.explore.live import LiveRun, _first_population
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.explore.verdict import TheoryAnswer
from patience import PATIENCE


def decoded(frame: bytes, teams: int) -> tuple[dict, np.ndarray, np.ndarray]:
    (length,) = struct.unpack_from("<I", frame)
    ratings = np.frombuffer(frame, "<f4", teams, 4 + length)
    return json.loads(frame[4 : 4 + length]), ratings, np.frombuffer(frame, np.uint8, offset=4 + length + 4 * teams)


def test_the_list_of_sliders_and_the_defaults_agree():
    listed = Controls.described()["controls"]
    assert {control["name"]: control["default"] for control in listed} == Controls().to_dict() == Controls.defaults()
    assert Controls.read({}) == Controls()


def values(control: Control) -> st.SearchStrategy:
    if isinstance(control, Options):
        return st.sampled_from(list(control.options))
    if control.step >= 1:
        return st.integers(int(control.low), int(control.high))
    return st.floats(control.low, control.high)


@settings(max_examples=25, deadline=None)
@given(st.fixed_dictionaries({name: values(control) for name, control in Controls.controls().items()}))
def test_every_position_of_the_sliders_can_be_played(given_values):
    given_values["teams"] = min(given_values["teams"], 40)
    glicko = given_values["steps"] == "glicko"
    if given_values["sides"] % 2 == 0:  # half of them are matches of two, with which more goes together
        given_values["sides"] = 2
    of_two = (
        given_values["ties"] > 0 or glicko or given_values["schedule"] != "single" or given_values["pairing"] != "all"
    )
    refused = given_values["lineup"] > given_values["players"] and given_values["law"] == "lottery"
    refused |= given_values["sides"] > (2 if of_two else given_values["teams"])
    if refused or (glicko and (given_values["ties"] > 0 or given_values["motion"] == "learning")):
        with pytest.raises(InputError):
            Controls.read(given_values)
        return
    run = LiveRun(1, Controls.read(given_values))
    try:
        mean = run.rating.mean()
        run.advance(3.0)
        head, ratings, shades = decoded(run.frame(7), run.teams)
    finally:
        run.close()
    assert head["sequence"] == 7 and np.isfinite(head["energy"]) and np.allclose(ratings, run.rating, atol=1e-5)
    assert glicko or abs(run.rating.mean() - mean) < 1e-9
    if run.controls.kinetic:
        assert np.isfinite(head["kinetic_energy"]) and shades.max() == 255
    else:
        assert head["kinetic_energy"] is None and shades.size == 4 * run.teams * run.moving


def test_the_run_is_that_of_the_library():
    controls = Controls(teams=30, start="equal")
    run = LiveRun(1, controls, seed=5)
    for _ in range(4):
        run.advance(10.0)
    [state] = kn.micro.simulation_states(
        controls.system, controls.strengths(), stops=[600], matches_per_step=1, seed=5, start=np.full(30, 7.0),
        sampling="literal",
    )  # fmt: skip
    run.close()
    assert np.array_equal(run.rating, state.rating[0])


def test_both_pictures_show_the_same_moment():
    run = LiveRun(1, Controls(teams=20))
    run.advance(25.0)
    head, _, _ = decoded(run.frame(1), 20)
    run.close()
    assert head["kinetic_time"] == pytest.approx(0.1 * 25.0)
    assert run._still.time == pytest.approx(head["kinetic_time"], abs=0.3)


def test_one_advance_is_bounded():
    run = LiveRun(1, Controls(teams=500, gamma=1.0))
    run.advance(1e9)
    run.close()
    assert run.time <= 6.0


def test_the_line_is_the_stationary_map_of_the_library():
    foreseen = predicted_map(Controls())
    state = kn.stationary(Controls().system, kn.theory.Continuum((4, 10), 1.0, nodes=40), noise="gaussian")
    assert np.array_equal(foreseen.rating, state.rating)
    assert foreseen.deviation == pytest.approx(np.sqrt(state.variance))


def test_line_ups_make_the_spread_that_the_formula_says():
    controls = Controls(law="lottery", unevenness=4.0, teams=400)
    expected = 4.0 * np.sqrt((1 - 11 / 23) / 11)
    assert np.sqrt(np.mean(controls.strengths().sigma ** 2)) == pytest.approx(expected, rel=0.03)


class Watcher:
    """A page that draws only when told to."""

    def __init__(self) -> None:
        self.frames: list[dict] = []
        self.said: list[dict] = []

    async def say(self, message: dict) -> None:
        self.said.append(message)

    async def show(self, frame: bytes) -> None:
        self.frames.append(decoded(frame, 10)[0])


LINE = {"theta": [4.0, 10.0], "rating": [5.0, 9.0], "deviation": [0.3, 0.3], "slope": 2 / 3, "note": ""}


class Oracle:
    """Theory at once."""

    async def foresee(self, controls: Controls) -> dict | None:
        slow = controls.schedule == "rounds"
        return None if slow else {"map": LINE, "answer": TheoryAnswer(2 / 3, -1.0, 0.3).to_dict()}

    async def judge(self, controls: Controls) -> dict:
        whole = TheoryAnswer(2 / 3, -1.0, 0.3, 0.5, matches=7.0, whole=True).to_dict()
        return {"map": LINE, "answer": whole}


async def watched(script) -> Watcher:
    from concurrent.futures import ThreadPoolExecutor

    watcher = Watcher()
    with ThreadPoolExecutor(1) as pool:
        explorer = Explorer(Pools(pool, pool), Oracle(), watcher.say, watcher.show)
        playing = asyncio.create_task(explorer.play())
        try:
            await script(explorer, watcher)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
    return watcher


START = {"type": "start", "controls": {"teams": 10}}


async def until(condition, seconds: float = PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_slow_page_gets_one_frame_and_then_the_newest():
    async def script(explorer: Explorer, watcher: Watcher) -> None:
        await explorer.hear(START)
        await until(lambda: watcher.frames)
        await asyncio.sleep(0.5)
        assert len(watcher.frames) == 1
        await explorer.hear({"type": "drawn", "sequence": 1})
        await until(lambda: len(watcher.frames) == 2)
        assert watcher.frames[1]["time"] > 10

    asyncio.run(watched(script))


def test_a_page_that_never_draws_pauses_its_league(monkeypatch):
    monkeypatch.setattr("kinelo.lab.explore.explorer.PATIENCE_SECONDS", 0.1)

    async def script(explorer: Explorer, watcher: Watcher) -> None:
        await explorer.hear(START)
        await until(lambda: watcher.frames)
        assert explorer._run is not None
        before = -1.0
        async with asyncio.timeout(PATIENCE):
            while explorer._run.time > before:  # it comes to rest
                before = explorer._run.time
                await asyncio.sleep(0.3)
        assert len(watcher.frames) == 1
        await explorer.hear({"type": "drawn", "sequence": 1})
        await until(lambda: len(watcher.frames) == 2)

    asyncio.run(watched(script))


def test_the_newest_slider_wins():
    async def script(explorer: Explorer, watcher: Watcher) -> None:
        for k in range(40):
            await explorer.hear({"type": "start", "controls": {"teams": 10, "sigma": k / 20}})
        await until(lambda: any(one["type"] == "started" for one in watcher.said))
        await asyncio.sleep(0.2)

    started = [one for one in asyncio.run(watched(script)).said if one["type"] == "started"]
    assert len(started) == 1 and started[0]["controls"]["sigma"] == 39 / 20


def test_the_verdict_comes_once_the_sliders_rest(monkeypatch):
    monkeypatch.setattr("kinelo.lab.explore.explorer.REST_SECONDS", 3.0)

    async def script(explorer: Explorer, watcher: Watcher) -> None:
        for sigma in (0.5, 1.5):
            await explorer.hear({"type": "start", "controls": {"teams": 10, "sigma": sigma}})
            await until(lambda sigma=sigma: any(one.get("controls", {}).get("sigma") == sigma for one in watcher.said))
        await until(lambda: any(one.get("final") for one in watcher.said))

    words = [(one["run"], one["advice"]) for one in asyncio.run(watched(script)).said if one["type"] == "verdict"]
    last = "Divide gaps between ratings by 0.67 before you read them as gaps in strength."
    assert (2, "") in words and words[-1] == (2, last) and (1, last) not in words


def test_a_slow_answer_comes_with_its_line():
    async def script(explorer: Explorer, watcher: Watcher) -> None:
        await explorer.hear({"type": "start", "controls": {"teams": 10, "schedule": "rounds"}})
        await until(lambda: any(one.get("final") for one in watcher.said))

    said = [one["type"] for one in asyncio.run(watched(script)).said]
    assert said[:2] == ["started", "theory"] and set(said[2:]) == {"verdict"}


def test_a_pinned_league_plays_to_the_same_clock():
    shown = []

    async def script(explorer: Explorer, watcher: Watcher) -> None:
        pin = {"teams": 30, "gamma": 0.7, "motion": "form", "pairing": "window", "window": 1.0}
        await explorer.hear({"type": "start", "controls": {"teams": 10}, "seed": 4, "pin": pin})
        for k in range(1, 6):
            await until(lambda k=k: len(watcher.frames) == k)
            await explorer.hear({"type": "drawn", "sequence": k})
        await explorer.hear({"type": "pause", "paused": True})
        await asyncio.sleep(0.3)
        run, beside = explorer._run, explorer._pinned
        assert run is not None and beside is not None
        shown.append((run.frame(9, beside), run.matches, beside.matches, run.rating, beside.rating, beside.strength))
        await explorer.hear({"type": "start", "controls": {"teams": 10}, "pin": {"gamma": -1}})
        assert "gamma must lie between" in watcher.said[-1]["text"]

    asyncio.run(watched(script))
    [(frame, own_time, other_time, *floats)] = shown
    head, _, rest = decoded(frame, 10)
    assert head["pinned"] == 30 and other_time == pytest.approx(own_time, rel=0.25)
    sent = np.frombuffer(frame, "<f4", 70, len(frame) - rest.size - 40)
    assert np.array_equal(sent, np.concatenate(floats, dtype="<f4"))


def test_a_league_that_stands_still_begins_anew_when_asked():
    async def script(explorer: Explorer, watcher: Watcher) -> None:
        await explorer.hear({"type": "pause", "paused": True})
        for times in (1, 2):
            await explorer.hear(START)
            await until(lambda: sum(one["type"] == "started" for one in watcher.said) == times)  # noqa: B023
            await asyncio.sleep(0.05)  # the run comes to rest

    begun = [one["run"] for one in asyncio.run(watched(script)).said if one["type"] == "started"]
    assert len(set(begun)) == 2, "each is a run of its own"


def test_pause_stops_the_clock():
    async def script(explorer: Explorer, watcher: Watcher) -> None:
        await explorer.hear({"type": "pause", "paused": True})
        await explorer.hear(START)
        await until(lambda: watcher.frames)
        await explorer.hear({"type": "drawn", "sequence": 1})
        await asyncio.sleep(0.3)
        assert len(watcher.frames) == 1 and watcher.frames[0]["time"] == 0
        await explorer.hear({"type": "pause", "paused": False})
        await until(lambda: len(watcher.frames) == 2)

    asyncio.run(watched(script))


@pytest.mark.parametrize("given_speed", ["fast", None, float("nan"), True])
def test_nonsense_does_not_change_the_speed(given_speed):
    async def speed() -> float:
        pacer = Pacer()
        pacer.set_speed(given_speed)
        return pacer.speed

    assert asyncio.run(speed()) == FIRST_SPEED


def test_acknowledgements_of_frames_never_sent_are_ignored():
    async def ready() -> bool:
        pacer = Pacer()
        pacer.next_sequence()
        pacer.acknowledge(99)
        pacer.acknowledge("1")
        return pacer.ready

    assert asyncio.run(ready()) is False


def test_leagues_with_one_limit_share_one_film():
    """The limit of vanishing steps knows neither step nor seed; where it differs, the film does."""
    one, other = LiveRun(1, Controls(teams=20), seed=1), LiveRun(2, Controls(teams=30, gamma=0.4), seed=7)
    wide = LiveRun(3, Controls(teams=20, sigma=2.0))
    try:
        assert one.film is other.film is not wide.film
        assert one.film is not None and one.film.at(3.0) is one.film.at(3.0)
        [*_, state] = kn.macro.kinetic_states(one.system, _first_population(one.controls, 1.0), until=3.0, samples=15)
        still = one.film.at(3.0)
        assert still.time == pytest.approx(3.0, abs=0.1)  # the first step past an instant
        assert still.energy == pytest.approx(state.diagnostics.energy, rel=0.03)
    finally:
        for run in (one, other, wide):
            run.close()


def test_the_density_is_sent_a_few_times_a_second_and_only_where_it_has_moved():
    run = LiveRun(1, Controls(teams=20))
    sent = [decoded(run.frame(k), 20)[0]["density"] for k in range(8)]
    assert sent == [True] + 7 * [False]  # nothing has been played
    for k in range(12):
        run.advance(5.0)
        head, _, shades = decoded(run.frame(k), 20)
        assert head["density"] == (shades.size == 48 * 96) and head["density"] == (k % 4 == 3)
    run.close()


def test_a_frame_that_is_drawn_brings_the_next_one_forward(monkeypatch):
    """A page that draws at once waits for the rhythm of frames, not for that of slow pages."""
    monkeypatch.setattr("kinelo.lab.explore.explorer.SLOW_SECONDS", 1e6)
    monkeypatch.setattr("kinelo.lab.explore.explorer.FRAME_SECONDS", 0.05)

    async def one_frame():
        pacer = Pacer()
        number = pacer.next_sequence()
        waiting = asyncio.create_task(pacer.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        pacer.acknowledge(number)
        await asyncio.wait_for(waiting, PATIENCE)

    asyncio.run(one_frame())
