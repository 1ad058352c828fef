"""A run is refused before it begins, with what it would take; steps to record are counted, not listed."""

import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinelo as kn
from kinelo.micro.simulate import Records

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
LEAGUE = kn.Normal([4.0, 7.0, 10.0], 1.0)


def listed(steps, every):
    """All recorded steps as a list, from the sentence that says which they are."""
    return sorted({0, steps, *(step for step in range(steps) if every is not None and step % every == 0)})


@given(
    steps=st.integers(0, 60), every=st.none() | st.integers(1, 70), begin=st.integers(0, 60), stride=st.integers(1, 70)
)
def test_records_are_those_of_the_list(steps, every, begin, stride):
    records, slow = Records(steps, every), listed(steps, every)
    assert list(records) == slow and len(records) == len(slow)
    assert [step in records for step in range(-1, steps + 2)] == [step in slow for step in range(-1, steps + 2)]
    assert records[begin:] == slow[begin:]
    between = {step for step in range(1, steps) if step % stride == 0}
    assert list(records.with_stops_between(stride, begin)) == sorted(s for s in {*slow, *between} if s >= begin)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"steps": 10**18}, "would take at least .* year"),
        ({"steps": 10**9, "realisations": 10**6}, "would take at least .* year"),
        ({"steps": 10**12, "record_every": 1}, "records .* needs .* GiB, but .* larger record_every"),
        ({"steps": 10, "realisations": 10**12}, "realisations × 3 teams needs .* GiB"),
        ({"steps": 2**62, "matches_per_step": 4}, "years"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_cost(plan, words):
    with pytest.raises(kn.InputError, match=words):
        kn.simulate(SYSTEM, LEAGUE, seed=1, **plan)


def test_ctrl_c_is_answered_soon_however_slow_a_match_is():
    """Line-ups of 23 players drawn one by one for 60 realisations on one thread: work for days, which is stopped.

    A run that did not listen would last until the limit of all tests ends it.
    """
    program = """
import signal, sys, kinelo as kn
signal.signal(signal.SIGINT, signal.default_int_handler)
system, league = kn.RatingSystem(kn.Tanh(nu=0.5)), kn.paper.setup_r1(teams=50)
def run(steps):
    kn.simulate(system, league, steps=steps, realisations=60, seed=1, sampling="literal", threads=1)
run(10)
print("ready", flush=True)
try:
    run(10**9)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.communicate()[0] == "stopped\n"
    finally:
        process.kill()
        process.wait()
