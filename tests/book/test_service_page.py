"""The page docs/service.md ("service.md"): its code runs as it stands."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
MATCHES = kn.read_matches(kn.sample_league(teams=8, seasons=2, seed=1).results).to_polars()


def blocks():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_the_examples_run_in_order(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["forecast"] is not None and names["search"].best_params_["k"] in (10, 20, 40)
    assert capsys.readouterr().out.count("[") >= 2


def test_another_process_is_seen_at_once(tmp_path):
    matches = kn.read_matches(MATCHES)
    writer = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(k=24))
    reader = kn.RatingBook(tmp_path / "book")
    assert reader.ratings_.height == 0 and not reader.refresh()
    writer.add(matches[:20])
    assert reader.refresh() and not reader.refresh()
    assert len(reader) == 20 and reader.ratings_.equals(writer.ratings_)


@pytest.mark.parametrize("kind", ["TeamElo", "Glicko", "BradleyTerry", "RankElo"])
def test_a_pickled_rater_carries_on_to_the_same_bits(kind):
    matches = kn.read_matches(MATCHES)
    rater = getattr(kn, kind)().fit(matches[:40])
    again = pickle.loads(pickle.dumps(rater))
    for one in (rater, again, copy.deepcopy(rater)):
        one.update(matches[40:])
    assert again.ratings_.equals(rater.ratings_)
    pair = MATCHES["home"][0], MATCHES["away"][0]
    assert np.array_equal(again.predict_one(*pair).probabilities, rater.predict_one(*pair).probabilities)
