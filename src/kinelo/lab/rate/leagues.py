"""Rated leagues of matches and of contests, each in its own way; how a season or a cup may end."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import polars as pl

from kinelo.advice.audit.inflation import MOST_GROUPS, columns_of
from kinelo.advice.charts import calibration_chart, side_names
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.backtest import backtest
from kinelo.forecasts.contest_scores import place_bands_table
from kinelo.forecasts.knockout import knockout, knockout_table
from kinelo.forecasts.places import ContestForecast
from kinelo.forecasts.season import Rules, season, season_rules, season_table, sides_in, table_places
from kinelo.lab.rate.league import (
    League,
    calibration,
    forecast_words,
    history_of,
    plain,
    ranks_of,
)
from kinelo.lab.rate.reading import GROUPS_DROPPED, ReadingPanel, aliases_of, contests_to_come
from kinelo.lab.rate.tables import all_labels
from kinelo.matches.contests import ENDINGS, FINISHED, Contests
from kinelo.matches.kinds import CONTESTS, MATCHES
from kinelo.matches.matches import Matches
from kinelo.matches.names import as_text
from kinelo.matches.reading import read_matches
from kinelo.matches.same_side import columns_of_sides
from kinelo.presentation import Table, counted, percent, sentence
from kinelo.raters.adapter import blank_of, conditions_of
from kinelo.raters.choice import AUTOMATIC, RATERS, all_raters, candidates, choose_rater, rater_called
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import ratings_today
from kinelo.raters.preview import MOST_PREVIEWED, preview
from kinelo.raters.qualifying import CAUTION, CONTEST_CAUTION
from kinelo.raters.questions import answers
from kinelo.raters.rank.rater import RankElo
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.team.rater import TeamElo
from kinelo.raters.upset_table import upsets
from kinelo.raters.what_if import with_points

SEASONS = 4000
"""How often a season is played: a chance is then sure to ± 0.8 %."""
MOST_CUP_SIDES, MOST_FIXTURES = 64, 4000
TEAM_STOPS = 300
"""Days of a side's own matches at which its rating is shown."""
UPSETS_LISTED = 6


def odds(
    rater: Rater,
    results: Matches,
    fixtures: Matches | None,
    best: Sequence[str],
    *,
    kind: str,
    points: Mapping[str, float],
    rules: Mapping[str, float],
    day: str,
) -> dict[str, Any]:
    """Chances of a season or of a knock-out; without fixtures, of the ``best`` sides.

    Of the ``results``, those of the season under way count for its table.
    """
    raised = with_points(rater, points) if points else rater
    if kind == "knockout":
        # The first round as the fixtures pair it, or the best sides, so placed that the best two meet last.
        if fixtures is None:
            bracket = [best[k] for k in seeded(len(best))]
        else:
            coming = fixtures[np.isnan(fixtures.result)]
            bracket = [fixtures.teams[code] for pair in zip(coming.home, coming.away) for code in pair]
            if len(bracket) < 2 or len(set(bracket)) != len(bracket) or len(bracket) & (len(bracket) - 1):
                raise InputError(
                    "A cup is read from fixtures that are one round of it: 1, 2, 4, 8, … matches in order, every side "
                    "once."
                )
        table = knockout_table(knockout(raised, bracket, date=day, realisations=SEASONS, seed=1))
        words = f"On neutral ground, played {SEASONS:,} times; the bracket in order:"
        return {"rows": _shares(table), "table": table.to_dict(), "words": words, "bracket": bracket}
    if kind != "season":
        raise InputError(f"Odds are those of a season or of a knockout, not of {kind!r:.40}.")
    if fixtures is None:  # everyone against everyone, at home and away
        pairs = [(home, away) for home in best for away in best if home != away]
        numbers, conditions = getattr(rater, "covariates", None) or (), list(conditions_of(rater))
        table = {name: ["0" if name in numbers else ""] * len(pairs) for name in conditions} | {
            "date": [day] * len(pairs),
            "home": [home for home, _ in pairs],
            "away": [away for _, away in pairs],
            "match_id": [str(k) for k in range(len(pairs))],
        }
        results, fixtures = results[:0], read_matches(table, played=False, conditions=conditions, ordered=True)
    sides = np.unique(np.concatenate([fixtures.home, fixtures.away])).size
    if sides > MOST_CUP_SIDES or len(fixtures) > MOST_FIXTURES:
        raise InputError(
            f"A season here has at most {MOST_CUP_SIDES} sides and {MOST_FIXTURES:,} fixtures, not {sides} and "
            f"{len(fixtures):,}; kinelo season on the command line takes more."
        )
    places = table_places(sides, int(rules["relegated"]))
    scoring = Rules(rules["win"], rules["draw"], 0.0, places=places)
    end = season(raised, fixtures, results=results, rules=scoring, realisations=SEASONS, seed=1)
    by_name = {row[0]: list(row[1:]) for row in end.place_chances().iter_rows()}
    table = season_table(end)
    rows = [{**row, "places": by_name[row["name"]]} for row in _shares(table)]
    left = int(np.isnan(fixtures.result).sum())
    notes = "".join(f" {sentence(note)}" for note in end.notes)
    played = counted(len(fixtures) - left, "match", "matches")
    played += f" played, {left} to come, the rest of the season played {SEASONS:,} times."
    words = f"{end.rule} {played}{notes}"
    return {"rows": rows, "table": table.to_dict(), "words": words}


def _shares(table: Table) -> list[dict[str, Any]]:
    """The name of every row of a table, and its numbers by column."""
    keys = [column.key for column in table.columns if column.key]
    return [{key: plain(row[key]) for key in keys} for row in table.rows]


def seeded(size: int) -> list[int]:
    """Order of the seeds 0, 1, … in a bracket of a power of two: the first two can meet only in the final.

    >>> seeded(8)
    [0, 7, 3, 4, 1, 6, 2, 5]
    """
    order = [0]
    while len(order) < size:
        order = [seed for one in order for seed in (one, 2 * len(order) - 1 - one)]
    return order


class MatchLeague(League):
    """Matches, rater and rankings of one visitor's league."""

    kind = MATCHES
    caution = CAUTION
    played: Matches

    def _fit(self, progress: Callable[[Any], None]) -> None:
        self._named = self.chosen["rater"]
        if self._named == AUTOMATIC:
            progress("Comparing the raters on these matches")
            self._choice = choose_rater(self.played, candidates(self.played, **self._asked()))
            self.rater: Rater = self._choice.rater  # type: ignore[assignment]
            self._named = next(name for name, one in RATERS.items() if one.kind == self._choice.name)
        else:
            progress(f"Fitting {counted(len(self.played), 'match', 'matches')}")
            lacking = {
                "conditions": "uses no conditions",
                "noise_by": "takes luck to be the same in all matches",
                "covariates": "uses no numbers of matches",
                "start": "takes no ratings to begin with",
            }
            for what, asked in self._asked().items():
                try:
                    rater_called(self._named, **{what: asked})
                except InputError:
                    kind = all_raters()[self._named].kind
                    raise InputError(f"{kind} {lacking[what]}; leave this out, or rate otherwise.") from None
            self.rater = rater_called(self._named, **self._asked()).fit(self.played)

    def _check_forecasts(self) -> tuple[dict[str, Any] | None, pl.DataFrame]:
        return calibration(self._named, self.played, **self._asked())

    def matches_alone(self) -> Matches:
        """The matches."""
        return self.played

    def _described(self) -> dict[str, Any]:
        matches, fixtures, coming = self.played, self._fixtures(), None
        if fixtures is not None:
            left = int(np.isnan(fixtures.result).sum())
            coming = {"matches": len(fixtures), "left": left, "sides": len(fixtures.teams)}
        sides = set(matches.teams)  # two worth a first look: the best rated, where sides are rated at all
        favourites = [name for name in self.downloads["leaderboard"]["name"] if name in sides][:2]
        can_raise = True  # whether points can be added to the sides of this rater
        try:
            with_points(self.rater, {})
        except InputError:
            can_raise = False
        return {
            "sides": list(side_names(matches)),
            "teams": sorted(matches.present),
            "favourites": favourites,
            "conditions": {name: list(one.levels) for name, one in matches.conditions.items()},
            "fixtures": coming,
            "rules": season_rules(matches, None if fixtures is None else len(sides_in(fixtures))),
            "can_raise": can_raise,
            "covariates": self.chosen["covariates"],
            "groups": self._groups(),
        }

    def _groups(self) -> dict[str, list[str]]:
        """By what an audit may be answered by group, and the groups."""
        groups: dict[str, list[str]] = {}
        if "groups" in self._tables:
            dropped = self._tables["groups"].frame
            in_file = "group" in dropped.columns
            groups[GROUPS_DROPPED] = as_text(dropped["group"]).drop_nulls().unique().sort().to_list() if in_file else []
        # Columns that are nothing else already; two, one for each side, go by the name that they share.
        results, levels = self._tables["results"].frame, {}
        for column in results.columns:
            values = as_text(results[column]).drop_nulls().unique().sort()
            if column not in self.chosen["columns"].values() and 2 <= values.len() <= MOST_GROUPS:
                levels[column] = values.to_list()
        names = {column: column for column in levels}
        names |= {column: name for name, pair in columns_of_sides(list(levels)).items() for column in pair}
        for column, name in names.items():
            groups[name] = sorted({value for side in columns_of(column, list(levels)) for value in levels[side]})
        return groups

    def _labels(self) -> dict[str, str]:
        frames = {kind: table.frame for kind, table in self._tables.items()}
        return all_labels(frames, self.chosen["columns"], {*self.rater.ratings_["name"], *self.played.teams})

    def _fixtures(self) -> Matches | None:
        """The fixtures that were dropped; a condition that they do not say is unknown."""
        if "fixtures" not in self._tables:
            return None
        frame, conditions = self._tables["fixtures"].frame, list(self.played.conditions)
        missing = [pl.lit(self._unsaid(name)).alias(name) for name in conditions if name not in frame.columns]
        options = ReadingPanel.read(self.chosen["reading"]).options()
        return read_matches(
            frame.with_columns(missing),
            played=False,
            conditions=conditions,
            aliases=aliases_of(self._tables),
            **options,
        )

    def _unsaid(self, column: str) -> str:
        """What a match to come has in a column of which nobody says anything: no condition, and the number 0."""
        return "0" if column in self.chosen["covariates"] else ""

    def team(self, name: str) -> dict[str, Any]:
        """The page of one side or player."""
        if self._surprises is None:
            self._surprises = upsets(self.rater, self.played)
        today = ratings_today(self.rater).filter(pl.col("name") == name)
        if not today.height:
            raise InputError(f"{name!r:.80} is not rated in this league.")
        now, path = today.row(0, named=True), rating_history(self.rater, self.played, TEAM_STOPS, side=name)
        lost_or_won = self._surprises.filter((pl.col("home") == name) | (pl.col("away") == name)).head(UPSETS_LISTED)
        fixtures, to_come = self._fixtures(), []
        if fixtures is not None and name in fixtures.teams:
            code = fixtures.teams.index(name)
            plays = (fixtures.home == code) | (fixtures.away == code)
            coming = fixtures[np.isnan(fixtures.result) & plays][:UPSETS_LISTED]
            chances = copy.deepcopy(self.rater).predict(coming).probabilities if len(coming) else []
            to_come = [
                {"date": str(row["date"]), "home": row["home"], "away": row["away"], "neutral": bool(row["neutral"]),
                 "win": plain(float(p[0])), "draw": plain(float(p[1])), "loss": plain(float(p[2]))}
                for row, p in zip(coming.to_polars().iter_rows(named=True), chances)
            ]  # fmt: skip
        return {
            "name": name,
            "today": {key: plain(now[key], 2) for key in ("rating", "uncertainty", "matches")},
            "last_played": str(now["last_played"]) if self.played.dated else None,
            "history": history_of(path, path["date"].to_numpy()),
            "ranks": ranks_of(self.history, name),
            "upsets": [
                {key: str(value) if key == "date" else plain(value) for key, value in row.items()}
                for row in lost_or_won.iter_rows(named=True)
            ],
            "fixtures": to_come,
        }

    def odds(
        self, kind: str, points: dict[str, float], rules: dict[str, float], best: int, fixtures: bool
    ) -> dict[str, Any]:
        """How a season or a cup may end: of the fixtures, or of so many of the best."""
        rater, matches = self.rater, self.played
        if fixtures and "fixtures" not in self._tables:
            raise InputError("There are no fixtures; drop a file of them, or take the best sides.")
        sides = set(matches.teams)
        names = [name for name in self.downloads["leaderboard"]["name"] if name in sides][:best]
        if not fixtures and len(names) < best:
            raise InputError(f"Only {counted(len(names), 'side is', 'sides are')} ranked; {best} were asked for.")
        day = str(np.datetime_as_string(matches.date[-1] + np.timedelta64(1, "D")))
        return odds(
            rater,
            matches,
            self._fixtures() if fixtures else None,
            names,
            kind=kind,
            points=points,
            rules=rules,
            day=day,
        )

    def predict(self, home: str, away: str, neutral: bool, conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Forecast one match to be played after the last of the file."""
        if home == away:
            raise InputError("A side cannot play against itself; choose two.")
        day = np.datetime_as_string(self.played.date[-1])
        match = {"home": [home], "away": [away], "neutral": [neutral], "date": [day]}
        used = list(self.played.conditions)
        levels = {name: (conditions or {}).get(name) or self._unsaid(name) for name in used}
        match |= {name: [level] for name, level in levels.items()}
        forecast = self.rater.predict(read_matches(match, played=False, conditions=used))
        win, draw, loss = forecast.probabilities[0].tolist()
        changes, why_not = self._changes(home, away, {"date": day, "neutral": neutral}, levels)
        probabilities = {"win": win, "draw": draw, "loss": loss}
        return {**probabilities, "unknown": list(forecast.unknown), "changes": changes, "why_not": why_not}

    def _changes(
        self, home: str, away: str, fixture: dict[str, Any], levels: dict[str, str]
    ) -> tuple[dict[str, Any] | None, str | None]:
        """What the match would change, or None and a sentence why that is not shown."""
        if not answers(self.rater, "preview"):
            return None, f"{type(self.rater).__name__} cannot say what a match would change."
        if traits_of(self.rater).rates_players:
            return None, "Players are rated: what the match would change depends on who plays, which is not known here."
        numbers = {name: float(levels[name]) for name in self.chosen["covariates"]}
        known = {name: level for name, level in levels.items() if level} | numbers
        try:
            found = preview(self.rater, home, away, **fixture, **({"conditions": known} if known else {}))
        except InputError as error:
            return None, f"What the match would change is not shown: {error}"
        return found.table().to_dict(), None


RATER = "rank"
CONTESTS_LISTED, LINES_OF_EACH = 8, 12
MOST_FIELDS, MOST_ENTRANTS = 20, 200
"""Contests to come that are offered, and entrants of one that is forecast here."""


class ContestLeague(League):
    """Contests, rater and rankings of one visitor's league."""

    kind = CONTESTS
    caution = CONTEST_CAUTION
    played: Contests
    _named = RATER

    def _fit(self, progress: Callable[[Any], None]) -> None:
        progress(f"Fitting {counted(len(self.played), 'contest', 'contests')}")
        self.rater: RankElo = self._blank().fit(self.played)
        self.kinds = tuple(kind for kind in self.rater._kinds if kind not in self.rater._advantage_kinds)
        self.chosen = {**self.chosen, "rater": RATER}

    def _blank(self) -> RankElo:
        """The rater as the command line makes it: columns to rate beside the entrant are those of the contests."""
        return cast("RankElo", rater_called(RATER, **{**self._asked(), "conditions": ()}, kind=CONTESTS))

    @property
    def _numbers(self) -> list[str]:
        """Covariates that somebody says: sizes of teams are known."""
        return [name for name in self.chosen["covariates"] if name in self.played.slots]

    def _check_forecasts(self) -> tuple[dict[str, Any] | None, pl.DataFrame]:
        return check_forecasts(self.played, self._blank())

    def _ratings(self) -> pl.DataFrame:
        return self.rater.ratings_on()

    def _lines_of_each(self) -> int:
        return LINES_OF_EACH

    def rank(
        self, active_days: float | None, least_matches: int, caution: float, period: float | None = None
    ) -> dict[str, Any]:
        """Rank by other rules, with places so many days before the last contest; ``caution`` is not used."""
        return super().rank(active_days, least_matches, self.caution, period)

    def _described(self) -> dict[str, Any]:
        return {
            "kinds": list(self.kinds),
            "names": {kind: self._names(kind) for kind in self.kinds},
            "fields": self._fields(),
            "levels": {name: list(self.played.slots[name].names) for name in self.chosen["noise_by"]},
            "numbers": self._numbers,
            "size": int(np.median(self.played.sizes)),
        }

    def _names(self, kind: str) -> list[str]:
        return sorted(self.downloads["ratings"].filter(pl.col("kind") == kind)["name"])

    def _labels(self) -> dict[str, str]:
        """What to show of a name: from the file of names, and without its kind where the board says that."""
        frames = {kind: table.frame for kind, table in self._tables.items() if kind == "names"}
        rated = self.downloads["ratings"]
        named = all_labels(frames, self.chosen["columns"], set(rated["name"]))
        shown = dict(named)
        for kind, name in rated.select("kind", "name").iter_rows():
            shown[self._key(kind, name)] = str(named.get(name, name))
        return {key: label for key, label in shown.items() if key != label}

    # A field to forecast

    def _to_come(self) -> Contests | None:
        chosen = self.chosen
        reading = ReadingPanel.read(chosen["reading"])
        unsaid = dict.fromkeys(chosen["noise_by"], "") | dict.fromkeys(chosen["covariates"], "0")
        return contests_to_come(self._tables, chosen["columns"], chosen["conditions"], reading, unsaid)

    def _fields(self) -> list[dict[str, Any]]:
        """Fields worth a first look: contests to come, and that of the last contest."""
        coming, last = self._to_come(), self.played[-1]
        fields = [] if coming is None else [(coming[k], "to come") for k in range(min(len(coming), MOST_FIELDS))]
        described = []
        for contest, when in [*fields, (last, "the last")]:
            rated = contest.rating(*self.kinds, *self._numbers)
            entrants = [
                [[slot.names[code] for code in slot.codes[k].tolist() if code >= 0] for slot in rated.slots.values()]
                for k in range(min(rated.entrant.size, MOST_ENTRANTS))
            ]
            # What the contest says of that on which luck depends; blank where it does not.
            luck = {name: contest.slots[name] for name in self.chosen["noise_by"]}
            codes = {name: int(slot.codes[0, 0]) for name, slot in luck.items()}
            levels = {name: luck[name].names[code] if code >= 0 else "" for name, code in codes.items()}
            label = f"{contest.labels[0]}{f', {contest.date[0]}' if contest.dated else ''} ({when})"
            described.append({"label": label, "entrants": entrants, "conditions": levels})
        return described

    def field(self, entrants: list[list[list[str]]], conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Chances of entrants who meet in a contest after the last, the likeliest winner first."""
        if not 2 <= len(entrants) <= MOST_ENTRANTS:
            raise InputError(f"A field here has 2 to {MOST_ENTRANTS} entrants, not {len(entrants)}.")
        field = [tuple(list(names) for names in one) for one in entrants]
        levels = {name: level for name, level in (conditions or {}).items() if level}
        forecast = self.rater.predict_one(field, conditions=levels or None)
        changes, why_not = self._changes(field, levels)
        places = forecast.places(0)
        order = np.argsort(-forecast.win, kind="stable")
        return {
            "rows": [
                {
                    "entrant": int(k),
                    "win": plain(float(forecast.win[k])),
                    "top_3": plain(float(places[k, :3].sum())),
                    "expected_place": plain(float(forecast.expected_place[k])),
                    "places": [plain(p) for p in places[k].tolist()],
                    "changes": changes.get(int(k)),
                }
                for k in order
            ],
            "unknown": list(forecast.unknown),
            "why_not": why_not,
        }

    def _changes(
        self, field: list[tuple[list[str], ...]], levels: dict[str, str]
    ) -> tuple[dict[int, list[float | None]], str | None]:
        """What the first and the last place would change for the first name of every entrant of a small field, or
        nothing and a sentence why that is not shown."""
        if len(field) > MOST_PREVIEWED:
            return {}, f"What each place would change is shown of fields of up to {MOST_PREVIEWED} entrants."
        circumstances: dict[str, Any] = {"conditions": levels} if levels else {}
        try:
            seen = preview(self.rater, field, **circumstances)
        except InputError as error:
            return {}, f"What each place would change is not shown: {error}"
        ends = {name: [*seen.changes(name).values()] for name in seen.after}
        return {k: [plain(change, 1) for change in (ends[one[0][0]][0], ends[one[0][0]][-1])]
                for k, one in enumerate(field) if one[0][0] in ends}, None  # fmt: skip

    # The page of one name

    def team(self, name: str) -> dict[str, Any]:
        """The page of one name: today's rating, history, places, surprises and what comes."""
        kind, plain_name = self._found(name)
        rated = self.downloads["ratings"]
        now = rated.filter((pl.col("kind") == kind) & (pl.col("name") == plain_name)).row(0, named=True)
        history = self.history.filter((pl.col("kind") == kind) & (pl.col("name") == name))
        alike = self.history.filter(pl.col("kind") == kind)
        contests, coming = self._to_come(), []
        if contests is not None and len(contests) and plain_name in contests.slots[kind].names:
            entries = _entries(self.rater.predict(contests)).with_columns(of=contests.sizes[contests.contest])
            takes_part = pl.Series(self._takes_part(contests, kind, plain_name))
            coming = _rows(entries.filter(takes_part).head(CONTESTS_LISTED))
        # Contests whose places were furthest from what was expected, as a share of the field.
        if self._surprises is None:
            forecast = blank_of(self.rater).one_step_ahead(self.played)
            size = self.played.sizes[self.played.contest]
            self._surprises = _entries(forecast).with_columns(
                of=size, place=self.played.place, ended=np.array(ENDINGS)[self.played.ended]
            )
        finished = self._surprises.filter(pl.Series(self._takes_part(self.played, kind, plain_name)))
        finished = finished.filter(pl.col("ended") == ENDINGS[FINISHED])
        off = ((pl.col("place") - pl.col("expected_place")) / pl.col("of")).abs()
        surprises = finished.sort(off, descending=True, maintain_order=True).head(CONTESTS_LISTED)
        return {
            "name": name,
            "today": {key: plain(now[key], 2) for key in ("rating", "uncertainty", "matches")},
            "last_played": str(now["last_played"]) if self.played.dated else None,
            "history": history_of(history, self.history["date"].unique().sort().to_numpy()),
            "ranks": ranks_of(alike, name),
            "surprises": _rows(surprises),
            "coming": coming,
        }

    def _name_of(self, key: str) -> str:
        return self._found(key)[1]

    def _found(self, key: str) -> tuple[str, str]:
        for kind in self.kinds:
            name = key if len(self.kinds) == 1 else key.removeprefix(f"{kind}: ")
            rated = self.downloads["ratings"].filter((pl.col("kind") == kind) & (pl.col("name") == name))
            if rated.height and self._key(kind, name) == key:
                return kind, name
        raise InputError(f"{key!r:.80} is not rated in this league.")

    def _takes_part(self, contests: Contests, kind: str, name: str) -> np.ndarray:
        """Entries in which a name of a kind takes part."""
        slots = contests.slots[kind]
        return (slots.codes == slots.names.index(name)).any(axis=1) if name in slots.names else np.zeros(0, np.int64)


def _entries(forecast: ContestForecast) -> pl.DataFrame:
    contests = forecast.contests
    table = contests.to_polars().select("contest", "date", "entrant")
    shown = pl.Series("contest", contests.labels, dtype=pl.String).gather(contests.contest)
    return table.with_columns(shown, win=forecast.win, expected_place=forecast.expected_place)


def _rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {key: str(value) if key == "date" else plain(value) for key, value in row.items()}
        for row in table.iter_rows(named=True)
    ]


def first_entries(contests: Contests, most: int = 6) -> list[dict[str, Any]]:
    """The first entries as they were read."""
    table = contests.to_polars().head(most)
    table = table.drop(
        name for name in contests.kinds if name in table.columns and table[name].equals(table["entrant"])
    )
    return _rows(table if contests.dated else table.drop("date"))


LEAST_CONTESTS = 10
OWN_RATER, PLAIN_ELO = "RankElo", "plain Elo"


def check_forecasts(contests: Contests, rater: RankElo) -> tuple[dict[str, Any] | None, pl.DataFrame]:
    """Scores and calibration of forecasts one step ahead, beside those of plain Elo; None where there are too few."""
    middle = len(contests) // 2
    first: Any = contests.date[middle] if contests.dated else middle
    if not len(contests.before(first)) or len(contests.since(first)) < LEAST_CONTESTS:
        return None, pl.DataFrame()
    with warnings.catch_warnings():
        # What there is to say about these contests was said when all of them were fitted.
        warnings.simplefilter("ignore", KineloWarning)
        test = backtest(contests, {OWN_RATER: rater, PLAIN_ELO: TeamElo.classic(k=32)}, train_until=first)
    scores = {row["rater"]: row for row in test.scores.iter_rows(named=True)}
    ours, beside = scores[OWN_RATER], scores[PLAIN_ELO]
    table = test.forecasts[OWN_RATER].to_polars().with_columns(place=test.contests.place)
    scores_said = (
        f"Of two who finished, it named the one ahead in {percent(ours['pairs_right'], 1)} of cases (plain Elo with "
        f"K = 32: {percent(beside['pairs_right'], 1)}); the log-loss of the winner is {ours['winner_log_loss']:.4f} "
        f"(plain Elo: {beside['winner_log_loss']:.4f})."
    )
    chart = calibration_chart(test.calibration(OWN_RATER)).to_dict()
    words = f"{forecast_words(contests, test.contests)} {scores_said}"
    bands = place_bands_table(test.bands(OWN_RATER), OWN_RATER).to_dict()
    return {"chart": chart, "words": words, "bands": bands}, table
