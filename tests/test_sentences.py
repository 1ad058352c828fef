"""Refusals that no other test reads, word by word: what is wrong, with the number or name that is wrong."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import xarray as xr
from scipy import stats
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.forecasts.forecast import Forecast
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.guide.scenes import GuideController, scene_pictures, scenes
from kinelo.lab.rate.controller import RatingController
from kinelo.lab.rate.reading import read_rules
from kinelo.lab.rate.tables import read_table, sample_tables
from kinelo.lab.serve.pages import Pages
from kinelo.matches.fixtures import lineups_of_starters
from kinelo.matches.scan import joined
from kinelo.model.expectation import satisfies_b_prime
from kinelo.raters.adapter import settings_of
from kinelo.raters.upset_table import surprises
from kinelo.runtime import workers
from kinelo.runtime.atomic import check_name
from kinelo.service import doors
from kinelo.service.settings import Settings as ServiceSettings
from kinelo.studies.study import required
from kinelo.sweeps.sweep import convergence_table
from kinelo.theory.two_teams import gap_law

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
TANH, LEAGUE = kn.Tanh(nu=0.5), kn.Normal([4.0, 7.0, 10.0], 1.0)
SYSTEM = kn.RatingSystem(TANH, gamma=0.05)
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2]}
POINTS = [[0.5, 0.7, 0.2], [0.3, 0.5, 0.1], [0.8, 0.9, 0.5]]
GLICKO = kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(0.1, 1.0))
NEAR = kn.RatingSystem(TANH, kn.model.Window(c=2.0), gamma=0.05)


def matches():
    return kn.read_matches(TWO)


def classic(**more):
    return kn.TeamElo.classic(k=20, **more).update(matches())


def glicko():
    return kn.Glicko(growth=30.0).update(matches())


def swept():
    return kn.sweep(lambda cells, way: cells**-2.0 * len(way), {"cells": [10, 20], "way": ["a", "bcd"]})


def races():
    return kn.read_contests(RACES)


class Silent:
    """A rater that forecasts nothing."""

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return None

    predict = one_step_ahead


def fixtures(count):
    return kn.read_matches({name: TWO[name][:count] for name in ("date", "home", "away")}, played=False)


class Nothing:
    """What is no rater."""


class Forgetful(Silent):
    """A rater that does not keep its argument."""

    def __init__(self, size):
        self.other = size


# What is called, and what it answers.
CASES = {
    # Forecasts
    "a backtest of what forecasts nothing": (
        lambda: kn.backtest(matches(), {"mine": Silent()}, train_until="2024-01-05"),
        "mine does not forecast matches: one_step_ahead gave NoneType.",
    ),
    "a backtest of contests of what forecasts nothing": (
        lambda: kn.backtest(races(), {"mine": Silent()}, train_until=1),
        "mine does not forecast contests; kinelo.RankElo and kinelo.TeamElo.classic do.",
    ),
    "rules of a season": (
        lambda: kn.season(classic(), fixtures(2), rules={"win": 3}, seed=1),
        "rules must be kinelo.forecasts.Rules, not dict.",
    ),
    "a season of nothing": (
        lambda: kn.season(classic(), fixtures(2)[:0], seed=1),
        "A season needs fixtures: matches read with read_matches(..., played=False).",
    ),
    "more seasons than fit": (
        lambda: kn.season(classic(), fixtures(2), realisations=10**9),
        "1,000,000,000 realisations of 2 fixtures are too many at once; ask for fewer.",
    ),
    "a whole number beyond what loops count": (
        lambda: kn.TeamElo(step=10**9 + 1),
        r"TeamElo\(step=1000000001\) cannot be used: step is a finite number of at least 0; "
        r"a whole number is at most 1,000,000,000 in size\.",
    ),
    "since without results": (
        lambda: kn.season(classic(), fixtures(2), since="2024-01-01", seed=1),
        "since says which results count: give them too, results=matches.",
    ),
    # Models
    "b that is not odd": (
        lambda: kn.model.Outcome.from_function(lambda z: 0.75 * np.tanh(z) + (0.125 if z > 1.5 else 0.0)),
        r"b must be odd, but b\(([\d.]+)\) = ([\d.]+) and b\(-\1\) = -[\d.]+\.",
    ),
    "b that falls": (
        lambda: kn.model.Outcome.from_function(lambda z: np.tanh(z) * (1 - 0.5 * np.tanh(z * z / 9))),
        r"b must be increasing, but b\([\d.]+\) = [\d.]+ and b\([\d.]+\) = [\d.]+\.",
    ),
    "b that jumps": (
        lambda: kn.model.Outcome.from_function(lambda z: 0.75 * np.tanh(z) + 0.2 * np.sign(z) * (abs(z) > 2)),
        r"b must be continuous, but it jumps by 0\.2 at 2\.",
    ),
    "ties that are not even": (
        lambda: kn.model.Outcome.from_function(lambda z: np.tanh(z), ties=lambda z: 0.2 / (1 + np.exp(z))),
        r"ties must be even, but ties\(([\d.]+)\) = [\d.]+ and ties\(-\1\) = [\d.]+\.",
    ),
    "steps of deviations": (
        lambda: kn.model.DeviationSteps(0.1, 1.0).at(np.zeros(2), np.zeros(2, int), np.zeros(2, bool)),
        "The step of DeviationSteps depends on each side's deviation, not on ratings and matches.",
    ),
    "juniors": (
        lambda: kn.model.FideSteps(under_18=5),
        "under_18 must list teams by index, or by name, not 5.",
    ),
    "FIDE's steps on another scale": (
        lambda: kn.RatingSystem(kn.Tanh(nu=0.5), gamma=kn.model.FideSteps()),
        "FideSteps is made for the chess scale, where b'(0) is 0.00288 as in Tanh.elo(), not 0.5.",
    ),
    "theta of three dimensions": (
        lambda: kn.Normal(np.zeros((2, 2, 2)), 1.0),
        r"theta must have [\d or]+ dimension\(s\), not 3\.",
    ),
    # Theory
    "a newcomer among windows": (
        lambda: kn.theory.newcomer(NEAR, LEAGUE, theta=3.0, start=1.0),
        "A newcomer is followed under AllPlayAll, match by match; simulate plays the rest.",
    ),
    "learning of unequal teams": (
        lambda: kn.tracking(SYSTEM, kn.Normal([4.0, 7.0], [0.5, 2.0]), kn.model.Learning(alpha=0.1)),
        "Strengths that learn are computed for one common sigma, not for spreads from 0.5 to 2; simulate plays "
        "unequal ones.",
    ),
    "one more team among windows": (
        lambda: kn.stationary(NEAR, LEAGUE).rating_of(5.0),
        "The rating of one more team is defined for AllPlayAll only: where pairing depends on ratings, a team can "
        "settle in several places.",
    ),
    "a density of nothing": (
        lambda: kn.macro.Population(np.zeros((3, 4)), theta=(0.0, 1.0, 3), r=(0.0, 1.0, 4), sigma=1.0),
        "density must have a positive total mass, not 0.",
    ),
    "stops": (
        lambda: next(iter(kn.micro.simulation_states(SYSTEM, LEAGUE, stops=4, seed=1))),
        "stops must list steps, not 4.",
    ),
    # Advice
    "titles": (
        lambda: kn.changeover(classic(), kn.TeamElo.classic(k=40), matches(), thresholds=[2200]),
        r"thresholds must map titles to ratings, such as \{'Master': 2200\}, not \[2200\]\.",
    ),
    "a design of numbers": (
        lambda: kn.design(LEAGUE, None, {"mine": 0.05}),
        "systems must hold RatingSystems, but 'mine' is 0.05.",
    ),
    "pairings": (
        lambda: kn.matchmaking(SYSTEM, LEAGUE, pairings=[kn.model.Window(c=1.0)]),
        r"pairings must be Pairings by name, not \[Window\(.*\)\]\.",
    ),
    # Pictures, pages, sweeps and studies
    "a picture of no sweep": (lambda: kn.plot.sweep("sweep"), "dataset must be what kn.sweep returned, not 'sweep'."),
    "a picture of an empty sweep": (lambda: kn.plot.sweep(xr.Dataset()), "The dataset has no variables to be drawn."),
    "an order of no sweep": (
        lambda: kn.sweeps.convergence_table("sweep", "x", "h"), "dataset must be what kn.sweep returned, not 'sweep'."
    ),
    "a study of no file": (
        lambda: kn.studies.read_study(7), "A study is named by its file, such as 'study.toml', not by 7.",
    ),
    "a page of a number": (
        lambda: kn.pages.share_page(7), "A page shows a fitted rater, an audit or a diagnosis, not int.",
    ),
    "a ranking of words": (
        lambda: kn.pages.share_page(classic(), ranking={"best": 3}),
        r"ranking must map any of .*caution.* to numbers, not \{'best': 3\}\.",
    ),
    "a page in no file": (lambda: kn.write_page(classic(), 7), "path must name a file, not int."),
    # Matches
    "a mapping of what is not read": (
        lambda: kn.read_matches(TWO, columns={"arena": "home"}),
        r"The column mapping speaks of 'arena'; it may only contain .*home.*\.",
    ),
    "a mapping of a contest": (
        lambda: kn.read_contests({"driver": ["A"], "place": [1]}, columns={"place": ["place", "driver"]}),
        r"The column mapping sends 'place' to \['place', 'driver'\]; name one column\.",
    ),
    "a mapping that is a list": (
        lambda: kn.read_contests({"driver": ["A"], "place": [1]}, columns=["place"]),
        r"columns must be a mapping such as \{'date': 'day'\}, not list\.",
    ),
    "slots without columns": (
        lambda: kn.read_contests({"driver": ["A"], "place": [1]}, slots={"driver": []}),
        r"slots names 'driver' with \[\]; a kind has one or several columns\.",
    ),
    "which is best": (
        lambda: kn.read_contests({"race": [1, 1], "driver": ["A", "B"], "time": [1.5, 2.5]}, best="middle"),
        "best must be 'lowest' or 'highest', not 'middle'.",
    ),
    "a side against itself": (
        lambda: classic().predict_one("A", " A "), "'A' cannot play against itself; a match has two sides.",
    ),
    "a player twice": (
        lambda: kn.PlayerElo().update_one("A", "B", 1, home_lineup=["Ann", "Ann"], away_lineup=["Bob"]),
        r"\['Ann', 'Ann'\] names a player twice\.",
    ),
    "matches that are not read": (
        lambda: kn.TeamElo.classic(k=20).fit("results.csv"),
        r"matches must be read before they are used: kinelo\.read_matches\('results\.csv'\)\.",
    ),
    "aliases in three columns": (
        lambda: kn.read_matches(TWO, aliases=pl.DataFrame({"a": ["A"], "b": ["B"], "c": ["C"]})),
        r"(?s)A file of aliases has two columns, the name found and the name wanted; .* has 3\.",
    ),
    "aliases that go round": (
        lambda: kn.read_matches(TWO, aliases={"A": "B", "B": "A"}), r"The aliases of '[AB]' lead back to it\.",
    ),
    "a league replaced whole": (
        lambda: kn.sample_league(teams=4, promoted=4),
        "Of 4 teams, at most 3 can be replaced after a season, not 4.",
    ),
    "a report that is no path": (
        lambda: kn.matches.tournament_players(7),
        "tournament_players takes the path of a tournament report, not int.",
    ),
    "endings": (
        lambda: kn.read_matches(TWO, endings=["aet"]),
        r"endings must map words to what they stand for, not be \['aet'\]\.",
    ),
    # Raters
    "an account of a number": (lambda: kn.explain_last(classic(), 7), "A name is text, not 7."),
    "a player named twice": (lambda: kn.balance(classic(), ["A", "B", "A"]), "'A' is named twice."),
    "one player": (lambda: kn.balance(classic(), ["A"]), r"Between 2 and \d+ players can be split, not 1\."),
    "too many sides": (lambda: kn.balance(classic(), ["A", "B"], sides=3), "2 players cannot be split into 3 sides."),
    "roles": (
        lambda: kn.balance(classic(), ["A", "B"], roles=["tank"]),
        r"roles must give roles by name, such as \{'Ann': 'tank'\}, not \['tank'\]\.",
    ),
    "a state that is a list": (
        lambda: classic().from_arrays([1]),
        "A state of ClassicElo is a mapping from names to arrays, as to_arrays gives.",
    ),
    "a state of another": (
        lambda: classic().from_arrays({"x": np.zeros(2)}),
        r"These arrays are no state of ClassicElo: '\w+' is missing\.",
    ),
    "points that are a list": (
        lambda: kn.raters.with_points(classic(), [40]), "points must map names to numbers, not list.",
    ),
    "points of no rater": (
        lambda: kn.raters.with_points(SimpleNamespace(), {"A": 40}),
        "with_points takes a fitted rater, not SimpleNamespace.",
    ),
    "a system and a step": (
        lambda: kn.TeamElo(step=20.0, system=kn.RatingSystem(kn.Tanh.elo(), gamma=10.0)),
        "TeamElo takes step from its system; give either the system or step, not both.",
    ),
    "a correlation with nobody": (
        lambda: kn.KalmanElo().update(matches()).correlation("A", "Z"),
        "'Z' has not played; the correlation is between teams that have.",
    ),
    "a quality with line-ups": (
        lambda: kn.match_quality(kn.RankElo(walk=0.3).update(races()), "A", "B", home_lineup=["A"]),
        "RankElo takes no home_lineup here; it rates no line-ups.",
    ),
    "FIDE's forecast": (
        lambda: kn.FideElo(as_of="2025-10-01").update(matches()).predict_one("A", "B"),
        "FideElo makes lists and forecasts nothing; begin another rater with its ratings: "
        "TeamElo.classic(start=rater.ratings_).",
    ),
    "years of birth": (
        lambda: kn.FideElo(born=7, as_of="2025-10-01").update(matches()),
        "born must give years of birth by name, not int.",
    ),
    # More of raters and forecasts
    "a bracket of three": (
        lambda: kn.knockout(classic(), ["A", "B", "C"], date="2024-02-01"),
        "A bracket needs 2, 4, 8, … different sides, not 3.",
    ),
    "a bracket with a side twice": (
        lambda: kn.knockout(classic(), ["A", "B", "A", "C"], date="2024-02-01"),
        "A bracket needs 2, 4, 8, … different sides, not 4.",
    ),
    "matches that are numbers": (
        lambda: kn.TeamElo.classic(k=20).update(7),
        "matches must be Matches, as kinelo.read_matches returns them, not int.",
    ),
    "two aliases": (
        lambda: kn.read_matches(TWO, aliases=pl.DataFrame({"old": ["A", "A"], "new": ["X", "Y"]})),
        "'A' has two aliases, 'X' and 'Y'.",
    ),
    "an alias without a name": (
        lambda: kn.read_matches(TWO, aliases={"A": " "}), "The alias 'A' → ' ' lacks a name.",
    ),
    "K of a list": (
        lambda: kn.FideElo(as_of="2025-10-01", start=pl.DataFrame([{"name": "A", "rating": 2e3, "k": 15}])).update(
            matches()
        ),
        "The list gives 'A' K = 15; FIDE's K is 40, 20 or 10.",
    ),
    "values that are a list": (
        lambda: kn.fair_value(kn.Glicko(covariates=["stones"]), "A", "B", "stones", given=[1]),
        "given=[1] must give values by covariate.",
    ),
    "fixtures that should change ratings": (
        lambda: classic().update(fixtures(2)),
        "A match without a result cannot change a rating; forecast it with predict.",
    ),
    "b that rises too late": (
        lambda: kn.model.Outcome.from_function(lambda z: z / (1e14 + abs(z)) if abs(z) < 1e12 else np.sign(z) * 0.5),
        r"b must rise from 0 to its supremum between differences of 1e-9 and 1e12; "
        r"b\(1e-09\) = 1e-23 and b\(1e\+12\) = 0\.5\.",
    ),
    "a team that is not there": (
        lambda: kn.farming(SYSTEM, kn.Normal([4.0, 7.0, 10.0], 1.0, names=["a", "b", "c"]), team="d"),
        "team must be one of a, b, c, not 'd'.",
    ),
    "a team of no name": (
        lambda: kn.farming(SYSTEM, LEAGUE, team="d"), "team must be a number: no team has a name, not 'd'.",
    ),
    "a width of a picture": (
        lambda: kn.plot.stationary(kn.stationary(SYSTEM, LEAGUE), width=0.1),
        r'width must be inches, "single" or "double", from [\d.]+ to [\d.]+, not 0\.1\.',
    ),
    "a study without a league": (
        lambda: required("league", None), "The study needs a [league] section.",
    ),
    "a sweep of dates": (
        lambda: kn.sweep(lambda x: xr.Dataset({"when": ("t", np.array(["2020-01-01"], "M8[ns]"))}), {"x": [1]}),
        "No point of the sweep could be computed; the first says: The function gives 'when' of type datetime64[ns]; "
        "numbers and text are accepted.",
    ),
    # Reading tables
    "two columns of one name": (
        lambda: kn.read_matches({1: ["A", "B"], "1": ["B", "C"], "result": [1, 0]}),
        "The table has two columns of one name among '1', 'result'.",
    ),
    "a sheet that is no name": (
        lambda: kn.read_matches(TWO, sheet=2.5), "sheet must be the name or number of a sheet, not 2.5.",
    ),
    "a condition that is no name": (
        lambda: kn.read_matches(TWO, conditions=[7]), "conditions must be a list of names of columns, not [7].",
    ),
    "conditions that are a number": (
        lambda: kn.read_matches(TWO, conditions=7), "conditions must be a list of names of columns, not 7.",
    ),
    "a team column that is not there": (
        lambda: kn.read_contests(RACES, team="crew"),
        "team= names 'crew', but the columns are 'race', 'driver', 'place'.",
    ),
    "a slot that is not there": (
        lambda: kn.read_contests(RACES, slots=["driver", "car"]),
        "slots= names 'car', but the columns are 'race', 'driver', 'place'.",
    ),
    "an advantage that is not there": (
        lambda: kn.read_contests(RACES, advantages=["grid"]),
        "advantages= names 'grid', but the columns are 'race', 'driver', 'place'.",
    ),
    "times of nobody who played": (
        lambda: lineups_of_starters({"Ann": 0, "Bob": 0}, ["Cid"]),
        "Nobody of Ann, Bob played at all; leave out the times, or give some.",
    ),
    "an option of scans that is not there": (
        lambda: kn.matches.scan_contests("races.csv", sheet=1),
        "scan_contests has no option 'sheet'; it takes slots, advantages, team, best, unfinished, disqualified, "
        "not_started, aliases, dates, endings, accept_losses.",
    ),
    "no pieces": (lambda: joined([]), "There are no matches in the files and days asked for."),
    # Sample leagues
    "a league of too many": (
        lambda: kn.sample_league(teams=501, seasons=2),
        "A league has 2 to 500 teams and 1 to 100 seasons, not 501 and 2.",
    ),
    "a league for too long": (
        lambda: kn.sample_league(teams=6, seasons=101),
        "A league has 2 to 500 teams and 1 to 100 seasons, not 6 and 101.",
    ),
    "an edge beyond all": (
        lambda: kn.sample_league(teams=4, seasons=1, home_advantage=-1e9),
        r"home_advantage and the spreads of a league must be at most [\d,e+]+ in size\.",
    ),
    "contests of more than there are": (
        lambda: kn.matches.sample_contests(contests=2, entrants=9, size=(3, 5), team=2),
        "size=(3, 5) with 2 players each needs from 2 to 9 of the entrants.",
    ),
    "a walk beyond all": (
        lambda: kn.matches.sample_contests(contests=2, walk=2e6), "walk must be at most 1,000,000, not 2e+06.",
    ),
    # Tables of results
    "a table of words": (
        lambda: kn.model.Results([["a", "b"], ["c", "d"]]),
        "table must be a square table of numbers; a list of games becomes one by "
        "kinelo.model.Results.from_matches(kinelo.read_matches(...)).",
    ),
    "a table that is not square": (
        lambda: kn.model.Results([[0.5, 0.7, 0.2], [0.3, 0.5, 0.1]]),
        "table must be a square table of at least 2 teams, not of shape [2, 3].",
    ),
    "a table of one": (
        lambda: kn.model.Results([[0.5]]), "table must be a square table of at least 2 teams, not of shape [1, 1].",
    ),
    "games of one side only": (
        lambda: kn.model.Results(POINTS, games=[[0, 3, 1], [2, 0, 1], [1, 1, 0]]),
        "games must be 0 or more, and the same for both teams of a pair.",
    ),
    "games below nought": (
        lambda: kn.model.Results(POINTS, games=[[0, -3, 1], [-3, 0, 1], [1, 1, 0]]),
        "games must be 0 or more, and the same for both teams of a pair.",
    ),
    "no games": (lambda: kn.model.Results(POINTS, games=0), "games must hold at least one match."),
    "a pair without a number": (
        lambda: kn.model.Results([[0.5, np.nan, 0.2], [0.3, 0.5, 0.1], [0.8, 0.9, 0.5]]),
        "table must hold a number for every pair that met, but the entry at [0, 1] is nan.",
    ),
    "signed results beyond one": (
        lambda: kn.model.Results([[0, 1.25], [-1.25, 0]]),
        "Signed results must lie between −1 and 1, but the table reaches 1.25.",
    ),
    "points that do not add up": (
        lambda: kn.model.Results([[0.5, 0.7, 0.2], [0.3, 0.5, 0.4], [0.8, 0.9, 0.5]]),
        "table must hold points per match from 0 to 1, of both teams 1 in all, or signed results that add up to 0; at "
        "[1, 2] it holds 0.4 and 0.9.",
    ),
    "results of nothing": (
        lambda: kn.model.Results.from_matches(matches()[:0]),
        "A table of results needs played matches of at least two sides.",
    ),
    "pairs that never met": (
        lambda: kn.stationary(SYSTEM, kn.model.Results.from_matches(matches())),
        "A and C never met: what everybody scores against everybody is not known. kn.diagnose weighs pairs by their "
        "games.",
    ),
    "performances of a table": (
        lambda: kn.model.Results(POINTS).performances(np.array([0]), np.array([0.5])),
        'A table of Results has no performances to draw: its matches are drawn from the table, in matches of two with '
        'sampling="marginal", for at most 4096 teams whose strengths do not move.',
    ),
    # Laws
    "results of no outcome": (
        lambda: kn.expected_result(0.5, LEAGUE), "outcome must be an Outcome such as Tanh or Davidson, not 0.5.",
    ),
    "the condition of no outcome": (
        lambda: satisfies_b_prime("tanh", 1.0),
        "outcome must be an Outcome such as Tanh or Davidson, not 'tanh'.",
    ),
    "a profile of no outcome": (
        lambda: kn.theory.strength_profile(None, kn.model.Learning(alpha=1.0, diffusion=1.0)),
        "outcome must be an Outcome such as Tanh or Davidson, not None.",
    ),
    "a share of far pairs": (
        lambda: kn.model.LooseWindow(c=2.0, far=1.5), "far is a probability of at most 1, not 1.5.",
    ),
    "a distribution without its numbers": (
        lambda: kn.model.Scaled(stats.t, LEAGUE.theta, 1.0),
        "distribution must come with its parameters, such as scipy.stats.t(3); t() has no mean() without more of them.",
    ),
    "a schedule of words": (
        lambda: kn.RatingSystem(TANH, gamma=0.05, schedule="weekly"),
        "schedule must be None (random pairing), Rounds(), Period(matches) or Field(size), not 'weekly'.",
    ),
    "names that are one": (
        lambda: kn.Normal([4.0, 7.0], 1.0, names="AB"), "names must be a list of names, not 'AB'.",
    ),
    "a name that is none": (
        lambda: kn.Normal([4.0, 7.0], 1.0, names=["A", None]), "names must be a list of names; None is none.",
    ),
    "deviations of contests": (
        lambda: kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(0.1, 1.0), schedule=kn.model.Field(3)),
        "DeviationSteps are Glicko's, for matches of two, not for Field(size=3).",
    ),
    "one step of several": (
        lambda: kn.RatingSystem(TANH, gamma=kn.model.FallingSteps(0.05, boost=2.0, matches=30)).step,
        r"gamma = FallingSteps\(.*\) is not one number, and what depends on its size \(noise, relaxation, advice\) is "
        r"known for one step only; the stationary map as gamma → 0 is the same for any steps\.",
    ),
    "the step of rounds": (
        lambda: kn.RatingSystem(TANH, gamma=0.05, schedule=kn.model.Rounds()).step,
        "What depends on the size of gamma is not known for Rounds(), only for random pairing.",
    ),
    "a number of too many digits": (
        lambda: kn.sample_league(teams=10**30), r"teams must be at most \d+, not a number of 31 digits\.",
    ),
    # Simulation and theory
    "a book's deviations under another outcome": (
        lambda: kn.simulate(replace(GLICKO, outcome=kn.model.Probit(0.5)), LEAGUE, steps=10),
        r"DeviationSteps are Glicko's, whose outcome is Tanh, not Probit\(.*\)\.",
    ),
    "a best step among windows": (
        lambda: kn.best_gamma(NEAR, LEAGUE, kn.model.Walk(0.01)),
        "The best gamma of strengths that move is computed for AllPlayAll only.",
    ),
    "deviations without growth": (
        lambda: kn.theory.settled_deviations(SYSTEM, LEAGUE),
        "growth must be given, unless the system has DeviationSteps; it has 0.05.",
    ),
    "a newcomer with everybody's steps": (
        lambda: kn.theory.newcomer(kn.RatingSystem(TANH, gamma=[0.1, 0.2, 0.1]), LEAGUE, theta=3.0, start=1.0),
        "A newcomer has a step of its own: give one gamma or a step rule, not (0.1, 0.2, 0.1).",
    ),
    "rounds of too many": (
        lambda: kn.theory.critical_gamma(TANH, kn.Fixed(np.linspace(0, 9, 5001))),
        r"Rounds are analysed for at most \d+ teams, not 5001\.",
    ),
    "one more team of none": (
        lambda: kn.stationary(SYSTEM, LEAGUE).rating_of([]), "theta must hold at least one strength.",
    ),
    "the gap of three": (
        lambda: gap_law(SYSTEM, LEAGUE),
        "The exact law of the gap is that of 2 teams with one step each, at rest or with form.",
    ),
    "rounds of a large league": (
        lambda: kn.simulate(
            kn.RatingSystem(TANH, gamma=0.05, schedule=kn.model.Rounds()), kn.Fixed(np.linspace(0, 9, 4098)), steps=10
        ),
        "Rounds() is for leagues of at most 4096 teams, not 4098.",
    ),
    # Decisions
    "names that are no list": (lambda: kn.Elimination("AB"), "names='AB' must be a list of names."),
    "odd results": (
        lambda: kn.Elimination(["A", "B", "C"]).update_matches(kn.read_matches(TWO | {"result": [0.75, 0.5]})),
        "Elimination counts wins, draws and losses; other results have no place in it.",
    ),
    "a price of everything": (
        lambda: kn.next_matches(glicko(), cost=7),
        "cost=7 must be numbers by pair of names, or a function of two names.",
    ),
    "prices by name": (
        lambda: kn.next_matches(glicko(), cost={"A": 2.0}),
        "cost must be numbers by pair of names, {('A', 'B'): 2.5}.",
    ),
    "learning anew never": (
        lambda: ServiceSettings("book.db", refit_every=0), "--refit-every must be at least 1, not 0.",
    ),
    # Sweeps
    "points that are no tables": (
        lambda: kn.sweep(abs, [{"x": 1.0}, 2.0]),
        "over must hold at least one point, each a mapping of parameters to their values.",
    ),
    "points of nothing": (
        lambda: kn.sweep(abs, []), "over must hold at least one point, each a mapping of parameters to their values.",
    ),
    "a parameter of no name": (
        lambda: kn.sweep(abs, [{"point": 1.0}]), "over: a parameter needs a name other than 'point', not 'point'.",
    ),
    "a result of nothing": (
        lambda: kn.sweep(lambda x: xr.Dataset(), {"x": [1.0]}),
        "No point of the sweep could be computed; the first says: The function gave a result without any variable.",
    ),
    "convergence along words": (
        lambda: convergence_table(swept(), "value", "way"),
        "axis must be an axis of numbers of 'value', not 'way'.",
    ),
    "convergence of one": (
        lambda: convergence_table(swept().isel(cells=[1]), "value", "cells"),
        "A convergence table needs at least two different positive values of cells.",
    ),
    "convergence from nought": (
        lambda: convergence_table(swept().assign_coords(cells=[0, 20]), "value", "cells"),
        "A convergence table needs at least two different positive values of cells.",
    ),
    "a limit of another shape": (
        lambda: convergence_table(swept(), "value", "cells", limit=[1.0, 2.0, 4.0]),
        "limit must be a finite number or numbers of shape [2], not [1.0, 2.0, 4.0].",
    ),
    "an endless limit": (
        lambda: convergence_table(swept(), "value", "cells", limit=np.inf),
        "limit must be a finite number or numbers of shape [2], not inf.",
    ),
    # Advice
    "contests to come that are audited": (
        lambda: kn.audit(kn.read_contests({"race": [1, 1], "driver": ["A", "B"], "place": [None, None]}, played=False)),
        "A contest without places tells nothing of ratings; audit those that have taken place.",
    ),
    "a changeover of fixtures": (
        lambda: kn.changeover(classic(), classic(), fixtures(2)),
        "A changeover needs matches with results; read them with played=True.",
    ),
    "a list that is none": (
        lambda: kn.changeover(classic(), {"who": ["A"], "worth": [1500]}, matches()),
        r"The new list cannot be read: start has no column 'name'; it has who, worth\.",
    ),
    "lists of others": (
        lambda: kn.changeover(
            {"name": ["A", "B"], "rating": [1500, 1600]}, {"name": ["B", "C"], "rating": [1500, 1600]}, matches()
        ),
        "The old and the new list have fewer than two sides in common; check the names.",
    ),
    "deviations in rounds": (
        lambda: kn.diagnose(replace(GLICKO, schedule=kn.model.Rounds()), LEAGUE),
        "DeviationSteps are judged match by match, not for Rounds(); simulate plays them.",
    ),
    "rounds of a continuum": (
        lambda: kn.diagnose(
            kn.RatingSystem(TANH, gamma=0.01, schedule=kn.model.Rounds()), kn.theory.Continuum(theta=(4, 10), sigma=1.0)
        ),
        "Rounds() needs a number of teams, which a continuum has not; give Period(matches).",
    ),
    # Forecasts of raters
    "metrics of one word": (
        lambda: kn.backtest(matches(), {"elo": classic()}, train_until="2024-01-05", metrics="rps"),
        r"metrics must be a list of log_loss, .*accuracy, not 'rps'\.",
    ),
    "a rater that is a class": (
        lambda: kn.backtest(matches(), {"mine": kn.TeamElo}, train_until="2024-01-05"),
        r"TeamElo is a class; make a rater of it: TeamElo\(\)\.",
    ),
    "a forecast of no matches": (
        lambda: Forecast(np.full((1, 3), 1 / 3), (), matches=TWO), "matches of a forecast are Matches, not dict.",
    ),
    "chances of unequal numbers": (
        lambda: Forecast.of(np.array([0.5]), np.array([0.2, 0.2]), np.array([0.3])),
        "win, draw and loss must hold a probability for each match.",
    ),
    "a bracket of one": (
        lambda: kn.knockout(classic(), "AB", date="2024-02-01"), "bracket must be a list of names, not str.",
    ),
    "a season of no rater": (
        lambda: kn.season(Nothing(), fixtures(2), seed=1), "rater must be a rater such as KalmanElo, not Nothing.",
    ),
    "a season of halves of halves": (
        lambda: kn.season(classic(), kn.read_matches(TWO | {"result": [0.75, 0.5]}), seed=1),
        "Results of a season must be 1, ½ or 0: some are in between.",
    ),
    "a place of a stranger": (
        lambda: kn.RankElo().update(races()).predict(races()).chance_before(1, "A", "Z"),
        "'Z' does not take part in 2.",
    ),
    # Raters
    "players of no name": (
        lambda: kn.balance(classic(), ["A", " ", "B", "C"]),
        "['A', ' ', 'B', 'C'] holds what is no name; a name is text that is not blank.",
    ),
    "the role of a stranger": (
        lambda: kn.balance(classic(), ["A", "B"], roles={"Zed": "tank"}), "'Zed' of roles is not among the players.",
    ),
    "a wish that nothing meets": (
        lambda: kn.balance(classic(), ["A", "B", "C", "D"], together=[["A", "B"], ["B", "C"]]),
        "No split meets all wishes: together: A, B; together: B, C.",
    ),
    "an account of too much": (
        lambda: kn.explain_last(classic(), "A", matches(), last=10_001), r"last must be at most [\d,]+, not 10,001\.",
    ),
    "lists of no dates": (
        lambda: kn.FideElo(as_of="2025-10-01").update(kn.read_matches({k: v for k, v in TWO.items() if k != "date"})),
        "FIDE's lists are monthly, and these matches have no dates.",
    ),
    "a list of nothing": (
        lambda: kn.FideElo(as_of="2025-10-01").update(matches()[:0]).list_date_,
        "There is no list before the first match.",
    ),
    "one match of a list": (
        lambda: kn.explain(kn.FideElo(as_of="2025-10-01").update(matches()), "A", "B"),
        "A list takes all games of a period together: calculations_ shows every game of it.",
    ),
    "a history of a number": (
        lambda: kn.rating_history(classic(), matches(), side=7), "side must be a name, not 7.",
    ),
    "luck by a column twice": (
        lambda: kn.KalmanElo(noise_by=["pitch", "pitch"]).fit(matches()),
        "noise_by=['pitch', 'pitch'] names a column twice.",
    ),
    "changes of a stranger": (
        lambda: kn.preview(classic(), "A", "B").changes("Zoe"), "'Zoe' is not in this match.",
    ),
    "a contest of one word": (
        lambda: kn.preview(kn.RankElo().update(races()), "AB"), "A contest is a list of its entrants, not 'AB'.",
    ),
    "conditions of one word": (
        lambda: classic().predict_one("A", "B", conditions="clay"),
        "conditions='clay' must say levels by condition, such as {'surface': 'clay'}.",
    ),
    "points that no side has": (
        lambda: kn.raters.with_points(kn.BradleyTerry().update(matches()), {"A": 5.0}),
        "BradleyTerry keeps no rating per side to add points to; take TeamElo, KalmanElo or Glicko.",
    ),
    "points of a stranger": (
        lambda: kn.raters.with_points(classic(), {"Zoe": 5.0}),
        "'Zoe' is not rated; names are written as in the results.",
    ),
    "points that are a word": (
        lambda: kn.raters.with_points(classic(), {"A": "5"}), "points['A'] must be a number, not '5'.",
    ),
    "a system that is a number": (
        lambda: kn.TeamElo(system=0.1).update(matches()), "system must be a kinelo.RatingSystem, not float.",
    ),
    "a system of steps of each": (
        lambda: kn.TeamElo(system=kn.RatingSystem(kn.Tanh.elo(), gamma=[5.0, 7.0, 9.0])).update(matches()),
        "TeamElo needs one gamma or FallingSteps from its system, not (5.0, 7.0, 9.0).",
    ),
    "upsets of fixtures": (
        lambda: kn.raters.upsets(classic(), fixtures(2)),
        "Upsets are found among matches that have a result; read them with played=True.",
    ),
    "upsets of contests to come": (
        lambda: kn.raters.upsets(kn.RankElo(), kn.read_contests(RACES | {"place": [None] * 4}, played=False)),
        "Upsets are found among contests that have places; read them with played=True.",
    ),
    "surprises of plain Elo": (
        lambda: surprises(classic(), matches()), "rater must be a KalmanElo or a PlayerElo, not ClassicElo.",
    ),
    "a copy of no rater": (
        lambda: settings_of(Nothing()), "rater must be a rater such as KalmanElo, not Nothing.",
    ),
    "a copy of what forgets": (
        lambda: settings_of(Forgetful(3)),
         "Forgetful cannot be made anew: its argument 'size' is not kept as an attribute; keep it, or give the class "
        "get_params.",
    ),
    "luck by a column that was not read": (
        lambda: kn.RankElo(noise_by=["pitch"]).update(matches()),
        "The column 'pitch' of noise_by was not read; read it with read_matches(..., conditions=['pitch']).",
    ),
    "strengths that no waves resolve": (
        lambda: kn.expected_result(TANH, kn.Normal([0.0, 1e8], 1.0)),
        "Strengths 1e+08 apart cannot be resolved by outcomes that settle within 38: they may be at most 4.88e+05 "
        "apart; use a smaller nu, or rescale the strengths.",
    ),
    "twice as steep, half as far": (
        lambda: kn.expected_result(kn.Tanh(nu=1.0), kn.Normal([0.0, 1e8], 1.0)),
        "Strengths 1e+08 apart cannot be resolved by outcomes that settle within 19: they may be at most 2.44e+05 "
        "apart; use a smaller nu, or rescale the strengths.",
    ),
    "what to play of nobody": (
        lambda: kn.next_matches(kn.BradleyTerry()),
        "BradleyTerry has seen no match yet; call fit or update before you ask for forecasts.",
    ),
    "what to play of nobody by a filter": (
        lambda: kn.next_matches(kn.KalmanElo()),
        "KalmanElo has seen no match yet; call fit or update before you ask for forecasts.",
    ),
    # The lab
    "a scene that is not there": (lambda: scene_pictures(8), "There are scenes 1 to 7, not 8."),
    "units that are not there": (lambda: scene_pictures(1, "miles"), "Units are elo or paper."),
    "rules that are a list": (lambda: read_rules([3, 1]), "Rules are numbers: win, draw, relegated."),
    "a table of something else": (
        lambda: read_table("fixtures?", Path("none"), "x.csv", 10, 10),
        "A table holds results, lineups, names, aliases, fixtures, start, groups, ratings, not 'fixtures?'.",
    ),
    # The service
    "a token that can be guessed": (
        lambda: ServiceSettings("book.db", token="short"),
        "KINELO_TOKEN is shorter than 16 letters, which can be guessed.",
    ),
    "a service for all without a token": (
        lambda: ServiceSettings("book.db", host="0.0.0.0", token=""),
        "0.0.0.0 can be reached from elsewhere: set KINELO_TOKEN to a secret that every request must bring "
        "(Authorization: Bearer …), or leave out --host.",
    ),
    "a port beyond all": (
        lambda: ServiceSettings("book.db", port=65536), "--port must lie between 0 and 65535, not at 65536.",
    ),
    "no worker": (lambda: ServiceSettings("book.db", workers=0), "--workers must lie between 1 and 64, not at 0."),
    # Matches and contests
    "no column of either side": (
        lambda: kn.read_matches({"p": ["A"], "q": ["B"]}),
        "the table has no column for the home side, nor for the away side; name it with columns={'home': ..., "
        "'away': ...}, its columns are 'p', 'q'.",
    ),
    "no column of one side": (
        lambda: kn.read_matches({"home": ["A"], "q": ["B"], "result": [1]}),
        "the table has no column for the away side; name it with columns={'away': ...}, its columns are 'home', 'q', "
        "'result'.",
    ),
    "an order of dates": (
        lambda: kn.read_matches(TWO, dates="dym"), "dates='dym' is no order of dates; it is 'dmy', 'mdy' or 'ymd'.",
    ),
    "a column of one number": (
        lambda: kn.read_matches({**TWO, "home": 7}), "The column 'home' holds int, not one value per row.",
    ),
    "a column of one word": (
        lambda: kn.read_matches({**TWO, "away": "AB"}), "The column 'away' holds str, not one value per row.",
    ),
    "matches of a number": (lambda: kn.read_matches(7), r"Matches come from .+, not from int\."),
    "a kind that is not rated": (
        lambda: races().rating("car"), "There is no kind of slot ['car']; these are: driver.",
    ),
    "no kind": (lambda: races().rating(), "There is no kind of slot (); these are: driver."),
    "names that are no text": (
        lambda: kn.TeamElo.classic(k=20).update(replace(matches(), teams=("A", 7, "C"))),
        r"These matches do not hold together: the names of home must be a tuple of text, not .+\. Read them with "
        r"kinelo\.read_matches instead of making them by hand\.",
    ),
    "one row that is none": (
        lambda: kn.read_matches({name: values[:1] for name, values in TWO.items()} | {"result": ["?a"]}),
        r"No match of the table can be used, its only row was rejected \(.+\)\.",
    ),
    "two rows that are none": (
        lambda: kn.read_matches(TWO | {"result": ["?a", "?b"]}),
        r"No match of the table can be used, all 2 rows were rejected \(unreadable result: 2 \('\?a', '\?b'\)\)\.",
    ),
    # Files, workers and pictures
    "a name of no file": (lambda: check_name("a\0b"), r"'a\\x00b' is no name of a file\."),
    "a name of letters that are none": (lambda: check_name("\ud800"), r"'\\ud800' is no name of a file\."),
    "a name too long": (lambda: check_name("x/" + 256 * "a"), f"'x/{77 * 'a'} is no name of a file."),
    "a worker of another version": (
        lambda: workers._answer(b"", b"", "0.0.1", 1),
        f"A worker has Kinelo {kn.__version__} and this work was started with 0.0.1.",
    ),
    "workers here and elsewhere": (
        lambda: workers.client_of(2, "tcp://127.0.0.1:8786"), "--workers and --scheduler exclude each other.",
    ),
    "axes of words": (
        lambda: kn.plot.ratings(classic(), ax=["x"]), "ax must be axes of matplotlib, or a list of them.",
    ),
    # The lab and the service
    "controls of a number": (lambda: Controls.read(7), "The controls must come as names with values."),
    "rounds on a page of too many": (
        lambda: predicted_map(Controls(schedule="rounds", teams=210)),
        "Rounds are computed here for at most 200 teams, not 210.",
    ),
    "a made-up league": (
        lambda: sample_tables("go"), r"There is no made-up league 'go'; there are .+, .+\.",
    ),
    "a page that has left": (
        lambda: Pages.find(SimpleNamespace(_open={}), "k"),  # type: ignore[arg-type]
        "This page is no longer connected to the lab; reload it.",
    ),
    "a download of nothing": (
        lambda: RatingController.write(SimpleNamespace(league=None), "ratings", "x"),  # type: ignore[arg-type]
        "There is nothing to download as 'ratings'; rate a league first.",
    ),
    "a download of something else": (
        lambda: RatingController.write(SimpleNamespace(league=SimpleNamespace(downloads={})), "odds", "x"),  # type: ignore
        "There is nothing to download as 'odds'; rate a league first.",
    ),
    "a guess before the first answer": (
        lambda: GuideController().guess(1, -1), r"A guess is the place of an answer, 0 to [1-9]\.",
    ),
    "a guess of truth": (lambda: GuideController().guess(1, True), r"A guess is the place of an answer, 0 to [1-9]\."),
    "a guess of words": (lambda: GuideController().guess(1, "a"), r"A guess is the place of an answer, 0 to [1-9]\."),
    "a guess after the last scene": (
        lambda: GuideController().guess(len(scenes()) + 1, None),
        f"There are scenes 1 to {len(scenes())}, not {len(scenes()) + 1}.",
    ),
    "a guess before the first scene": (
        lambda: GuideController().guess(0, None), f"There are scenes 1 to {len(scenes())}, not 0.",
    ),
    "matches for a book of contests": (
        lambda: doors.add_matches(SimpleNamespace(holds=("contests",)), []),  # type: ignore[arg-type]
        "This book rates contests, also those of two: send them to /contests.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    call, sentence = CASES[case]
    pattern = sentence if "\\" in sentence else re.escape(sentence)
    with pytest.raises(kn.InputError) as refused:
        call()
    assert re.fullmatch(pattern, str(refused.value)), str(refused.value)


TYPED = {
    "a price of no match": (
        ["next", "--results", "results.csv", "--rater", "glicko", "--cost", "A=2"],
        "'A' is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.",
    ),
    "forecasts of the time before all": (
        ["predict", "results.csv", "--results", "results.csv", "--played-since", "2020-01-01"],
        "There are no results before 2020-01-01 to fit a rater on; choose a later one.",
    ),
    "forecasts of nothing": (
        ["predict"], "Say what to forecast: either a file of fixtures or --match 'HOME - AWAY'.",
    ),
    "since a day of a typed match": (
        ["predict", "--match", "A - B", "--played-since", "2024-01-01", "--book", "kept.db"],
        "--played-since forecasts played matches of a file from --results; it takes no --book or --match.",
    ),
    "the last of nobody": (
        ["why", "7", "--last", "3", "--results", "results.csv"],
        "--last counts somebody's last matches: give --of NAME.",
    ),
    "a page of a match": (
        ["why", "7", "--out", "a.html", "--results", "results.csv"],
        "--out writes the page of somebody: give --of NAME and a file whose name ends in .html.",
    ),
    "a page of somebody that is a table": (
        ["why", "--of", "A", "--out", "a.csv", "--results", "results.csv"],
        "--out writes the page of somebody: give --of NAME and a file whose name ends in .html.",
    ),
    "FIDE's beginning": (
        ["rate", "results.csv", "--rules", "fide", "--initial", "1200"],
        "FIDE's rules give newcomers a rating by their first games: leave out --initial.",
    ),
    "a board by what is not there": (
        ["rate", "results.csv", "--by", "nowhere"],
        "The condition 'nowhere' is no column of the table, which has 'date', 'home', 'away', 'result', 'stones', "
        "'pace'.",
    ),
    "a book of several words": (
        ["book", "kept.db", "a", "b"], "kinelo book BOOK takes one book, not 'kept.db a b'.",
    ),
    "an export to nowhere": (
        ["book", "export", "kept.db"], "kinelo book export takes a book and a file to write, not 'kept.db'.",
    ),
    "nobody to erase": (["book", "erase", "kept.db"], "kinelo book erase takes a book and a name, not 'kept.db'."),
    "two files of one name": (
        ["rate", "results.csv", "--out", "a.csv", "--rejects", "a.csv"],
        "--out and --rejects both name a.csv; give each a file of its own.",
    ),
    "output onto input": (
        ["rate", "results.csv", "--out", "results.csv"],
        "--out results.csv would overwrite results.csv, which is read; choose another name.",
    ),
    "a book of another rater": (
        ["rate", "results.csv", "--book", "kept.db", "--rater", "glicko"],
        "kept.db is a book of ClassicElo; leave out --rater glicko or start another.",
    ),
    "contests for a book of matches": (
        ["rate", "races.csv", "--book", "kept.db"],
        "kept.db is a book of matches of two sides, kept by ClassicElo; start another for contests.",
    ),
    "a book that has begun": (
        ["rate", "results.csv", "--book", "kept.db", "--start", "lobby.txt"],
        "kept.db keeps the ratings it began with; leave out --start or start another book.",
    ),
    "a book without conditions": (
        ["rate", "results.csv", "--book", "kept.db", "--condition", "pace"],
        "kept.db is a book whose rater uses no conditions; leave out --condition, --noise-by and --covariate or start "
        "another.",
    ),
    "K that rises": (
        ["rate", "results.csv", "--k-first", "10", "--k", "20"],
        "--k-first 10 falls to --k 20: K must be above 0 and not rise.",
    ),
    "K that falls from nowhere": (
        ["rate", "results.csv", "--k", "20", "--k-halfway", "5"],
        "--k-halfway says how soon --k-first falls to --k: give --k-first too.",
    ),
    "K that falls at once": (
        ["rate", "results.csv", "--k-first", "40", "--k", "20", "--k-halfway", "0"],
        "--k-halfway must be above 0, not 0.",
    ),
    "JSON of nothing": (["--json"], "--json stands behind a command, or beside --devices."),
    "a farming log as a page": (
        ["audit", "results.csv", "--farming", "--out", "a.html"], "--farming writes a table: --out NAME.csv.",
    ),
    "rules and K": (
        ["rate", "results.csv", "--rules", "fide", "--k", "20"], "--rules says every K: leave out --k.",
    ),
    "rules that are not there": (
        ["rate", "results.csv", "--rules", "uefa"], "There are no rules 'uefa'; --rules takes fide.",
    ),
    "a beginning without a rater": (
        ["rate", "results.csv", "--initial", "1000"], "--initial needs a rater: give --k, --rules or --rater too.",
    ),
    "an audit of two raters": (
        ["audit", "results.csv", "--rater", "glicko", "--k", "20"],
        "--rater is no plain Elo: leave out --k, --k-of, --rules, --start and --home-advantage.",
    ),
    "a pseudonym without erasing": (
        ["book", "kept.db", "--pseudonym", "X"], "--pseudonym goes with kinelo book erase BOOK NAME.",
    ),
    "matches of nobody": (
        ["book", "kept.db", "--remove-player", "Zoe"], "'Zoe' took part in nothing that kept.db holds.",
    ),
    "a match that the book does not hold": (
        ["book", "kept.db", "--remove", "m7"], "The rating book kept.db holds no match 'm7'; nothing was taken out.",
    ),
    "an export onto the book": (
        ["book", "export", "kept.db", "kept.db"], "kept.db would overwrite the book; choose another name.",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    table = pl.DataFrame({**TWO, "stones": [1, 2], "pace": [3, 1]})
    table.write_csv(folder / "results.csv")
    (folder / "lobby.txt").write_text("A\nB\n")
    pl.DataFrame(RACES).write_csv(folder / "races.csv")
    book = kn.RatingBook(folder / "kept.db", kn.TeamElo.classic(k=20))
    book.add(kn.read_matches(table))
    return folder


@pytest.mark.parametrize("case", TYPED)
def test_a_command_says_what_is_wrong(case, written, monkeypatch):
    monkeypatch.chdir(written)
    words, sentence = TYPED[case]
    with pytest.raises(kn.InputError) as refused:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert str(refused.value) == sentence
