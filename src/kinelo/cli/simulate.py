"""``kinelo simulate``: play a league's matches and keep what happened."""


def simulate() -> None:
    """Simulate the league of a study file."""
    raise NotImplementedError
