"""The list of raters, from which help texts, commands and pages are made: short names, modules, what each is for.

:func:`choose_rater` takes the one that forecasts a user's own matches best (:mod:`kinelo.forecasts.automatic`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kinelo.errors import InputError
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind, kind_of
from kinelo.runtime.plugins import described, entry_points_of, imported, load_plugin, package_of, plugins

if TYPE_CHECKING:
    from kinelo.forecasts.automatic import RaterChoice
    from kinelo.forecasts.backtest import Forecaster
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.matches.scan import ContestScan, MatchScan
    from kinelo.raters.rater import Rater


AUTOMATIC = "auto"
MIXTURE = "mixture"


class Choice(NamedTuple):
    """A rater that can be asked for by name."""

    module: str
    kind: str
    meaning: str
    needs_lineups: bool = False
    compared: bool = True
    """Whether a comparison of outcomes looks at it, unless it is asked for: not where another says the same."""


RATERS = {
    "team": Choice("team", "TeamElo", "the paper's update, with ties, home advantage and margins"),
    "player": Choice("player", "PlayerElo", "ratings of players, from line-ups", needs_lineups=True),
    "kalman": Choice("kalman", "KalmanElo", "a filter with the covariance between all teams"),
    "glicko": Choice("glicko", "Glicko", "ratings with an uncertainty that grows by rest"),
    "glicko2": Choice("glicko", "Glicko2", "Glicko with a volatility for every side"),
    "bradley-terry": Choice("bradley_terry", "BradleyTerry", "one estimate from all matches, for strengths that stay"),
    "score": Choice("scores", "ScoreElo", "strengths and paces, for exact scores and totals", compared=False),
}
CONTEST_RATERS = {
    "rank": Choice("rank", "RankElo", "ratings from orders of finish, with an uncertainty"),
    "bradley-terry": RATERS["bradley-terry"],
}
RATERS_OF = {MATCHES: RATERS, CONTESTS: CONTEST_RATERS}
"""Raters that can be asked for by name, of matches and of contests."""

TAKEN = (AUTOMATIC, MIXTURE, *dict.fromkeys((*RATERS, *CONTEST_RATERS)))
"""Names that a plug-in cannot have."""

CLASSES = {one.kind: f"kinelo.raters.{one.module}.rater" for raters in RATERS_OF.values() for one in raters.values()}
CLASSES["ClassicElo"] = "kinelo.raters.team.rater"
CLASSES["FideElo"] = "kinelo.raters.fide.rater"
CLASSES["Mixture"] = "kinelo.raters.mixture"
"""Module of every rater that Kinelo has, by the name of its class: all that a stored file can name."""


def all_raters(kind: Kind = MATCHES) -> dict[str, Choice]:
    """Kinelo's raters and those that other installed packages add (entry points ``kinelo.raters``)."""
    added = plugins("kinelo.raters", TAKEN)
    return RATERS_OF[kind] | {
        name: Choice(point.value, point.attr, f"added by {package_of(point)}") for name, point in added.items()
    }


def rater_help() -> str:
    """What ``--rater`` takes, in words."""
    *names, last = all_raters()
    of_contests = " or ".join(CONTEST_RATERS)
    own = f"{', '.join(names)} or {last}, or a class of your own as MODULE:CLASS; of contests {of_contests}"
    return f"{MIXTURE}: several, weighed by their forecasts; {own}"


def choose_rater(
    matches: Matches | MatchScan, raters: Mapping[str, Forecaster] | Iterable[Forecaster] | None = None
) -> RaterChoice:
    """Choose the rater that forecasts these matches best, and fit it on all of them.

    The candidates are fitted on the first half of the matches (of the latest 20,000) and forecast the second half one
    step ahead. The first of them (of Kinelo's :class:`kinelo.KalmanElo`, where results alone are known
    :class:`kinelo.TeamElo`) is kept unless another one is better by more than two standard errors.

    Parameters
    ----------
    raters
        The candidates, or a mapping from names to candidates; by default all of Kinelo's that can use these matches.

    Returns
    -------
    RaterChoice
        ``rater`` is fitted; ``str(choice)`` says what was chosen and by how much, ``test`` holds all scores.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=1).results)
    >>> choice = kn.raters.choose_rater(matches[:50])
    >>> print(choice)
    KalmanElo, the usual rater: fewer than 60 matches cannot tell raters apart.
    """
    from kinelo.forecasts.automatic import choose
    from kinelo.forecasts.backtest import named_raters

    MATCHES.check(matches, scans=True)
    named = candidates(matches) if raters is None else named_raters(raters)
    return choose(matches, named, next(iter(named)))


def names_compared(matches: Matches | Contests | MatchScan | ContestScan) -> list[str]:
    """Kinelo's raters that a comparison on these matches looks at."""
    lineups = getattr(matches, "lineups", None) is not None
    choices = RATERS_OF[kind_of(matches)].items()
    return [name for name, one in choices if one.compared and (lineups or not one.needs_lineups)]


def usual_rater(matches: Matches | Contests | MatchScan | ContestScan) -> str:
    """The rater that is kept unless another one is clearly better on the user's own matches.

    A filter takes a result for a number: of results alone its uncertainties are too small, and of few of them its
    forecasts worse.

    >>> import kinelo as kn
    >>> by_goals = {"home": ["Ann"], "away": ["Bob"], "home_score": [3], "away_score": [1]}
    >>> by_results = {"home": ["Ann"], "away": ["Bob"], "result": [1.0]}
    >>> [usual_rater(kn.read_matches(one)) for one in (by_goals, by_results)]
    ['kalman', 'team']
    """
    import numpy as np

    asked: Any = matches
    pieces = [asked] if asked.in_memory else asked.pieces()
    return kind_of(matches).usual_rater or ("team" if all(np.isnan(one.margin).all() for one in pieces) else "kalman")


def candidates(
    matches: Matches | Contests | MatchScan | ContestScan,
    start: Any = None,
    conditions: Sequence[str] = (),
    noise_by: Sequence[str] = (),
    covariates: Sequence[str] = (),
) -> dict[str, Rater]:
    """All of Kinelo's raters that can use these matches and what else is asked, the usual one first."""
    raters_by_class, kind = {}, kind_of(matches)
    raters, usual = RATERS_OF[kind], usual_rater(matches)
    for name in sorted(names_compared(matches), key=lambda name: name != usual):
        takes = _of_kinelo(raters[name]).get_params()
        asked = {"start": start is not None, "conditions": bool(conditions), "noise_by": bool(noise_by)}
        asked["covariates"] = bool(covariates)
        if any(wanted and what not in takes for what, wanted in asked.items()):
            continue
        rater = rater_called(name, start, conditions, noise_by, covariates, kind=kind)
        if not matches.in_memory and rater._needs_whole_table():
            continue
        raters_by_class[raters[name].kind] = rater
    return raters_by_class


def rater_called(
    name: str,
    start: Any = None,
    conditions: Sequence[str] = (),
    noise_by: Sequence[str] = (),
    covariates: Sequence[str] = (),
    *,
    kind: Kind = MATCHES,
) -> Rater | Any:
    """A rater of matches or contests with every parameter left to be estimated; ``module:Class`` finds one of a user's
    own.

    It begins with the ratings of a file or table (``start``) and uses ``conditions``, ``noise_by`` and ``covariates``;
    one of Kinelo's that cannot is refused, while a class of a user's own without them finds the columns with the
    matches.

    >>> type(rater_called("glicko")).__name__, type(rater_called("kinelo.raters.team.rater:TeamElo")).__name__
    ('Glicko', 'TeamElo')
    """
    rater = _made(name, kind)
    if name == MIXTURE:
        rater._asked = (start, conditions, noise_by, covariates)
        return rater
    takes = getattr(rater, "get_params", dict)()
    if start is not None:
        if "start" not in takes:
            raise InputError(f"{type(rater).__name__} has no ratings to begin with: it does not take start=.")
        rater.set_params(start=start)
    for what, columns, option, used in (
        ("conditions", conditions, "--condition", "conditions of matches"),
        ("noise_by", noise_by, "--noise-by", "conditions of matches for its noise"),
        ("covariates", covariates, "--covariate", "covariates"),
    ):
        if columns and what in takes:
            rater.set_params(**{what: list(columns)})
        elif columns and name in RATERS:
            able = [key for key, choice in RATERS.items() if what in _of_kinelo(choice).get_params()]
            raise InputError(
                f"{type(rater).__name__} uses no {used}; leave out {option}, or choose {', '.join(able[:-1])} or "
                f"{able[-1]}."
            )
    return rater


def class_named(origin: str) -> type | None:
    """The class that a stored file names as ``module:Class``: one of Kinelo's, or one that a plug-in declares.

    Nothing else is imported, whatever the file says. A class of Kinelo's is found wherever an earlier version had it.

    >>> class_named("kinelo.raters.team.rater:TeamElo").__name__, class_named("os:system")
    ('TeamElo', None)
    """
    module, _, name = origin.partition(":")
    if module.startswith("kinelo.raters."):
        return getattr(import_module(CLASSES[name]), name) if name in CLASSES else None
    package = module.partition(".")[0]
    for point in entry_points_of("kinelo.raters")[0]:
        if point.module.partition(".")[0] != package:
            continue
        found = load_plugin(point)
        if isinstance(found, type) and f"{found.__module__}:{found.__qualname__}" == origin:
            return check_rater_class(described(point), found)
    return None


def _made(name: str, kind: Kind) -> Rater | Any:
    if ":" in name:
        return _of_user(name, imported(name, "rater"))
    if name in RATERS_OF[kind]:
        return _of_kinelo(RATERS_OF[kind][name])
    if name == MIXTURE and kind is MATCHES:
        return import_module(CLASSES["Mixture"]).Mixture()
    for other, raters in RATERS_OF.items():
        if name in (*raters, *([MIXTURE] if other is MATCHES else [])):
            names = ", ".join(RATERS_OF[kind])
            raise InputError(
                f"--rater {name} rates {other.described}; {kind.noun} are rated by --rater {names} or --k."
            )
    added = plugins("kinelo.raters", TAKEN)
    if name in added:
        return _of_user(described(added[name]), load_plugin(added[name]))
    raise InputError(f"There is no rater {name!r}; choose one of {', '.join(all_raters(kind))}, or MODULE:CLASS.")


def _of_kinelo(choice: Choice) -> Rater:
    return getattr(import_module(CLASSES[choice.kind]), choice.kind)()


def check_rater_class(name: str, rater_class: Any) -> type:
    """What was found under a name, if it is the class of a rater; nothing is called to see that."""
    lacking = [verb for verb in ("fit", "one_step_ahead") if not hasattr(rater_class, verb)]
    if lacking or not isinstance(rater_class, type):
        raise InputError(f"{name} is not the class of a rater: it lacks {' and '.join(lacking) or 'a constructor'}.")
    return rater_class


def _of_user(name: str, found: Any) -> Any:
    kind = check_rater_class(name, found)
    try:
        return kind()
    except TypeError as error:
        raise InputError(f"{name} cannot be made without arguments: {error}") from None
