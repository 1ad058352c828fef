"""Ratings of players from the line-ups they played in.

Ratings live on players; a side is as strong as the share-weighted mean (or sum) of its line-up, as in the paper's
line-up model, and a surprise is shared among those who played. Where the line-up is not known yet, the side's strength
is random, with mean θ and spread σ over the team's recent line-ups, and the forecast is the expectation over it.
Equations in :mod:`kinelo.raters.filter`; who plays, in :mod:`kinelo.raters.player.rotation`.

A side is as strong as the mean of its line-up, plus ``b log(size)``: with ``b = 0`` a sixth player counts for nothing
beyond the mean, and the larger ``b`` the more. Only the ratio of both sizes can be seen, and where all are equal
nothing is. ``b`` is an effect like that of a covariate (:mod:`kinelo.raters.covariates`) whose column Kinelo makes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.parameters import Estimates, Parameter, check_number, estimated, fixed, switch
from kinelo.matches.dated import Day
from kinelo.matches.kinds import SIZE
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.raters.filter.alone import expected_alone, spread_of
from kinelo.raters.filter.belief import TODAY, fade_all
from kinelo.raters.filter.entries import Entries, Rotations
from kinelo.raters.filter.kinds import Kind
from kinelo.raters.filter.messages import smooth
from kinelo.raters.filter.state import HOME, Lists
from kinelo.raters.filter.together import expected_together
from kinelo.raters.gaussian import (
    BAND_WIDTH,
    FILTER_DOUBT,
    MARGIN_POWER,
    MATCH_NOISE,
    SHARPNESS,
    Array,
    GaussianRater,
)
from kinelo.raters.player.rotation import AFTER, STARTERS, UNSEEN, Fixtures, make_lists, mean_lineup_size
from kinelo.raters.player.state import LineupReading, SquadState, lineup_sheet, lineups_of, lineups_of_nobody, named
from kinelo.raters.rater import Traits
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.state import NO_PLAYERS
from kinelo.raters.stored import taken_whole
from kinelo.raters.streaming import LOOK

if TYPE_CHECKING:
    import polars as pl

LEAST_PART = 0.01
"""Part of all matches in which sizes must differ for them to count."""
LEAST_LOG = 0.1
"""How far playing times must differ for that: eleven of whom one is sent off late are no other size."""


def log_sizes(lineups: Lineups, seen: int) -> NDArray[np.float64]:
    """The logarithm of the ratio of both sizes of every match: 0 where a line-up is not known.

    What is ``seen`` after a match are minutes, where all of both sides are known, and before it those who start.

    >>> log_sizes(Lineups(np.array([0, 2, 3, 4, 5]), np.zeros(5, np.int32), ("A",)), AFTER).round(3).tolist()
    [0.693, 0.0]
    """
    sides = lineups.offsets.size - 1
    if seen == UNSEEN:
        return np.zeros(sides // 2)
    side = np.repeat(np.arange(sides), np.diff(lineups.offsets))
    size = np.bincount(side, lineups.starter != 0, sides).reshape(-1, 2)
    if seen == AFTER:
        minutes = np.where(np.isnan(lineups.minutes), 0.0, lineups.minutes)
        unknown = np.bincount(side, np.isnan(lineups.minutes), sides).reshape(-1, 2).any(axis=1)
        played = np.bincount(side, minutes, sides).reshape(-1, 2)
        size = np.where((unknown | np.any(played <= 0.0, axis=1)).reshape(-1, 1), size, played)
    known = (size > 0.0).all(axis=1)
    return np.where(known, np.log(np.where(known, size[:, 0], 1.0) / np.where(known, size[:, 1], 1.0)), 0.0)


def sizes_differ(lineups: Lineups) -> bool:
    """Whether sides are of different sizes often enough to count."""
    announced, played = np.abs(log_sizes(lineups, seen=1)), np.abs(log_sizes(lineups, AFTER))
    differ = (announced > 0.0) | (played > LEAST_LOG)
    return bool(np.count_nonzero(differ) > LEAST_PART * max(len(lineups), 1))


MODES = {
    "minutes": AFTER,
    "starters": STARTERS,
    "none": UNSEEN,
}
KNOWLEDGE = {
    "minutes": "after the match (minutes)",
    "starters": "before the match (starters)",
    "none": "not used (recent line-ups)",
}
ROLE_PREFIX = "weight of role "
LEAST_ROLE_SHARE = 0.02


@dataclass(eq=False, repr=False)
class PlayerElo(GaussianRater):
    """Player ratings: a side is the mean or sum of its line-up, and everyone who played shares the surprise.

    Every parameter left at None is estimated by ``fit``; without ``fit`` it takes its default. Strengths are in units
    of what a match shows: its margin in mean absolute margins, to the power ``margin_power``. Line-ups may be unequal,
    change, lack minutes or starters, or be missing: a side without a line-up counts as its team's recent players as
    long as those tell who plays, and then as a stand-in, the squad of the team, that is rated like a player.

    Parameters
    ----------
    walk
        Standard deviation by which a player's strength moves in a year.
    prior_spread
        Standard deviation of a newcomer's strength.
    venue_walk
        Standard deviation by which the venue advantages move in a year.
    newcomer, team_prior
        A newcomer's mean strength is ``newcomer`` plus ``team_prior`` times what the others in his line-up, as far as
        they are known, bring to it.
    newcomer_correlation
        Correlation of the strengths of newcomers of one side: what they have in common is doubted.
    squad_spread, squad_walk
        Standard deviation between teams of what a team is better by whoever plays, and by how much that moves in a
        year. Where matches are few and players many, most of what is learnt of a side is this.
    regression
        Rate per year at which strengths return to the mean.
    noise
        Standard deviation of what a match shows around the difference of strengths.
    margin_power
        Power of the margin that the update sees.
    sharpness, ties
        Scale and half width of the draw band of the forecast.
    ties_walk
        How far the logarithm of the draw band may move per match where it moves fastest, as in :class:`KalmanElo`.
    doubt
        How much larger the variance of a strength is, in forecasts, than the filter believes.
    sharpness_walk
        How far the logarithm of the sharpness may move per match, so that forecasts that prove too bold, or not bold
        enough, are corrected as matches go by; 0 leaves the sharpness as it was estimated.
    role_weights
        Weight of a role (position) in the line-up, by name; None estimates those that the line-ups name often enough.
    known
        What a forecast may know of a line-up: ``"starters"`` (announced before the match; each counts for as long as
        he usually plays, and recent substitutes fill up), ``"minutes"`` (only known afterwards) or ``"none"``.
    strength
        ``"mean"`` of the line-up, or ``"sum"`` (in units of the mean total of the line-ups fitted, 11 without ``fit``).
        Where line-ups fitted differ in size, the mean counts with what a larger side is better by: so many points for
        the logarithm of the ratio of sizes, estimated and shown as the effect ``size`` (``effects_``).
    counts_size
        Whether it does. ``fit`` does not believe a size effect that is clearly below 0, and warns.
    substitute_share
        How long a substitute plays, compared with a starter, where no minutes are known.
    covariance
        ``"full"`` keeps how strengths are connected, so that what team-mates share is learnt once for all of them,
        ``"diagonal"`` forgets it, and ``"auto"``: ``fit`` takes what forecasts better on the matches fitted, and the
        diagonal where there are too many players, more than 300 where all parameters are given; ``covariance_`` says
        which.
    conditions
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["surface"]``: each player has a strength
        per level of each around his own, with a spread that is estimated (``"spread by surface"``).
    noise_by
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["format"]``: the noise of a match has a
        factor for each level, estimated and drawn to 1 (``noise_factors_``); it counts in forecasts and updates.
    covariates
        Columns of numbers read with ``read_matches(..., conditions=[...])``, such as ``["handicap"]``, that say what
        speaks for the side named first: what a unit is worth in rating points is learnt on the way and may drift
        (``effects_``), and :func:`kinelo.fair_value` says which handicap makes a match even.
    initial
        Rating shown for strength 0; a point is a point of expected score between equal sides, as in
        1/(1 + 10^(−z/400)), whatever the draws.
    start
        Ratings to begin with: names and numbers, or a table (also a path) with name, rating and perhaps deviation,
        matches and last_played, such as ``ratings_``; whoever is not in it enters as a newcomer.
    look
        How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"], "away": ["B", "A"], "result": [1, -1],
    ...          "home_lineup": [["Ann", "Bob"], ["Cid", "Dan"]], "away_lineup": [["Cid", "Eve"], ["Ann", "Fay"]]}
    >>> rater = kn.PlayerElo().update(kn.read_matches(table))
    >>> rater.ratings_["name"][0], rater.team_strengths_["name"].to_list()
    ('Ann', ['A', 'B'])
    """

    _spread_names: ClassVar[tuple[str, ...]] = ("walk", "prior_spread", "venue_walk", "squad_spread", "squad_walk")
    _condition_spread: ClassVar[Any] = (0.15, 0.005, 5.0)
    _row_noun = "players and squads"
    _traits = Traits(follows_matches=True, rates_players=True)
    _lineup_size = 11.0
    _counts_size = False

    walk: float | None = estimated(0.4, 0.02, 5.0, True, "yearly random walk of a strength")
    prior_spread: float | None = estimated(0.8, 0.05, 10.0, True, "spread of newcomers")
    venue_walk: float | None = estimated(0.03, 0.003, 0.3, True, "yearly random walk of the venue advantages")
    newcomer: float | None = estimated(-0.3, -4.0, 2.0, False, "mean strength of newcomers")
    team_prior: float | None = estimated(0.5, 0.0, 1.0, False, "how much of his team's strength a newcomer is given")
    newcomer_correlation: float | None = estimated(
        0.25, 0.0, 1.0, False, "how much newcomers of one side have in common"
    )
    regression: float | None = estimated(0.2, 0.0, 3.0, False, "yearly return to the mean")
    noise: float | None = MATCH_NOISE()
    margin_power: float | None = MARGIN_POWER()
    sharpness: float | None = SHARPNESS()
    ties: float | None = BAND_WIDTH()
    doubt: float | None = FILTER_DOUBT()
    squad_spread: float | None = estimated(0.1, 0.005, 3.0, True, "spread of what teams have whoever plays")
    squad_walk: float | None = estimated(0.05, 0.003, 1.0, True, "yearly random walk of what a team has whoever plays")
    _: KW_ONLY
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
    role_weights: Mapping[str, float] | None = None
    known: Literal["starters", "minutes", "none"] = "starters"
    strength: Literal["mean", "sum"] = "mean"
    counts_size: bool = switch(True)
    substitute_share: float = fixed(0.3, 0.0)
    conditions: Sequence[str] = ()
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    covariance: Literal["auto", "full", "diagonal"] = "auto"
    initial: float = fixed(1500.0)
    start: Any = None
    look: int | None = LOOK

    @property
    def _lineup_knowledge(self) -> str:
        """What the forecasts know of a line-up, in words."""
        return KNOWLEDGE[self.known]

    def _needs_whole_table(self) -> str:
        """Its line-ups are not read in pieces."""
        return "line-ups are not read from pieces; read them with read_matches"

    def _prepare(self, matches: Matches) -> None:
        if matches.lineups is None or not matches.lineups.player.size:
            raise InputError("Player ratings need line-ups; read them with read_matches(..., lineups=...).")
        self._roles: tuple[str, ...] = ()
        named, roles = matches.lineups.role[matches.lineups.role >= 0], matches.lineups.roles
        if self.role_weights is None and named.size >= matches.lineups.role.size / 2:
            # Roles that occur often enough are weighed; one is left out, because only ratios of weights matter.
            counts, least = np.bincount(named, minlength=len(roles)), LEAST_ROLE_SHARE * named.size
            frequent = [code for code in np.argsort(-counts, kind="stable") if counts[code] >= least]
            self._roles = tuple(roles[code] for code in frequent[1:])
        self._lineup_size = mean_lineup_size(
            lineup_sheet(
                matches.lineups,
                matches.lineups.player,
                LineupReading({}, AFTER, float(self.substitute_share), 0.0),
            )
        )
        means = self.counts_size and isinstance(self.strength, str) and self.strength == "mean"
        self._counts_size: bool = means and sizes_differ(matches.lineups)
        super()._prepare(matches)

    def _learn(self, matches: Matches, latest: Matches) -> None:
        """Learn, and once more without sizes where a larger side seems to do worse."""
        super()._learn(matches, latest)
        if not self._counts_size or self.effects_["high"][-1] >= 0.0:
            return
        _, effect, error, *_ = self.effects_.row(-1)
        warn(
            f"Larger sides do worse in these matches (size effect {effect:.0f} ± {error:.0f}), as where line-ups were "
            "written down afterwards and those who lost had used more substitutes: sizes are left out, as with "
            "counts_size=False."
        )
        units = self._around.units[:-1]
        self._counts_size, self._made = False, {}
        self._circumstances = replace(self._around, usual_values=units)
        self.estimates_: Estimates | None = None
        self._reset()
        super()._learn(matches, latest)

    def _effect_names(self, covariates: tuple[str, ...]) -> tuple[str, ...]:
        return (*covariates, *([SIZE] if self._counts_size else []))

    def _effect_numbers(self, matches: Matches, ahead: bool = False) -> Array:
        numbers = super()._effect_numbers(matches, ahead)
        if not self._counts_size:
            return numbers
        seen = MODES["minutes"] if not ahead else MODES[self.known]
        return np.column_stack([numbers, log_sizes(lineups_of(matches), seen)])

    def _without_effects(self) -> Self:
        twin = super()._without_effects()
        twin._counts_size = False
        return twin

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, with the weights of the roles that occur often enough."""
        roles = tuple(
            Parameter(ROLE_PREFIX + role, 1.0, 0.05, 20.0, True, f"weight of role {role} in a line-up")
            for role in getattr(self, "_roles", ())
        )
        return super()._open_parameters() + roles

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the unidentified one, else the estimate, else the default."""
        given = estimated or {}
        roles = {name: float(value) for name, value in given.items() if name.startswith(ROLE_PREFIX)}
        if not isinstance(self.role_weights, Mapping | None):
            raise InputError(f"role_weights={self.role_weights!r} must be a mapping, such as {{'goalkeeper': 2.0}}.")
        for role, weight in (self.role_weights or {}).items():
            check_number("PlayerElo", f"role_weights[{role!r}]", weight, 0.0)
        own = {ROLE_PREFIX + role: float(weight) for role, weight in (self.role_weights or {}).items()}
        rest = {name: value for name, value in given.items() if name not in roles}
        return super()._settled_values(rest) | roles | own

    def _fresh(self, values: Mapping[str, float]) -> SquadState:
        if not isinstance(self.known, str) or self.known not in MODES:
            raise InputError(f"known={self.known!r} is not understood; it is 'starters', 'minutes' or 'none'.")
        if not isinstance(self.strength, str) or self.strength not in ("mean", "sum"):
            raise InputError(f"strength={self.strength!r} is not understood; it is 'mean' or 'sum'.")
        self._role_weights = {
            name.removeprefix(ROLE_PREFIX): value for name, value in values.items() if name.startswith(ROLE_PREFIX)
        }
        self._numbers = self._numbers_of(values)
        level = (values["newcomer"], 0.0)
        return SquadState(self._fixed(level), self._around.conditions, self._keeps_covariance())

    def _keeps_covariance(self) -> bool:
        """Nobody knows before ``fit`` how many players there will be."""
        return (self.covariance_ or self.covariance) == "full"

    def _kinds(self, values: Mapping[str, float]) -> list[Kind]:
        moving = Kind(
            walk=values["walk"] ** 2,
            rho=values["regression"],
            prior=values["prior_spread"] ** 2,
            level=1.0,
            counts=True,
        )
        return [
            Kind(),
            *self._venue_kinds(values["venue_walk"] ** 2),
            moving._replace(mates=values["team_prior"], common=values["newcomer_correlation"]),
            Kind(walk=values["squad_walk"] ** 2, prior=values["squad_spread"] ** 2),
            moving._replace(whole=True),
            *self._condition_kinds(values),
            *self._effect_kinds(values),
        ]

    def _rows_needed(self, matches: Matches) -> int:
        lineups = lineups_of(matches)
        teams = named(len(matches.teams), matches.home, matches.away).size
        return named(len(lineups.players), lineups.player).size + 2 * teams

    def _names_of(self, matches: Matches) -> set[str]:
        return set(lineups_of(matches).players)

    def _lists(self, matches: Matches, keep: bool) -> Lists:
        played, ahead = self._effect_columns(matches), self._effect_columns(matches, ahead=True)
        return self._state.lists(matches, self._reading_of_lineups(), keep, (played, ahead))

    def _reading_of_lineups(self) -> LineupReading:
        size = self._lineup_size if self.strength == "sum" else 0.0
        return LineupReading(self._role_weights, MODES[self.known], float(self.substitute_share), size)

    def _entry_key(self) -> Any:
        """Weights of roles are read off line-ups."""
        return tuple(self._role_weights.items())

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, team played for last, rating, uncertainty, matches and last_played of all players, the best first.

        Uncertainty is that of a player's own last match (:meth:`ratings_on` has that of a day) and includes the
        ``doubt`` of forecasts.
        """
        state: SquadState = self._begun()
        return self._table(state.strengths(), state.variances())

    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """Ratings and their uncertainty as they are on a day, by default that of the last match.

        ``separable`` says whose matches show more than that he is a player of his teams: what is left of them on that
        day has taken half of the variance with which a newcomer begins.
        """
        import polars as pl

        state: SquadState = self._begun()
        values = self.parameters_
        idle = self._day(date) - state.as_seen_on(self._day(date)).beliefs.last[state.own]
        f, added = fade_all(idle, values["regression"], values["walk"] ** 2)
        variance = f**2 * state.variances() + added
        separable = pl.Series("separable", variance < values["prior_spread"] ** 2 / 2.0)
        return self._table(f * state.strengths(), variance, separable)

    def _table(self, strength: Array, variance: Array, *columns: pl.Series) -> pl.DataFrame:
        import polars as pl

        state: SquadState = self._state
        size, points, known = len(state), self._points_per_unit, state.known
        teams = np.array([*state.teams.names, ""], dtype=object)
        return (
            pl.DataFrame(
                {
                    "name": pl.Series(state.name_index.names, dtype=pl.String),
                    "team": pl.Series(teams[known.team_of[:size]].tolist(), dtype=pl.String),
                    "rating": self.initial + points * strength,
                    "uncertainty": points * np.sqrt(self.parameters_["doubt"] * variance),
                    "matches": state.games_shown(),
                    "last_played": state.last_played(),
                }
            )
            .with_columns(*columns)
            .filter(state.here())
            .sort("rating", descending=True, maintain_order=True)
        )

    @property
    def team_strengths_(self) -> pl.DataFrame:
        """Strength θ of every team over its recent line-ups, its spread σ from the rotation, and the doubt about θ.

        All in rating points, as of the day of the last match.
        """
        import polars as pl

        state: SquadState = self._begun()
        size, points = len(state.teams), self._points_per_unit
        # Forecasts against nobody on the last day, where line-ups are not known, say how strong each team is.
        today = np.full(size, state.beliefs.clock[TODAY])
        sheet = lineup_sheet(lineups_of_nobody(size), NO_PLAYERS, self._reading_of_lineups())
        nobody = np.full(size, -1, np.int32)
        fixtures = Fixtures(np.arange(size, dtype=np.int32), nobody, today, np.zeros(size, np.bool_))
        (bounds, slot, share), _, turns = make_lists(fixtures, sheet, state.known, state.size, False)
        ours = (share > 0.0) & (slot != HOME)
        match = np.repeat(np.arange(size), np.diff(bounds))
        entries = Entries(np.append(0, np.cumsum(np.bincount(match[ours], minlength=size))), slot[ours], share[ours])
        table, s, rotations = self._table_of([self]), state.in_batch(), Rotations(*turns)
        if state.full:
            theta, doubt = expected_together(today, entries, table, state.beliefs)
        else:
            theta, doubt = (values[:, 0] for values in expected_alone(today, entries, table, s))
        sigma = np.sqrt([spread_of(g, today[g], 0, rotations, table, s) for g in range(size)])
        effect = state.known.effect[:size]
        return (
            pl.DataFrame(
                {
                    "name": pl.Series(state.teams.names, dtype=pl.String),
                    "strength": self.initial + points * theta,
                    "spread": points * sigma,
                    "uncertainty": points * np.sqrt(self.parameters_["doubt"] * doubt),
                    "lineups": state.known.ring_count[:size],
                }
            )
            .filter((effect >= 0) & (state.beliefs.games[effect] > 0))
            .sort("strength", descending=True, maintain_order=True)
        )

    def _hindsight(self, matches: Matches, stops: Sequence[int]) -> list[pl.DataFrame]:
        """Ratings after the first ``stops[0]``, ``stops[1]``, … of these matches, given all of them.

        The parameters are taken as they stand and the rater is left alone; see :mod:`kinelo.raters.filter.messages`.
        """
        import polars as pl

        back = copy.deepcopy(self)
        back.covariance_ = "diagonal"
        back._reset(dict(self.parameters_))
        back._check_usable(matches)
        state: SquadState = back._state
        played, y = back._lists(matches, keep=True).played, back._signal(matches)
        games = state.games_shown()
        s = state.in_batch()
        beliefs = smooth(matches.day, back._filter_weight(matches), y, played, back._table_of([back]), s)
        if not beliefs.settled:
            warn("Hindsight has not settled: ratings may still move a little.")
        tables, points, doubt = [], back._points_per_unit, back.parameters_["doubt"]
        for stop in stops:  # all who took part in the first matches, as of their last one
            latest = np.where(state.own >= 0, beliefs.latest(stop)[state.own], -1)
            who = np.flatnonzero(latest >= 0)
            at = latest[who]
            counts = np.bincount(beliefs.who[: beliefs.bounds[stop]], minlength=beliefs.slots)[state.own]
            match = beliefs.match[at]
            teams = np.where(beliefs.side[at] > 0, matches.home[match], matches.away[match])
            table = pl.DataFrame(
                {
                    "name": pl.Series([state.name_index.names[q] for q in who], dtype=pl.String),
                    "team": pl.Series([matches.teams[t] for t in teams], dtype=pl.String),
                    "rating": back.initial + points * beliefs.mean[at],
                    "uncertainty": points * np.sqrt(doubt * beliefs.variance[at]),
                    "matches": counts[who] + games[who],
                    "last_played": matches.date[match],
                }
            )
            tables.append(table.sort("rating", descending=True, maintain_order=True))
        return tables

    def corrected(self, ratings: pl.DataFrame) -> pl.DataFrame:
        """Team ratings on the scale of 400 points (a table with name and rating), corrected for the teams' rotation.

        The spread σ of a team's strength draws its rating to the mean; ``strength`` is what :func:`recover_strength`
        finds behind the ratings, given σ of :attr:`team_strengths_`.
        """
        import polars as pl

        from kinelo.model.outcome import Tanh
        from kinelo.theory.recovery import recover_strength

        if not isinstance(ratings, pl.DataFrame) or not {"name", "rating"} <= set(ratings.columns):
            raise InputError("ratings must be a table with the columns name and rating, such as ratings_ of a rater.")
        table = ratings.select("name", "rating").join(self.team_strengths_.select("name", "spread"), on="name")
        if table.height < 2:
            raise InputError("Correcting ratings needs at least two teams that are rated and whose line-ups are known.")
        found = recover_strength(Tanh.elo(), table["rating"].to_numpy(), table["spread"].to_numpy())
        return table.with_columns(strength=found.theta).sort("strength", descending=True)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        size = {"counts_size": np.array(True)} if self._counts_size else {}
        return {**super().to_arrays(), "lineup_size": np.array(self._lineup_size), **size}

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._lineup_size: float = float(arrays["lineup_size"])
        self._counts_size = "counts_size" in arrays
        super().from_arrays(arrays)
