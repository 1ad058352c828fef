"""``kn.stationary`` is a verb and a room; both work, whichever is touched first."""

import subprocess
import sys

import pytest

import kinelo as kn

CALL = "kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), kn.Fixed([0.0, 1.0])).rating.tolist() == [0.0, 1.0]"


@pytest.mark.parametrize(
    "first",
    [
        "",
        "import kinelo.stationary",
        "import kinelo.stationary.limit as limit",
        "from kinelo.stationary import limit",
        "from kinelo.stationary.limit import stationary",
        "kn.Continuum; kn.relaxation",
        "kn.stationary; import kinelo.stationary.limit as limit; limit.DENSE_TEAMS",
        "kn.stationary; from kinelo.stationary.state import StationaryState",
        "from kinelo import stationary; assert stationary is kn.stationary",
    ],
)
def test_every_order_of_imports(first):
    again = "import kinelo.stationary.waves as waves; waves.BLOCK"
    code = f"import kinelo as kn; {first}\nassert {CALL}\n{again}\nassert {CALL}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_room_calls_its_function():
    from kinelo.stationary.limit import stationary

    league, system = kn.Normal([0.0, 1.0, 3.0], 1.0), kn.RatingSystem(kn.Tanh(0.5), gamma=0.2)
    by_room, by_function = (find(system, league, "exact", "gaussian") for find in (kn.stationary, stationary))
    assert (by_room.rating == by_function.rating).all()
