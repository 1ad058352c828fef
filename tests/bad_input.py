"""A valid call of every public name, each argument of which is replaced by nonsense in ``test_bad_input.py``.

A new public name gets a line here: in CALLS what makes a valid call of it, small enough to be made a hundred times, or
in RESULTS if users only receive it. Methods may be listed too, as ``Name.method``. Test modules add no names. What
takes time to make stands there as the function that makes it: ``made_of`` calls it once a test asks.
"""

import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.stats

import kinelo as kn
from kinelo.forecasts import Forecast, Rules
from kinelo.macro import Population, kinetic_states
from kinelo.matches import Contests, likely_names, sample_contests, scan_contests, scan_matches, tournament_players
from kinelo.micro import simulate_matches, simulation_states
from kinelo.model import (
    AllPlayAll,
    Davidson,
    DeviationSteps,
    Empirical,
    FallingSteps,
    FideSteps,
    Field,
    Form,
    Learning,
    LineupLottery,
    Local,
    LooseWindow,
    Period,
    Probit,
    Results,
    Rounds,
    Scaled,
    Turnover,
    Walk,
    Window,
    outcome_probabilities,
    satisfies_b_prime,
)
from kinelo.raters import Mixture, choose_rater, surprises, upsets, with_points
from kinelo.studies import parse_study, read_study
from kinelo.theory import (
    Continuum,
    contest_worth,
    critical_gamma,
    newcomer,
    recover_strength,
    settled_deviations,
    strength_profile,
)


def system():
    return kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)


def league():
    return kn.Normal([4.0, 7.0, 10.0], 1.0)


def cells():
    return {"theta": (4.0, 10.0, 4), "r": (4.0, 10.0, 5), "sigma": 1.0}


@cache
def matches():
    table = {"date": ["2020-01-01", "2020-02-01", "2020-03-01"], "home": ["A", "B", "C"], "away": ["B", "C", "A"]}
    return kn.read_matches(table | {"result": [1.0, 0.5, 1.0]})


@cache
def votes():
    table = {"home": list("ABC"), "away": list("BCA"), "result": [1.0, 0.5, 1.0], "judge": list("xyx")}
    return kn.read_matches(table, conditions=["judge"])


@cache
def arena():
    return kn.BradleyTerry().fit(votes())


@cache
def season():
    pairs = [(a, b) for _ in range(6) for a in "ABCD" for b in "ABCD" if a != b]
    results = [(1.0, 0.0, 1.0, 0.5)[(3 * n + ord(a)) % 4] for n, (a, b) in enumerate(pairs)]
    days = [f"2020-{1 + n // 28:02d}-{1 + n % 28:02d}" for n in range(len(pairs))]
    home, away = zip(*pairs)
    return kn.read_matches({"date": days, "home": list(home), "away": list(away), "result": results})


@cache
def rated():
    return kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5).fit(matches())


@cache
def handicapped():
    table = {"home": ["A", "B"] * 6, "away": ["B", "A"] * 6, "result": [1, 0, 0, 1] * 3, "stones": [0, 1, -2] * 4,
             "komi": [0.5, 1.5] * 6}  # fmt: skip
    rater = kn.TeamElo(covariates=["stones", "komi"], step=30.0, home_advantage=0.0, ties=0.0)
    return rater.fit(kn.read_matches(table, conditions=["stones", "komi"]))


ON_A_DAY = {"date": "2024-01-01", "neutral": True}


@cache
def fixtures():
    return kn.read_matches({"date": ["2020-04-01"] * 3, "home": ["A", "B", "C"], "away": ["C", "A", "B"]}, played=False)


@cache
def river():
    path = Path(tempfile.mkdtemp()) / "games.csv"
    path.write_text("date,home,away,result\n2020-01-01,A,B,1\n2020-01-02,B,A,0\n")
    return str(path)


@cache
def report_file():
    path = Path(tempfile.mkdtemp()) / "open.trf"
    path.write_text(f"012 Open\n001    1      {'Ann':<33} 1900\n")
    return str(path)


@cache
def races_file():
    path = Path(tempfile.mkdtemp()) / "races.csv"
    path.write_text("date,race,driver,place\n2020-01-01,1,A,1\n2020-01-01,1,B,2\n")
    return str(path)


@cache
def study_file():
    path = Path(tempfile.mkdtemp()) / "study.toml"
    path.write_text("gamma = 0.05\noutcome = {kind = 'tanh', nu = 0.5}\n")
    return str(path)


@cache
def contests():
    return kn.read_contests(races_file())


def fixed_rank():
    return kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=-0.2, regression=0.1, retirement=0.5, off=0.0)


@cache
def board():
    return rated().ratings_


@cache
def two_raters():
    return [rated(), kn.TeamElo.classic(k=20.0)]


@cache
def swept():
    return kn.sweep(lambda n: 1 / n, {"n": [1, 2, 4]})


def made_of(arguments):
    """Arguments of a call, those made that are given as functions of this module or its like, or all by one."""
    arguments = arguments() if callable(arguments) else arguments
    return {name: value() if isinstance(value, type(matches)) else value for name, value in arguments.items()}


def first(states):
    return list(islice(states, 3))


CALLS = {
    "Tanh": (lambda **k: kn.Tanh(**k), {"nu": 0.5}),
    "Probit": (lambda **k: Probit(**k), {"nu": 0.5}),
    "Davidson": (lambda **k: Davidson(**k), {"nu": 0.5, "kappa": 1.0}),
    "AllPlayAll": (lambda: AllPlayAll(), {}),
    "Local": (lambda: Local(), {}),
    "Window": (lambda **k: Window(**k), {"c": 2.0, "smoothing": 0.5}),
    "Fixed": (lambda **k: kn.Fixed(**k), {"theta": [4.0, 7.0], "names": ["A", "B"]}),
    "Normal": (lambda **k: kn.Normal(**k), {"theta": [4.0, 7.0], "sigma": [1.0, 0.5], "names": ["A", "B"]}),
    "LineupLottery": (
        lambda **k: LineupLottery(**k),
        {"rho": [[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], "m": 2, "weights": [[1.0, 1.0, 2.0]] * 2, "names": ["A", "B"]},
    ),
    "Empirical": (
        lambda **k: Empirical(**k),
        {"values": [[1.0, 2.0], [0.0, 3.0]], "probabilities": [0.5, 0.5], "names": ["A", "B"]},
    ),
    "Scaled": (
        lambda **k: Scaled(**k),
        {"distribution": scipy.stats.laplace, "theta": [4.0, 7.0], "sigma": [1.0, 0.5], "names": ["A", "B"]},
    ),
    "setup_r1": (lambda **k: kn.paper.setup_r1(**k), {"seed": 1, "teams": 5, "players": 6, "lineup": 3}),
    "setup_r2": (
        lambda **k: kn.paper.setup_r2(**k),
        {"seed": 1, "teams": 5, "players": 6, "lineup": 3, "germany_brazil_sigma": 1.0},
    ),
    "homogeneous": (lambda **k: kn.homogeneous(**k), {"sigma": 1.0, "teams": 4, "theta": (4.0, 10.0), "seed": 1}),
    "expected_result": (
        lambda **k: kn.expected_result(**k),
        {"outcome": kn.Tanh(nu=0.5), "strengths": league(), "closure": "exact"},
    ),
    "outcome_probabilities": (
        lambda **k: outcome_probabilities(**k),
        {"outcome": Davidson(nu=0.5, kappa=1.0), "strengths": league()},
    ),
    "satisfies_b_prime": (lambda **k: satisfies_b_prime(**k), {"outcome": kn.Tanh(nu=0.5), "spread": 1.0}),
    "RatingSystem": (
        lambda **k: kn.RatingSystem(**k),
        {"outcome": kn.Tanh(nu=0.5), "pairing": AllPlayAll(), "gamma": 0.1, "schedule": None},
    ),
    "DeviationSteps": (lambda **k: DeviationSteps(**k), {"growth": 0.1, "start": 1.0, "largest": 2.0}),
    "FallingSteps": (lambda **k: FallingSteps(**k), {"gamma": 0.1, "boost": 1.0, "matches": 20.0}),
    "FideSteps": (lambda **k: FideSteps(**k).juniors(3), {"under_18": [1]}),
    "Rounds": (lambda: Rounds(), {}),
    "Period": (lambda **k: Period(**k), {"matches": 3}),
    "Field": (lambda **k: Field(**k), {"size": 3}),
    "simulate_matches": (
        lambda **k: simulate_matches(**k).result,
        {"system": system(), "strengths": league(), "matches": 5, "seed": 1, "start": [7.0, 7.0, 7.0]},
    ),
    "Continuum": (
        lambda **k: Continuum(**k),
        {"theta": (4.0, 10.0), "sigma": (0.5, 1.0), "nodes": 8, "sigma_nodes": 3},
    ),
    "stationary": (
        lambda **k: kn.stationary(**k),
        {"system": system(), "strengths": league(), "closure": "exact", "noise": "gaussian", "start": [4.0, 7.0, 10.0],
         "method": "auto", "check": False},
    ),
    "relaxation": (
        lambda **k: kn.relaxation(**k),
        {"system": system(), "strengths": league(), "closure": "exact", "noise": "none"},
    ),
    "recover_strength": (
        lambda **k: recover_strength(**k),
        {"outcome": kn.Tanh(nu=0.5), "ratings": [6.0, 7.0, 8.0], "sigma": 1.0, "gamma": 0.05},
    ),
    "recover_strength.variance": (
        lambda **k: recover_strength(kn.Tanh(nu=0.5), [6.0, 7.0, 8.0], 1.0, **k),
        {"rating_variance": [0.1, 0.1, 0.1]},
    ),
    "unbiased_gamma": (
        lambda **k: kn.unbiased_gamma(**k),
        {"system": kn.Tanh(nu=0.5), "strengths": league(), "closure": "exact"},
    ),
    "diagnose": (lambda **k: kn.diagnose(**k).to_dict(), {"system": system(), "strengths": league(), "check": False}),
    "changeover": (
        lambda **k: kn.changeover(**k).to_dict(),
        {"old": kn.TeamElo.classic(k=32), "new": {"A": 1500.0, "B": 1400.0}, "matches": season,
         "thresholds": {"Master": 1500.0}},
    ),
    "audit": (
        lambda **k: kn.audit(**k).to_dict(),
        {"matches": season, "rater": kn.TeamElo.classic(k=32), "ratings": {"name": ["A", "B"], "rating": [1, 2]}},
    ),
    "design": (
        lambda **k: kn.design(**k).to_dict(),
        {"strengths": league(), "dynamics": Form(rate=0.1, spread=0.5), "systems": {"one": system()}, "matches": 30,
         "realisations": 2, "seed": 1, "check": False},
    ),
    "read_matches": (
        lambda **k: len(kn.read_matches(**k)),
        {"source": {"home": ["A"], "away": ["B"], "result": [1.0]}, "lineups": None, "columns": None, "played": True},
    ),
    "read_contests": (
        lambda **k: len(kn.read_contests(**k)),
        {"source": {"race": [1, 1], "driver": ["A", "B"], "place": [1, 2], "car": ["X", "Y"]}, "columns": None,
         "slots": ["driver"], "advantages": ["car"], "team": None, "best": "lowest", "unfinished": "out",
         "disqualified": "behind",
         "not_started": "out", "played": True, "aliases": {"A": "Ann"}},
    ),
    "scan_contests": (
        lambda **k: [len(p) for p in scan_contests(**k).chunks()], {"paths": races_file, "columns": None}
    ),
    "RankElo": (
        lambda **k: kn.RankElo(**k).fit(contests()),
        {"walk": 0.3, "prior_spread": {"driver": 1.0}, "newcomer": -0.2, "regression": 0.1, "retirement": 0.5,
         "off": 0.1, "depth": 2.0, "anchor": 0.1, "experience": 0.2, "ties": 0.3,
         "contest_walk": 0.1, "newcomer_follows": 0.7, "conditions": [], "noise_by": [],
         "initial": 1500.0, "start": {"A": 1600.0}, "look": 400},
    ),
    "RankElo.fit": (lambda **k: fixed_rank().fit(**k), {"matches": contests}),
    "RankElo.update": (lambda **k: fixed_rank().update(**k), {"matches": contests}),
    "RankElo.predict": (lambda **k: fixed_rank().fit(contests()).predict(**k), {"matches": contests}),
    "RankElo.predict_one": (
        lambda **k: fixed_rank().fit(contests()).predict_one(**k), {"entrants": ["A", "B"], "date": "2020-01-02"}
    ),
    "RankElo.update_one": (
        lambda **k: fixed_rank().fit(contests()).update_one(**k),
        {"order": ["A", "B", "C"], "unfinished": ["D"], "date": "2020-01-02"},
    ),
    "likely_names": (lambda **k: likely_names(**k), {"matches": matches}),
    "sample_contests": (
        lambda **k: sample_contests(**k),
        {"contests": 3, "entrants": 9, "size": 3, "walk": 0.1, "cars": 2, "team": 2, "newcomers": 0.1, "levels": 2,
         "seed": 1},
    ),
    "Contests": (lambda **k: len(Contests.from_matches(**k)), {"matches": matches}),
    "TeamElo": (
        lambda **k: kn.TeamElo(**k),
        {"step": 20.0, "newcomer_boost": 1.0, "settling_matches": 10.0, "home_advantage": 50.0, "ties": 0.5,
         "spread": 100.0, "margin_weight": 0.5, "contraction": 0.01, "regression": 0.1, "initial": 1500.0,
         "scale": 400.0, "season_gap": 45.0, "prior_spread": 200.0},
    ),
    "Glicko": (
        lambda **k: kn.Glicko(**k),
        {"deviation": 300.0, "growth": 10.0, "home_advantage": 0.0, "ties": 0.5, "initial": 1500.0, "period": 30.0},
    ),
    "Glicko.fit": (lambda **k: rated_anew().fit(**k).ratings_, {"matches": matches}),
    "Glicko.update": (lambda **k: rated_anew().fit(matches()).update(**k).ratings_, {"matches": matches}),
    "Glicko.predict": (lambda **k: rated().predict(**k).probabilities, {"matches": matches}),
    "Glicko2": (
        lambda **k: kn.Glicko2(**k),
        {"deviation": 300.0, "volatility": 0.06, "home_advantage": 0.0, "ties": 0.5, "tau": 0.5, "period": 30.0},
    ),
    "FideElo": (
        lambda **k: kn.FideElo(**k).fit(matches()).ratings_,
        {"start": {"A": 1900, "B": 1750}, "born": {"A": 2009}, "as_of": "2025-10-01"},
    ),
    "tournament_players": (lambda **k: tournament_players(**k).height, {"path": report_file}),
    "KalmanElo": (
        lambda **k: kn.KalmanElo(**k),
        {"walk": 0.3, "prior_spread": 1.0, "noise": 0.5, "regression": 0.1, "ties": 0.5, "covariance": "full"},
    ),
    "PlayerElo": (
        lambda **k: kn.PlayerElo(**k),
        {"walk": 0.3, "prior_spread": 1.0, "ties": 0.5, "role_weights": {"goalkeeper": 2.0}, "known": "starters",
         "strength": "mean", "substitute_share": 0.3, "noise": 1.0, "initial": 1500.0},
    ),
    "BradleyTerry": (
        lambda **k: kn.BradleyTerry(**k),
        {"ties": 0.5, "ridge": 0.01, "home_advantage": 0.2, "refit_days": 30.0, "initial": 1500.0,
         "covariates": ["rest"], "anchor": {"A": 1500.0}},
    ),
    "BradleyTerry.fit": (
        lambda **k: kn.BradleyTerry(ties=0.5, ridge=0.1, home_advantage=0.2, **k).fit(matches()).ratings_,
        {"covariates": [], "anchor": {"A": 1500.0}},
    ),
    "ScoreElo": (
        lambda **k: kn.ScoreElo(**k),
        {"strengths": kn.KalmanElo(), "pace_spread": 0.2, "pace_walk": 0.1, "level_walk": 0.03, "mismatch": 0.8,
         "dispersion": 1.2, "steepness": 0.9, "closeness": 0.05, "scatter": 0.2, "law": "counts", "look": 500},
    ),
    "Rules.places": (
        lambda **k: kn.season(rated(), fixtures(), rules=Rules(tie_breaks=["wins"], places=k), realisations=5)
        .to_dict(),
        {"title": (1, 1), "last": (-1, -1)},
    ),
    "Rules": (
        lambda **k: Rules(**k),
        {"win": 3.0, "draw": 1.0, "loss": 0.0, "tie_breaks": ["wins"], "places": {"title": (1, 1)}},
    ),
    "season": (
        lambda **k: kn.season(**k).points,
        {"rater": rated, "fixtures": fixtures, "results": season, "since": "2020-03-01",
         "rules": Rules(tie_breaks=["wins"], places={"title": (1, 1)}), "realisations": 3, "seed": 1},
    ),
    "knockout": (
        lambda **k: kn.knockout(**k).reached,
        {"rater": rated, "bracket": ["A", "B"], "date": "2024-01-01", "realisations": 3, "seed": 1},
    ),
    "tiers": (lambda **k: kn.tiers(**k).height, {"rated": rated, "level": 0.9}),
    "judges": (
        lambda **k: kn.judges(**k).height,
        {"rated": arena, "votes": votes, "by": "judge", "false_share": 0.1,
         "least": 0.5},
    ),
    "watch": (lambda **k: kn.watch(**k).height, {"rated": rated, "matches": matches, "false_share": 0.1}),
    "next_matches": (
        lambda **k: len(kn.next_matches(**k).matches),
        {"rated": rated, "count": 3, "target": "leader", "candidates": ["A", "B", "C"], "cost": {("A", "B"): 2.0},
         "at_most": 1},
    ),
    "Elimination": (
        lambda **k: kn.Elimination(**k).left,
        {"names": ["A", "B"], "alpha": 0.05, "epsilon": 10.0, "spread": 200.0},
    ),
    "Elimination.update": (
        lambda **k: kn.Elimination(["A", "B"]).update(**k).left,
        {"home": "A", "away": "B", "result": 1},
    ),
    "sequential_test": (
        lambda **k: kn.sequential_test(**k).update(1).llr,
        {"low": 0.0, "high": 5.0, "alpha": 0.05, "beta": 0.1, "points": "logistic", "pairs": False},
    ),
    "devices": (lambda: len(kn.devices()), {}),
    "to_pandas": (lambda **k: kn.runtime.to_pandas(**k), {"table": board}),
    "rating_history": (
        lambda **k: kn.rating_history(**k),
        {"rated": rated, "matches": matches, "points": 5, "side": "A"},
    ),
    "surprises": (lambda **k: surprises(**k), {"rater": kn.KalmanElo(), "matches": matches}),
    "upsets": (lambda **k: upsets(**k).height, {"rater": rated, "matches": matches}),
    "with_points": (
        lambda **k: with_points(**k).ratings_.height,
        {"rater": rated, "points": {"A": 40.0}},
    ),
    "share_page": (
        lambda **k: len(kn.pages.share_page(**k)),
        {"result": rated, "matches": matches, "title": "Club", "ranking": {"least_matches": 1}},
    ),
    "write_page": (
        lambda **k: kn.write_page(**k),
        {"result": rated, "path": "page.html", "title": "Club", "ranking": {"least_matches": 1}},
    ),
    "leaderboard": (lambda **k: kn.leaderboard(**k).height, {"rated": rated, "least_matches": 1}),
    "match_quality": (lambda **k: kn.match_quality(**k), {"rated": rated, "home": "A", "away": ["B", "C"], **ON_A_DAY}),
    "balance": (
        lambda **k: kn.balance(**k),
        {"rated": rated, "players": ["A", "B", "C"], "sides": [2, 1], "together": [["A", "B"]], "apart": [["A", "C"]],
         "roles": {"A": "x", "C": "x"}, "newcomers": 1, "best": 2, "date": "2024-01-01"},
    ),
    "preview": (lambda **k: kn.preview(**k), {"rated": rated, "home": "A", "away": "B", "weight": 2.0, **ON_A_DAY}),
    "explain": (lambda **k: kn.explain(**k), {"rated": rated, "match": "2", "matches": matches}),
    "explain_last": (
        lambda **k: kn.explain_last(**k),
        {"rated": rated, "name": "A", "matches": matches, "last": 2},
    ),
    "fair_value": (
        lambda **k: kn.fair_value(**k),
        {"rated": handicapped, "home": "A", "away": "B", "covariate": "stones", "given": {"komi": 1.0}, **ON_A_DAY},
    ),
    "RatingBook": (lambda **k: kn.RatingBook(**k), {"path": "book", "rater": rated}),
    "sample_league": (
        lambda **k: kn.sample_league(**k),
        {"teams": 4, "seasons": 1, "seed": 1, "home_advantage": 0.3, "club_spread": 0.35, "player_spread": 0.8,
         "promoted": 1, "turf": True},
    ),
    "backtest": (
        lambda **k: len(kn.backtest(**k).forecasts),
        {"matches": matches, "raters": rated, "train_until": "2020-01-15", "metrics": ("log_loss",)},
    ),
    "choose_rater": (
        lambda **k: choose_rater(**k).name,
        {"matches": matches, "raters": two_raters},
    ),
    "Mixture": (lambda **k: Mixture(**k), {"raters": two_raters}),
    "Mixture.fit": (lambda **k: Mixture([rated()]).fit(**k).weights_, {"matches": season}),
    "Population": (
        lambda **k: Population(**k).mean_rating,
        {"density": np.ones((4, 1, 5)), **cells()},
    ),
    "Population.uniform": (lambda **k: Population.uniform(**k).mean_rating, cells()),
    "Population.gaussian": (
        lambda **k: Population.gaussian(**k).mean_rating,
        {**cells(), "theta_mean": 7.0, "theta_sd": 1.0, "r_mean": 7.0, "r_sd": 1.0},
    ),
    "Population.concentrated": (
        lambda **k: Population.concentrated(**k).mean_rating,
        {"rating": 7.0, **cells()},
    ),
    "kinetic_states": (
        lambda **k: first(kinetic_states(**k))[0].population.mean_rating,
        {"system": system(), "start": Population.uniform(**cells()), "until": 0.1, "threads": 1},
    ),
    "Population.from_function": (
        lambda **k: Population.from_function(**k).mean_rating,
        {"function": np.vectorize(lambda theta, sigma, r: 1.0), **cells()},
    ),
    "Population.from_function.value": (
        lambda value: Population.from_function(lambda theta, sigma, r: value, **cells()).mean_rating,
        {"value": 1.0},
    ),
    "Population.concentrated.value": (
        lambda value: Population.concentrated(lambda theta, sigma: value, **cells()).mean_rating,
        {"value": 7.0},
    ),
    "RatingSystem.read_study": (
        lambda **k: read_study(**k),
        {"path": study_file, "allow_code": False},
    ),
    "RatingSystem.parse_study": (
        lambda **k: parse_study(k).system,
        {"gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}, "pairing": {"kind": "local"},
         "league": {"kind": "normal", "theta": [0.0, 1.0], "sigma": 1.0}, "simulate": {"steps": 4, "seed": 1},
         "schedule": {"kind": "rounds"}, "title": "A study"},
    ),
    "Forecast": (
        lambda **k: Forecast(**k).points,
        {"probabilities": [[0.5, 0.3, 0.2]] * 3, "unknown": (), "matches": fixtures,
         "ratings_before": np.ones((3, 2))},
    ),
    "RatingSystem.gammas": (lambda **k: system().gammas(**k), {"teams": 3}),
    "FideSteps.juniors": (lambda **k: FideSteps().juniors(**k), {"teams": 3}),
    "solve": (
        lambda **k: kn.solve(**k).rating_given_theta.values,
        {"system": system(), "population": Population.uniform(**cells()), "until": 0.1, "closure": "exact",
         "scheme": "tvd", "dt": 0.05, "diffusion": 0.1, "save_at": [0.1], "stop": "steady", "steady_below": 1e-4,
         "samples": 2, "threads": 1},
    ),
    "simulate": (
        lambda **k: kn.simulate(**k).rating.values,
        {"system": system(), "strengths": league(), "steps": 4, "matches_per_step": 5, "realisations": 2, "seed": 1,
         "start": [7.0, 7.0, 7.0], "record_every": 2, "sampling": "marginal", "threads": 1, "device": "cpu"},
    ),
    "simulation_states": (
        lambda **k: [state.rating for state in first(simulation_states(**k))],
        {"system": system(), "strengths": league(), "stops": [1, 2], "matches_per_step": 5, "realisations": 2,
         "seed": 1, "start": [7.0, 7.0, 7.0], "sampling": "literal", "threads": 1},
    ),
    "Learning": (lambda **k: Learning(**k), {"alpha": 0.1, "beta": 0.1, "diffusion": 0.1, "on": "expected"}),
    "Form": (lambda **k: Form(**k), {"rate": 0.1, "spread": 0.5}),
    "Walk": (lambda **k: Walk(**k), {"spread": 0.1}),
    "Turnover": (
        lambda **k: Turnover(**k),
        {"rate": 0.01, "theta": [6.0, 7.0], "start": 7.0, "leaving": "random"},
    ),
    "tracking": (
        lambda **k: kn.tracking(**k).moments,
        {"system": system(), "strengths": league(), "dynamics": Form(rate=0.1, spread=0.5), "check": False},
    ),
    "best_gamma": (
        lambda **k: kn.best_gamma(**k).gamma,
        {"system": kn.Tanh(nu=0.5), "strengths": league(), "dynamics": Form(rate=0.1, spread=0.5)},
    ),
    "critical_gamma": (
        lambda **k: critical_gamma(**k).critical,
        {"system": kn.Tanh(nu=0.5), "strengths": league()},
    ),
    "newcomer": (
        lambda **k: newcomer(**k).rating,
        {"system": system(), "strengths": kn.Normal([-2.0, 0.0, 1.0], 1.0), "theta": 0.5, "start": 0.0},
    ),
    "Results": (
        lambda **k: Results(**k).signed,
        {"table": [[0.5, 0.7], [0.3, 0.5]], "names": ["a", "b"], "games": 10},
    ),
    "matchmaking": (
        lambda **k: kn.matchmaking(**k).best.matches,
        {"system": system(), "strengths": league(), "fairness": 0.9, "pairings": None, "check": False},
    ),
    "LooseWindow": (lambda **k: LooseWindow(**k).w(1.0), {"c": 2.0, "far": 0.1}),
    "farming": (
        lambda **k: kn.farming(**k).gain,
        {"system": system(), "strengths": league(), "team": 0, "opponents": 1, "noise": "none"},
    ),
    "contest_worth": (
        lambda **k: contest_worth(**k),
        {"system": kn.RatingSystem(kn.Tanh(nu=0.5), schedule=Field(3)), "strengths": league()},
    ),
    "settled_deviations": (
        lambda **k: settled_deviations(**k).deviation,
        {"system": kn.Tanh(nu=0.5), "strengths": league(), "growth": 0.05, "noise": "none"},
    ),
    "strength_profile": (
        lambda **k: strength_profile(**k).density,
        {"outcome": kn.Tanh(nu=0.5), "learning": Learning(alpha=0.1, diffusion=0.1), "sigma": 0.5},
    ),
    "sweep": (
        lambda **k: kn.sweep(**k).sizes,
        {"function": lambda **k: 1.0, "over": {"nu": [0.5, 1.0]}, "along": "nu", "out": "swept", "client": None},
    ),
    "convergence_table": (
        lambda **k: kn.sweeps.convergence_table(**k)["order"].drop_nulls(),
        {"dataset": swept, "variable": "value", "axis": "n", "limit": 0.0},
    ),
    "scan_matches": (lambda **k: [len(p) for p in scan_matches(**k).pieces()], {"paths": river, "columns": None}),
}  # fmt: skip
"""Name → (the call, valid arguments)."""

RESULTS = {
    "Farming", "Matchmaking", "ResultsDiagnosis",
    "Changeover",
    "InputError", "KineloWarning", "NoStationaryState", "Outcome", "Pairing", "Strength", "Rater", "StationaryState",
    "Caveat", "Check", "UnbiasedGamma", "ContestAudit",
    "Relaxation", "Recovery", "Diagnosis", "Audit", "Design", "Matches", "Lineups", "Rejects", "League", "Backtest",
    "Estimates", "KineticState", "SimulationState", "Tracking", "BestGamma", "StrengthProfile",
    "StepRule", "Device", "MatchScan", "CriticalGamma", "DeviationState", "Newcomer", "Knockout", "Season",
    "RaterChoice", "ContestScan", "ContestForecast", "ContestBacktest",
}  # fmt: skip
"""Errors, bases, and what users receive but do not make."""


UNSWEPT: set[str] = {"plot"}
"""Names without a call of their own, a module of pictures among them, or whose valid calls are still to be written."""


def rated_anew():
    return kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5)
