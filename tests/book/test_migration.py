"""From mu and sigma to a book: the old update is the published one, and both are judged on the same second half."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from test_check_and_export import run

import kinelo as kn
from kinelo.book.migration import Migration, OldNumbers, migrate, read_skills, start_of

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")


def arena(seed, games, players=40, size=3, sides=2):
    """A log with a row for each player: teams of a game that drift a little, or a free-for-all of ``sides``."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 1.0, players), []
    for g in range(games):
        met = rng.permutation(players)[: size * sides].reshape(sides, size)
        order = np.argsort(-(strength[met].mean(axis=1) + rng.logistic(size=sides) * 0.6))
        for place, team in enumerate(order, 1):
            label = f"g{g}t{team}"
            rows += [(f"g{g}", str(np.datetime64("2026-01-01") + g // 12), label, f"p{k}", place) for k in met[team]]
        strength += rng.normal(0.0, 0.01, players)
    return pl.DataFrame(rows, schema=["contest", "date", "team", "player", "place"], orient="row")


def contests(frame):
    teams = frame.group_by("contest", "date", "team", "place", maintain_order=True).agg("player")
    return [{"match_id": g, "date": d, "order": [t for _, t in sorted(zip(part["place"], part["player"].to_list()))]}
            for (g, d), part in teams.group_by(["contest", "date"], maintain_order=True)]  # fmt: skip


def old_and_log(tmp_path, seed=1, games=280, **more):
    """Numbers after a third of the games, and the contests of the rest."""
    rows = contests(arena(seed, games, **more))
    book = kn.RatingBook(tmp_path / f"whole{seed}.db", kn.RankElo())
    book.add(rows)
    played, third = book.matches(), games // 3
    old = OldNumbers({})
    old.ahead(played[:third])
    skills = {"name": list(old.known), "mu": [m for m, _ in old.known.values()],
              "sigma": [s for _, s in old.known.values()]}  # fmt: skip
    return skills, played[third:]


def test_the_old_update_is_that_of_the_readme_of_openskill():
    """The example of its page (version 6, tau 0)."""
    old = OldNumbers({"a1": (25.0, 25 / 3), "a2": (32.444, 5.123), "b1": (43.381, 2.421), "b2": (25.188, 6.211)}, 0.0)
    old.use([["a1", "a2"], ["b1", "b2"]], np.array([1.0, 2.0]))
    said = {"a1": (28.669648436582808, 8.071520788025197), "a2": (33.83086971107981, 5.062772998705765),
            "b1": (43.071274808241974, 2.4166900452721256), "b2": (23.149503312339064, 6.1378606973362135)}  # fmt: skip
    assert {name: old.known[name] for name in said} == {name: pytest.approx(x, rel=1e-12) for name, x in said.items()}
    tied, apart = OldNumbers({}, 0.0), OldNumbers({}, 0.0)
    tied.use([["A"], ["B"], ["C"]], np.array([1.5, 1.5, 3.0]))
    apart.use([["A"], ["B"], ["C"]], np.array([1.0, 2.0, 3.0]))
    mu = {name: m for name, (m, _) in tied.known.items()}
    assert mu["A"] == pytest.approx(mu["B"]) and mu["A"] > 25.0 > mu["C"] and apart.known["A"][0] > mu["A"]
    newer = OldNumbers({}, 2.0)
    newer.use([["A"], ["B"]], np.array([1.0, 2.0]))
    assert newer.known["A"][1] > apart.known["A"][1]


@pytest.mark.parametrize("more", [{}, {"size": 1, "sides": 5}], ids=["teams", "fields"])
def test_both_are_judged_on_the_same_contests_one_step_ahead(more, tmp_path):
    skills, log = old_and_log(tmp_path, **more)
    found = migrate(tmp_path / "new.db", skills, log)
    half = len(log) // 2
    # Slow twins: the old numbers pair by pair, and Kinelo's by its score.
    old, losses, pairs = OldNumbers(read_skills(skills)), [], 0
    old.ahead(log[:half])
    kind = next(iter(log.slots))
    for c in range(half, len(log)):
        one = log[c : c + 1]
        teams = [[one.slots[kind].names[k] for k in row if k >= 0] for row in one.slots[kind].codes.tolist()]
        for i, mine in enumerate(teams):
            for j, other in enumerate(teams):
                if one.place[i] < one.place[j]:
                    a, b = ([old.known.get(n, (25.0, 25 / 3)) for n in team] for team in (mine, other))
                    spread = sum(s * s + (25 / 6) ** 2 for _, s in (*a, *b)) ** 0.5
                    losses.append(-norm.logcdf((sum(m for m, _ in a) - sum(m for m, _ in b)) / spread))
                    pairs += 1
        old.use(teams, one.place)
    rater = kn.RankElo(start=start_of(read_skills(skills), found.factor)).fit(log[:half])
    assert found.old_loss == pytest.approx(np.sum(losses) / pairs, abs=1e-9) and found.contests == len(log) - half
    assert found.loss == pytest.approx(-rater.score(log[half:]), abs=1e-9)
    assert found.difference == pytest.approx(found.loss - found.old_loss) and 0.0 < found.error < 0.06
    book = kn.RatingBook(tmp_path / "new.db")
    assert len(book) == len(log) and book.check() == [] and dict(book.rater.parameters_) == dict(rater.parameters_)
    with pytest.raises(kn.InputError, match="is a book already"):
        migrate(tmp_path / "new.db", skills, log)
    # A point of mu is what it is among those games: others forecast the first half worse.
    best = kn.RankElo(start=start_of(read_skills(skills), found.factor)).score(log[:half])
    for factor in (found.factor / 4, found.factor * 4):
        assert kn.RankElo(start=start_of(read_skills(skills), factor)).score(log[:half]) < best


def test_one_command_starts_the_book_and_says_both(tmp_path):
    frame = arena(5, 300, size=1, sides=4)
    third = frame.filter(pl.col("contest").is_in([f"g{k}" for k in range(100)]))
    old = OldNumbers({})
    book = kn.RatingBook(tmp_path / "old.db", kn.RankElo())
    book.add(contests(third))
    old.ahead(book.matches())
    skills, log = tmp_path / "skills.csv", tmp_path / "games.csv"
    pl.DataFrame({"player": list(old.known), "mu": [m for m, _ in old.known.values()],
                  "sigma": [s for _, s in old.known.values()]}).write_csv(skills)  # fmt: skip
    frame.join(third, on="contest", how="anti").drop("team").rename({"player": "driver"}).write_csv(log)
    code, said = run("start", tmp_path / "new.db", skills, log)
    assert code == 0 and "A point of mu counts as" in said and "Forecasts of 100 contests" in " ".join(said.split())
    assert len(kn.RatingBook(tmp_path / "new.db")) == 200
    pl.DataFrame({"player": ["A"], "mu": [25.0]}).write_csv(skills)
    with pytest.raises(kn.InputError, match="need the columns name, mu and sigma; there are player, mu"):
        run("start", tmp_path / "other.db", skills, log)
    with pytest.raises(kn.InputError, match="takes a book to be made, a table of mu and sigma, and a log"):
        run("start", tmp_path / "other.db", skills)


def test_a_verdict_is_given_from_two_standard_errors():
    unclear = "that is no clear difference"
    verdicts = {-0.03: "Kinelo's are better", 0.03: "the old ones are better", -0.019: unclear, 0.019: unclear}
    for difference, words in verdicts.items():
        said = Migration(40.0, 90, 0.6, 0.6 + difference, difference, 0.01).lines()[1]
        assert said.endswith(f"difference {difference:+.4f} ± 0.0100: {words}.")


def test_skills_that_are_none_are_refused(tmp_path):
    with pytest.raises(kn.InputError, match="sigma is above 0"):
        read_skills({"name": ["A"], "mu": [25.0], "sigma": [0.0]})
    with pytest.raises(kn.InputError, match="name 'A' twice"):
        read_skills({"name": ["A", "A"], "mu": [25.0, 1.0], "sigma": [1.0, 2.0]})
    skills, log = old_and_log(tmp_path, games=90)
    with pytest.raises(kn.InputError, match="needs 80 contests, and the log has 60"):
        migrate(tmp_path / "x.db", skills, log)
    assert not (tmp_path / "x.db").exists()
