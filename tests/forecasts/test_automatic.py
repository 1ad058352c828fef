"""The choice of a rater: the rule, by forecasters whose scores are known; the words; what it may look at."""

import math

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts import automatic
from kinelo.forecasts.automatic import choose, latest_part


class Says:
    """Gives the home win the probability ``p``, the rest to the away win; the one after the other."""

    def __init__(self, *p):
        self.p, self.seen = p, []

    def fit(self, matches):
        self.seen = [len(matches)]
        return self

    def one_step_ahead(self, matches):
        p = np.resize(self.p, len(matches))
        return kn.forecasts.Forecast(np.column_stack([p, np.zeros(p.size), 1 - p]))


def wins(n, lost=()):
    result = np.ones(n)
    result[list(lost)] = 0
    days = np.datetime64("2020-01-01") + np.arange(n)
    return kn.read_matches(
        {"date": days, "home": ["A", "B"] * (n // 2), "away": ["B", "A"] * (n // 2), "result": result}
    )


def test_another_rater_is_chosen_only_if_better_by_more_than_two_standard_errors():
    # Forty home wins are scored. The rival gains log(.6/.5) in half of them and loses log(.5/p) in the others, so that
    # the mean difference is (a - b)/2 and its standard error (a + b)/2 times sqrt(40/39)/sqrt(40).
    matches = wins(80)
    gain = math.log(0.6 / 0.5)
    for ratio, chosen in ((0.50, "rival"), (0.53, "usual")):  # (a - b)/(a + b) against 2/sqrt(39) = .320, at b = .515 a
        rival = Says(0.6, 0.5 * math.exp(-ratio * gain))
        choice = choose(matches, {"usual": Says(0.5), "rival": rival}, "usual")
        assert choice.name == chosen, ratio
        mean, error = choice.gaps["usual" if chosen == "rival" else "rival"]
        sign = 1 if chosen == "rival" else -1
        assert mean == pytest.approx(sign * gain * (1 - ratio) / 2, rel=1e-9)
        assert error == pytest.approx(gain * (1 + ratio) / 2 / math.sqrt(39), rel=1e-9)


def test_the_best_of_those_who_pass_is_chosen_and_fitted_on_all():
    matches = wins(80)
    named = {"usual": Says(0.5), "good": Says(0.7), "better": Says(0.8), "worse": Says(0.3)}
    choice = choose(matches, named, "usual")
    assert choice.name == "better" and choice.rater.seen == [80] and named["better"].seen == []
    assert choice.fitted == 40 and len(choice.test.matches) == 40
    assert list(choice.gaps) == ["good", "usual", "worse"]
    found = choice.to_dict()
    assert found["rater"] == "better" and found["reference"] == "usual" and found["tested"] == 40
    assert found["log_loss"]["better"] == pytest.approx(-math.log(0.8))
    assert found["behind"]["worse"]["difference"] == pytest.approx(math.log(0.8 / 0.3))
    assert "better" in choice._repr_html_() and repr(choice).startswith("RaterChoice of better")


def test_what_was_chosen_is_said_with_how_much_it_is_ahead():
    matches = wins(80, lost=[50])  # one of the forty that are scored
    ahead = choose(matches, {"usual": Says(0.5), "rival": Says(0.8)}, "usual")
    loss = -(39 * math.log(0.8) + math.log(0.2)) / 40
    gap = math.log(2) - loss
    error = math.log(4) * math.sqrt(39) / 40 * math.sqrt(40 / 39) / math.sqrt(40)
    told = f"rival, with log-loss {loss:.4f} over 40 matches forecast one step ahead; next is usual, "
    assert str(ahead) == told + f"{gap:.4f} ± {error:.4f} behind."
    behind = choose(matches, {"usual": Says(0.5), "rival": Says(0.5001)}, "rival")
    assert str(behind).startswith("rival, with log-loss 0.69") and "next is usual" in str(behind)
    level = choose(wins(80), {"usual": Says(0.5), "rival": Says(0.6, 0.42)}, "usual")
    assert "; rival was 0.0040 ± 0.0286 better, which is too little to leave the usual rater." in str(level)
    alone = choose(matches, {"usual": Says(0.5)}, "usual")
    assert str(alone).endswith("no other rater can be used here.")


def test_few_matches_choose_nothing():
    few = choose(wins(58), {"usual": Says(0.5), "rival": Says(0.9)}, "usual")
    assert few.name == "usual" and few.test is None and few.gaps == {}
    assert str(few) == "usual, the usual rater: fewer than 60 matches cannot tell raters apart."
    assert choose(wins(60), {"usual": Says(0.5), "rival": Says(0.9)}, "usual").name == "rival"


def test_a_rater_that_cannot_is_left_out_and_said():
    class Unable(Says):
        def fit(self, matches):
            raise kn.InputError("I need line-ups.")

    choice = choose(wins(80), {"usual": Says(0.5), "unable": Unable(0.9)}, "usual")
    assert choice.name == "usual" and choice.left_out == {"unable": "I need line-ups."}
    replaced = choose(wins(80), {"unable": Unable(0.9), "other": Says(0.5)}, "unable")
    assert replaced.name == "other"
    with pytest.raises(kn.InputError, match="I need line-ups"):
        choose(wins(80), {"unable": Unable(0.9)}, "unable")


def test_the_choice_looks_at_the_latest_matches_only(monkeypatch):
    monkeypatch.setattr(automatic, "MOST_COMPARED", 80)
    won, lost = wins(200, lost=range(120)), wins(200, lost=range(120, 200))
    named = {"home": Says(0.9), "away": Says(0.1)}
    one, other = choose(won, named, "away"), choose(lost, named, "home")
    assert one.name == "home" and other.name == "away"
    assert one.rater.seen == [200] and one.fitted == 40 and len(one.test.matches) == 40


def test_matches_in_pieces_are_chosen_on_as_a_table_is(tmp_path):
    whole = wins(150, lost=range(1, 150, 3))
    for part, (first, last) in enumerate(((0, 20), (20, 150))):
        frame = whole.to_polars().select("date", "home", "away", "result")[first:last]
        frame.write_parquet(tmp_path / f"{part}.parquet")
    scan = kn.matches.scan_matches(str(tmp_path / "*.parquet"))
    for most in (100, 140, 150, 900):  # within the last piece, across both, all
        part = latest_part(scan, most)
        assert len(part) == min(most, 150) and (part.result == whole.result[-most:]).all()
        assert [part.teams[k] for k in part.home] == [whole.teams[k] for k in whole.home[-most:]]
    raters = [kn.TeamElo.classic(k=20), kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5)]
    there, here = (kn.raters.choose_rater(source, raters) for source in (scan, whole))
    assert there.name == here.name and there.gaps == here.gaps
    assert there.rater.ratings_.equals(here.rater.ratings_)


def test_all_raters_that_can_use_the_matches_are_candidates():
    from kinelo.raters.choice import candidates

    matches = wins(80)
    assert list(candidates(matches)) == ["TeamElo", "KalmanElo", "Glicko", "Glicko2", "BradleyTerry"]
    assert list(candidates(matches, conditions=["surface"])) == ["TeamElo", "KalmanElo"]
    league = kn.sample_league(teams=4, seasons=1, seed=1)
    with_lineups = kn.read_matches(league.results, lineups=league.lineups)
    assert list(candidates(with_lineups))[:3] == ["KalmanElo", "TeamElo", "PlayerElo"]


def test_the_usual_rater_is_the_filter_where_a_margin_is_known_of_files_in_pieces_too(tmp_path):
    from kinelo.raters.choice import candidates, usual_rater

    table = {"date": ["2024-01-01", "2024-01-02"], "home": ["Ann", "Bob"], "away": ["Bob", "Cid"], "result": [1.0, 0.5]}
    dated = pl.DataFrame(table).with_columns(pl.col("date").str.to_date())
    for name, margins, usual in (("all", [2, 0], "kalman"), ("one", [None, 0], "kalman"), ("none", None, "team")):
        frame = dated if margins is None else dated.with_columns(margin=pl.Series(margins, dtype=pl.Int64))
        frame.write_parquet(tmp_path / f"{name}.parquet")
        scan = kn.matches.scan_matches(tmp_path / f"{name}.parquet")
        assert usual_rater(kn.read_matches(frame)) == usual_rater(scan) == usual
        assert next(iter(candidates(kn.read_matches(frame)))) == {"kalman": "KalmanElo", "team": "TeamElo"}[usual]
    for part, margins in enumerate(([None, None], [None, 3])):  # the only margin lies beyond the first piece
        later = dated.with_columns(pl.col("date").dt.offset_by(f"{part}y"), margin=pl.Series(margins, dtype=pl.Int64))
        later.write_parquet(tmp_path / f"part{part}.parquet")
    assert usual_rater(kn.matches.scan_matches(tmp_path / "part*.parquet")) == "kalman"
    race = {"contest": [1, 1], "name": ["Ann", "Bob"], "place": [1, 2]}
    assert usual_rater(kn.read_contests(race)) == "rank"
    assert kn.raters.choose_rater(wins(50, range(0, 50, 3))).name == "TeamElo"  # too few to be compared
