"""A league of contests that was rated: a leaderboard for each kind, a page per entrant, forecasts of any field.

How good forecasts were is measured on the later half, by a rater fitted on the earlier (:func:`check_forecasts`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.charts import calibration_chart
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.backtest import backtest
from kinelo.forecasts.contest_scores import place_bands_table
from kinelo.forecasts.places import ContestForecast
from kinelo.lab.rate.league import League
from kinelo.lab.rate.reading import ReadingPanel, contests_to_come
from kinelo.lab.rate.standings import forecast_words, plain
from kinelo.lab.rate.tables import all_labels
from kinelo.lab.rate.teams import history_of, ranks_of
from kinelo.matches.contests import ENDINGS, FINISHED, Contests
from kinelo.matches.kind import CONTESTS
from kinelo.presentation import percent
from kinelo.raters.adapter import blank_of
from kinelo.raters.preview import MOST_PREVIEWED, preview
from kinelo.raters.qualifying import CONTEST_CAUTION
from kinelo.raters.rank.rater import RankElo
from kinelo.raters.team.rater import TeamElo

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
        progress(f"Fitting {len(self.played):,} contests")
        self.rater: RankElo = RankElo(**self._asked()).fit(self.played)
        self.kinds = tuple(kind for kind in self.rater._kinds if kind not in self.rater._advantage_kinds)
        self.chosen = {**self.chosen, "rater": RATER}

    def _asked(self) -> dict[str, Any]:
        return {what: self.chosen[what] or None for what in ("noise_by", "covariates")}

    @property
    def _numbers(self) -> list[str]:
        """Covariates that somebody says: sizes of teams are known."""
        return [name for name in self.chosen["covariates"] if name in self.played.slots]

    def _check_forecasts(self) -> tuple[dict[str, Any] | None, pl.DataFrame]:
        return check_forecasts(self.played, **self._asked())

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
        return [
            {"label": f"{one.labels[0]}{f', {one.date[0]}' if one.dated else ''} ({when})",
             "entrants": entrants_of(one.rating(*self.kinds, *self._numbers))[:MOST_ENTRANTS],
             "conditions": self._levels_of(one)}
            for one, when in [*fields, (last, "the last")]
        ]  # fmt: skip

    def _levels_of(self, contest: Contests) -> dict[str, str]:
        """What a contest says of that on which luck depends; blank where it does not."""
        slots = {name: contest.slots[name] for name in self.chosen["noise_by"]}
        codes = {name: int(one.codes[0, 0]) for name, one in slots.items()}
        return {name: slots[name].names[code] if code >= 0 else "" for name, code in codes.items()}

    def field(self, entrants: list[list[list[str]]], conditions: dict[str, str] | None = None) -> dict[str, Any]:
        """Chances of entrants who meet in a contest after the last, the likeliest winner first."""
        if not 2 <= len(entrants) <= MOST_ENTRANTS:
            raise InputError(f"A field here has 2 to {MOST_ENTRANTS} entrants, not {len(entrants)}.")
        field = [tuple(list(names) for names in one) for one in entrants]
        levels = {name: level for name, level in (conditions or {}).items() if level}
        forecast = self.rater.predict_one(field, conditions=levels or None)
        changes = self._changes(field, levels)
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
        }

    def _changes(self, field: list[tuple[list[str], ...]], levels: dict[str, str]) -> dict[int, list[float | None]]:
        """What the first and the last place would change for the first name of every entrant of a small field."""
        if len(field) > MOST_PREVIEWED:
            return {}
        seen = preview(self.rater, field, **({"conditions": levels} if levels else {}))
        ends = {name: [*seen.changes(name).values()] for name in seen.after}
        return {k: [plain(change, 1) for change in (ends[one[0][0]][0], ends[one[0][0]][-1])]
                for k, one in enumerate(field) if one[0][0] in ends}  # fmt: skip

    # The page of one name

    def team(self, name: str) -> dict[str, Any]:
        """The page of one name: today's rating, history, places, surprises and what comes."""
        kind, plain_name = self._found(name)
        rated = self.downloads["ratings"]
        now = rated.filter((pl.col("kind") == kind) & (pl.col("name") == plain_name)).row(0, named=True)
        history = self.history.filter((pl.col("kind") == kind) & (pl.col("name") == name))
        alike = self.history.filter(pl.col("kind") == kind)
        return {
            "name": name,
            "today": {key: plain(now[key], 2) for key in ("rating", "uncertainty", "matches")},
            "last_played": str(now["last_played"]) if self.played.dated else None,
            "history": history_of(history, self.history["date"].unique().sort().to_numpy()),
            "ranks": ranks_of(alike, name),
            "surprises": self._surprises_of(kind, plain_name),
            "coming": self._coming_of(kind, plain_name),
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

    def _surprises_of(self, kind: str, name: str) -> list[dict[str, Any]]:
        """Contests whose places were furthest from what was expected, as a share of the field."""
        if self._surprises is None:
            said = blank_of(self.rater).one_step_ahead(self.played)
            size = self.played.sizes[self.played.contest]
            self._surprises = _entries(said).with_columns(
                of=size, place=self.played.place, ended=np.array(ENDINGS)[self.played.ended]
            )
        own = self._surprises.filter(pl.Series(self._takes_part(self.played, kind, name)))
        own = own.filter(pl.col("ended") == ENDINGS[FINISHED])
        off = ((pl.col("place") - pl.col("expected_place")) / pl.col("of")).abs()
        return _rows(own.sort(off, descending=True, maintain_order=True).head(CONTESTS_LISTED))

    def _coming_of(self, kind: str, name: str) -> list[dict[str, Any]]:
        coming = self._to_come()
        if coming is None or not len(coming) or name not in coming.slots[kind].names:
            return []
        entries = _entries(self.rater.predict(coming)).with_columns(of=coming.sizes[coming.contest])
        return _rows(entries.filter(pl.Series(self._takes_part(coming, kind, name))).head(CONTESTS_LISTED))


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


def entrants_of(contests: Contests) -> list[list[list[str]]]:
    """Names of every entrant of one contest, a list for each kind."""
    return [
        [[slots.names[code] for code in slots.codes[k].tolist() if code >= 0] for slots in contests.slots.values()]
        for k in range(contests.entrant.size)
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


def check_forecasts(contests: Contests, **asked: Any) -> tuple[dict[str, Any] | None, pl.DataFrame]:
    """Scores and calibration of forecasts one step ahead, beside those of plain Elo; None where there are too few."""
    middle = len(contests) // 2
    first: Any = contests.date[middle] if contests.dated else middle
    if not len(contests.before(first)) or len(contests.since(first)) < LEAST_CONTESTS:
        return None, pl.DataFrame()
    with warnings.catch_warnings():
        # What there is to say about these contests was said when all of them were fitted.
        warnings.simplefilter("ignore", KineloWarning)
        test = backtest(contests, {OWN_RATER: RankElo(**asked), PLAIN_ELO: TeamElo.classic(k=32)}, train_until=first)
    scores = {row["rater"]: row for row in test.scores.iter_rows(named=True)}
    own, beside = scores[OWN_RATER], scores[PLAIN_ELO]
    table = test.forecasts[OWN_RATER].to_polars().with_columns(place=test.contests.place)
    scores_said = (
        f"Of two who finished, it named the one ahead in {percent(own['pairs_right'], 1)} of cases (plain Elo with "
        f"K = 32: {percent(beside['pairs_right'], 1)}); the log-loss of the winner is {own['winner_log_loss']:.4f} "
        f"(plain Elo: {beside['winner_log_loss']:.4f})."
    )
    chart = calibration_chart(test.calibration(OWN_RATER)).to_dict()
    words = f"{forecast_words(contests, test.contests)} {scores_said}"
    bands = place_bands_table(test.bands(OWN_RATER), OWN_RATER).to_dict()
    return {"chart": chart, "words": words, "bands": bands}, table
