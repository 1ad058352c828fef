"""Laws of motion check what they are given and know what follows from it."""

import math

import pytest

import kinelo as kn


def test_learning_knows_its_pull():
    assert kn.model.Learning(0.5, 0.2).pull == pytest.approx(0.3)
    assert kn.model.Learning(0.2, 0.5).pull < 0


def test_form_steps_as_the_square_root_of_its_rate():
    form = kn.model.Form(rate=0.02, spread=1.5)
    assert form.step == pytest.approx(math.sqrt(2 * 0.02) * 1.5)
    assert kn.model.Walk(0.1).step == 0.1


def test_turnover_draws_from_a_pool():
    league = kn.model.Turnover(0.01, [1.0, 3.0], start=1.5)
    assert league.arriving == 2.0
    assert kn.model.Turnover(0.01, 4.0, 1.0).pool.tolist() == [4.0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kn.model.Learning(-1.0), "alpha must be 0 or more"),
        (lambda: kn.model.Learning(1.0, diffusion=float("nan")), "diffusion must be a finite number"),
        (lambda: kn.model.Learning(1.0, on="luck"), 'on must be "expected" or "result"'),
        (lambda: kn.model.Form(0.0, 1.0), "rate must be greater than 0"),
        (lambda: kn.model.Form(1.0, 0.0), "spread must be greater than 0"),
        (lambda: kn.model.Walk(0.0), "spread must be greater than 0"),
        (lambda: kn.model.Turnover(0.6, 0.0, 0.0), "rate must be at most 0.5"),
        (lambda: kn.model.Turnover(0.1, [], 0.0), "it is empty"),
        (lambda: kn.model.Turnover(0.1, 0.0, 0.0, leaving="bored"), 'leaving must be "random"'),
    ],
)
def test_nonsense_is_refused_in_a_sentence(make, words):
    with pytest.raises(kn.InputError, match=words):
        make()
