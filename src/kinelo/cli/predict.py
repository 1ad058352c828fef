"""``kinelo predict``: forecasts of matches and contests, and questions about one of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from kinelo.cli.loading import kind_of_source, plain_warnings, report_reading, write_csv
from kinelo.cli.options import Json, ReadingOptions, argument, form_asked, grouped, option, refuse_options
from kinelo.cli.output import console, echo_json, say_note
from kinelo.cli.questions import EvenTeams, MatchQuestions, changes_ahead, even_teams, fair_handicap, members_of
from kinelo.cli.rating import SourceOptions, check_rater, fit_forecaster, open_book
from kinelo.errors import InputError, KineloWarning
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.presentation import counted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from kinelo.presentation import Table

FORECASTS_SHOWN, ENTRANTS_SHOWN = 40, 60
MATCH_HELP = (
    "A match as 'HOME - AWAY', or a contest as 'ANN; BOB; CID' ('ANN + BOB; CID + DEE' of teams, 'ANN + RED; BOB + "
    "BLUE' where drivers and cars are rated); may be repeated."
)
PLAYED_HELP = (
    "Forecast matches played since this day too, each from the results before its day; the rater is fitted on results "
    "before this day. By default played matches are left out. Contests without dates "
    "take a contest, a number or a share."
)
ASKED_OF = {
    "": ("fixtures", "match", "neutral", "played_since", "out"),
    "--preview": ("match", "neutral", "date", "home_lineup", "away_lineup", "of"),
    "--fair": ("match", "neutral", "date"),
    "--balance": ("sides", "together", "apart", "role", "newcomers", "show", "seed", "date"),
}
"""Forms of the command, and the options of each beside those of all."""


@grouped
def predict(
    source: SourceOptions,
    reading: ReadingOptions,
    questions: MatchQuestions,
    teams: EvenTeams,
    fixtures: Path | None = argument(
        "Matches or contests to come: CSV or Parquet; played ones in it stand in for --results."
    ),
    match: list[str] | None = option(MATCH_HELP),
    neutral: bool = option("Matches given by --match have no home side.", "--neutral", default=False),
    played_since: str | None = option(PLAYED_HELP),
    out: Path | None = option("Write the forecasts to this CSV file."),
    as_json: Json = False,
) -> None:
    """Forecast matches from a rating book or a file of results, or answer a question about one.

    With --preview it says what everyone would gain or lose, with --fair which handicap makes a match even, and with
    --balance how those who are there make even teams.

    Example:  kinelo predict --results league/results.csv --match 'Ashford - Bramley'
    Example:  kinelo predict next-race.csv --results races.csv
    Example:  kinelo predict --match 'Ashford - Bramley' --book league.db --preview
    Example:  kinelo predict --match 'Ann - Bob' --results games.csv --fair stones --neutral
    Example:  kinelo predict --balance 'Ann; Bob; Cid; Dee' --book arena.db --together 'Ann, Bob'
    """
    from kinelo.raters.adapter import conditions_of
    from kinelo.raters.spelling import nearest_names

    book, results, rater = source.book, source.results, source.rater
    if form := form_asked(ASKED_OF):
        if form == "--balance":
            even_teams(teams, source, reading, questions.date, as_json=as_json)
            return
        if match is None or len(match) != 1:
            raise InputError(f"{form} asks about one match: give it as --match 'HOME - AWAY', or 'ANN; BOB; CID'.")
        (asked,) = match
        if form == "--preview":
            changes_ahead(asked, questions, source, reading, neutral=neutral, as_json=as_json)
            return
        reading, levels = typed_levels(reading, of_book=book is not None)
        if book is None and questions.fair not in reading.columns_asked():
            reading = replace(reading, covariate=[*(reading.covariate or ()), str(questions.fair)])
        fair_handicap(asked, questions, source, reading, levels, neutral=neutral, as_json=as_json)
        return
    if fixtures is not None and match:
        other = f", or say --results {fixtures} if it holds results" if book is results is None else ""
        raise InputError(f"{fixtures} was taken for fixtures, and --match names others: leave one out{other}.")
    if fixtures is None and not match:
        raise InputError("Say what to forecast: either a file of fixtures or --match 'HOME - AWAY'.")
    if (book is not None and results is not None) or (book is None and results is None and fixtures is None):
        raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
    if played_since is not None and (book is not None or fixtures is None):
        raise InputError(
            "--played-since forecasts played matches of a file from --results; it takes no --book or --match."
        )
    sources = {results or book: fixtures, fixtures: results}
    kinds = {kind_of_source(one, reading.column, beside) for one, beside in sources.items() if one is not None}
    kind = CONTESTS if CONTESTS in kinds else MATCHES
    form = FORMS[kind]
    refuse_options(kind, book or results or fixtures, *(form.foreign if neutral else ()))
    fields = [form.field(text) for text in match or ()]
    reading, levels = typed_levels(reading, of_book=book is not None) if match else (reading, {})
    conditions, chosen, past, coming = reading.columns_asked(), None, None, None
    with plain_warnings():
        if book is not None:
            kept = open_book(book, rater, reading, kind)
            chosen, past = kept.rater, kept.matches() if len(kept) else None
            conditions = list(conditions_of(chosen))
            strange = [name for name in levels if name not in conditions]
            if strange:
                raise InputError(f"{book} knows no {strange[0]!r}: leave out its level.")
        else:
            check_rater(rater, reading, kind)
        if fixtures is not None:
            coming = reading.fixtures(fixtures, conditions, results, kind, keeper=chosen)
        if book is None:
            past = reading.load(results or fixtures or Path(), coming=coming, beside=fixtures, kind=kind)
        if coming is not None and (book is not None or results not in (None, fixtures)):
            seen = coming  # line-ups of results are no rejects
            if getattr(coming, "lineups", None) is not None and past is not None:
                seen = replace(coming, rejected=coming.rejected.unless_used(past.rejected))
            report_reading(seen, None)
        if (coming is None or not coming.dated) and past is not None and len(past) and past.dated:
            day = past.date[-1]
            typer.echo(f"note: {kind.noun} without a date are forecast for {day}, the last day known", err=True)
        if coming is None:
            chosen = fit_forecaster(rater, past, reading) if chosen is None else chosen
            typed = Typed(fields, neutral, source.aliases, {name: levels.get(name, "") for name in conditions})
            pieces = form.typed(chosen, typed)
        else:
            pieces, chosen = _forecasts(chosen, past, coming, rater, reading, played_since)
    unknown = list(dict.fromkeys(name for piece in pieces for name in piece.forecast.unknown))
    for name in unknown:
        rated = getattr(chosen, "ratings_", None)
        names = set() if rated is None else {n for col in ("name", "team") if col in rated.columns for n in rated[col]}
        near = nearest_names(name, names)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        typer.echo(f"warning: {name} has never {kind.met}: it is forecast as a newcomer{meant}", err=True)
    for note in dict.fromkeys(note for piece in pieces for note in piece.forecast.notes):
        say_note(note)
    table = _table(pieces, form)
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Forecasts: {out}", err=as_json)
    if as_json:
        echo_json({"rater": type(chosen).__name__, "forecasts": table.to_dicts(), "unknown": unknown})
        return
    for shown in form.shown(table):
        console().print(shown)


def _forecasts(
    rater: Any, past: Any, coming: Any, name: str, reading: ReadingOptions, played_since: str | None
) -> tuple[list[Piece], Any]:
    """Forecast what is to come from all results, and what took place since a day from the results before it."""

    kind = coming.kind
    played = _played(coming, past)
    train, later = past, past
    if past is not None:
        train = past if played_since is None else past.before(played_since)
        later = past[len(train) :]
    wanted = ~played if played_since is None else ~played | _late(coming, later, played_since)
    if not wanted.any():
        have = "has" if len(coming) == 1 else "have"
        all_of_them = f"{'All ' * (len(coming) > 1)}{kind.counted(len(coming))}"
        raise InputError(
            f"{all_of_them} {have} {kind.over}: none is left to forecast. --played-since DAY forecasts "
            f"those since a day, each from the {kind.past} before it."
        )
    if not wanted.all():
        left_out = int((~wanted).sum())
        over, are = FORMS[kind].over, "are"
        if left_out == 1:
            over, are = over.replace("have", "has"), "is"
        typer.echo(f"note: {kind.counted(left_out)} {over} {are} left out (see --played-since)", err=True)
    if rater is None and train is not None:
        if len(train) == 0:
            raise InputError(f"There are no {kind.past} before {played_since} to fit a rater on; choose a later one.")
        rater = fit_forecaster(name, train, reading)
    return _one_by_one(rater, later, coming[wanted], played[wanted]), rater


def _one_by_one(rater: Any, results: Any, coming: Any, played: NDArray[np.bool_]) -> list[Piece]:
    """Forecast what took place from the results before it, the others from all results."""
    import numpy as np

    from kinelo.raters.adapter import carry_on, forecast_by

    form, used, pieces = FORMS[coming.kind], 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)  # names never met are reported one by one
        for part in [*form.groups(coming, np.flatnonzero(played)), np.flatnonzero(~played)]:
            if part.size == 0:
                continue
            if results is not None:
                until = form.before(results, coming, int(part[0])) if played[part[0]] else len(results)
                if until > used:
                    carry_on(rater, results[used:until])
                    used = until
            group = coming[part]
            pieces.append(Piece(part, forecast_by(rater, group).about(group)))
    return pieces


def _played(coming: Any, past: Any) -> NDArray[np.bool_]:
    """What has a result, in its own file or (same day and sides, or contest) among those that the rater saw."""
    import numpy as np

    kind = coming.kind
    played = coming._took_place
    if past is None or not coming.dated:
        return played
    seen = set(past._events)
    rated = np.array([event in seen for event in coming._events], bool)
    early = int((~played & ~rated & (coming.date < past.date[-1])).sum()) if len(past) else 0
    if early:
        typer.echo(
            f"note: {counted(early, kind.one, kind.noun)} without {kind.lacking} {'is' if early == 1 else 'are'} dated "
            f"before {past.date[-1]}, the last {kind.past.removesuffix('s')}; forecasts of them know {kind.past} that "
            "came later",
            err=True,
        )
    return played | rated


def _late(coming: Any, later: Any, since: str) -> NDArray[np.bool_]:
    """What took place since a day; without dates, what stands among the ``later`` results."""
    import numpy as np

    from kinelo.matches.dated import read_day

    if coming.dated:
        return coming.date >= read_day(since)
    events = set(later._events)
    return np.array([event in events for event in coming._events], bool)


def _table(pieces: list[Piece], form: Form) -> pl.DataFrame:
    """All forecasts, in the order of the file."""
    import polars as pl

    tables = [piece.forecast.to_polars().with_columns(_row=pl.Series(form.rows(piece))) for piece in pieces]
    columns = ["_row", *form.best_first]
    descending = [name in form.best_first for name in columns]
    table = pl.concat(tables).sort(columns, descending=descending, maintain_order=True)
    return table.drop("_row", *form.absent(pieces[0].forecast))


def typed_levels(reading: ReadingOptions, *, of_book: bool = False) -> tuple[ReadingOptions, dict[str, str]]:
    """Options without the levels that ``--noise-by track=oval``, ``--condition surface=clay`` and ``--covariate
    stones=3`` say of a ``--match``, and these by column. The columns are those that a rater is to use, which a book
    knows itself.
    """
    asked = {"condition": reading.condition, "noise_by": reading.noise_by, "covariate": reading.covariate}
    parts = {option: [one.partition("=") for one in given or ()] for option, given in asked.items()}
    levels = {name.strip(): level.strip() for named in parts.values() for name, equals, level in named if equals}
    if not all(name and level for name, level in levels.items()):
        raise InputError(
            "--noise-by, --condition and --covariate take a column, and for a --match its level: track=oval."
        )
    columns = {
        option: [name.strip() for name, equals, _ in named if not (equals and of_book)] or None
        for option, named in parts.items()
    }
    return replace(reading, **columns), levels


class Typed(NamedTuple):
    """What ``--match`` says: who meets, and the levels of conditions that are said for all ("" where none is)."""

    fields: list[list[str]]
    neutral: bool
    aliases: dict[str, str]
    levels: dict[str, str]


class Piece(NamedTuple):
    """Forecasts of some of what is to come, and which rows of it they are about."""

    where: NDArray[np.int64]
    forecast: Any


class Form:
    """What differs between forecasts of matches and of contests: how they are typed, made in order of time, shown."""

    over: str
    """What those are of which there is nothing to forecast."""
    foreign: tuple[str, ...] = ()
    """Options that the other kind alone takes."""
    best_first: tuple[str, ...] = ()
    """Columns by which rows of one contest are sorted."""

    def field(self, text: str) -> list[str]:
        """Who meets, as ``--match`` says it."""
        raise NotImplementedError

    def typed(self, rater: Any, typed: Typed) -> list[Piece]:
        """Forecasts of what was typed."""
        raise NotImplementedError

    def groups(self, coming: Any, played: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """What took place in parts that are forecast from the same results."""
        raise NotImplementedError

    def before(self, results: Any, coming: Any, row: int) -> int:
        """How many results come before one that took place."""
        import numpy as np

        return int(np.searchsorted(results.date, coming.date[row]))

    def rows(self, piece: Piece) -> NDArray[np.int64]:
        """Which match or contest each row of a table is about."""
        return piece.where

    def absent(self, forecast: Any) -> list[str]:
        """Columns of a table that say nothing."""
        return []

    def shown(self, table: pl.DataFrame) -> Iterable[Table]:
        """The forecasts as they are printed."""
        raise NotImplementedError


class _MatchForm(Form):
    """Matches: 'HOME - AWAY', each day from the results before it."""

    over = "already played"

    def field(self, text: str) -> list[str]:
        names = [name.strip() for name in text.split(" - ")]
        if len(names) != 2 or not all(names):
            raise InputError(f"--match {text!r} is not of the form 'HOME - AWAY'.")
        if names[0] == names[1]:
            raise InputError(f"--match {text!r} names one side twice; a match has two sides.")
        return names

    def typed(self, rater: Any, typed: Typed) -> list[Piece]:
        import numpy as np

        from kinelo.matches.reading import read_matches
        from kinelo.raters.adapter import forecast_by

        unsaid = [name for name, level in typed.levels.items() if not level]
        if unsaid:
            note = f"note: --match says nothing of {', '.join(unsaid)}: sides play with their own strength"
            typer.echo(note, err=True)
        home, away = zip(*typed.fields, strict=True)
        number = len(typed.fields)
        table = {name: [level] * number for name, level in typed.levels.items()} | {
            "home": list(home),
            "away": list(away),
            "neutral": [typed.neutral] * number,
        }
        matches = read_matches(table, played=False, aliases=typed.aliases, conditions=list(typed.levels))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KineloWarning)  # names never met are reported one by one
            return [Piece(np.arange(number), forecast_by(rater, matches).about(matches))]

    def groups(self, coming: Any, played: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        import numpy as np

        return [played[coming.date[played] == day] for day in np.unique(coming.date[played])]

    def absent(self, forecast: Any) -> list[str]:
        matches = forecast.matches
        return [*(["match_id"] if matches.identifiers is None else []), *([] if matches.dated else ["date"])]

    def shown(self, table: pl.DataFrame) -> Iterable[Table]:
        from kinelo.forecasts.forecast import forecast_table

        return [forecast_table(table).head(FORECASTS_SHOWN)]


class _ContestForm(Form):
    """Contests: 'ANN; BOB; CID', each from the contests before it, the likeliest winner first."""

    over = "that have taken place"
    foreign = ("--neutral",)
    best_first = ("win",)

    def field(self, text: str) -> list[str]:
        entrants = [name.strip() for name in text.split(";") if name.strip()]
        if len(entrants) < 2:
            raise InputError(f"--match {text!r:.60} names no contest; write its entrants as 'ANN; BOB; CID'.")
        return entrants

    def typed(self, rater: Any, typed: Typed) -> list[Piece]:
        import numpy as np

        luck = {name: typed.levels[name] for name in getattr(rater, "noise_by", None) or () if typed.levels.get(name)}
        helps = [name for name in getattr(rater, "_advantage_kinds", ()) if name not in luck]
        stated = [name for name in helps if typed.levels.get(name)]
        if stated and stated != helps[: len(stated)]:
            unsaid = next(name for name in helps if name not in stated)
            raise InputError(f"A contest that is typed says {unsaid} before {stated[-1]}: give its level too.")
        helped = [typed.levels[name] for name in stated]
        circumstances = {"conditions": luck} if luck else {}
        pieces = []
        for number, entrants in enumerate(typed.fields):
            named, members = members_of(rater, entrants, typed.aliases)
            field = [(*names, *helped) if len(names) + len(helped) > 1 else names[0] for names in members]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KineloWarning)
                forecast = rater.predict_one(field, **circumstances)
            title = field_title([" + ".join(names) for names in named])
            contest = replace(forecast.contests, identifiers=(str(number + 1),), titles=(title,))
            pieces.append(Piece(np.array([number]), forecast.about(contest)))
        return pieces

    def groups(self, coming: Any, played: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        return [played[k : k + 1] for k in range(played.size)]

    def before(self, results: Any, coming: Any, row: int) -> int:
        """Contests stand in an order within their day."""
        places = {event: place for place, event in enumerate(results._events)}
        place = places.get(coming._events[row])
        return super().before(results, coming, row) if place is None else place

    def rows(self, piece: Piece) -> NDArray[np.int64]:
        import numpy as np

        return np.repeat(piece.where, piece.forecast.contests.sizes)

    def shown(self, table: pl.DataFrame) -> Iterable[Table]:
        from kinelo.forecasts.places import contest_forecast_tables

        return contest_forecast_tables(table, ENTRANTS_SHOWN)


def field_title(entrants: list[str]) -> str:
    """What stands above the forecast of a contest that was typed, which has no name.

    >>> field_title(["Ann", "Bob", "Cid", "Dee"]), field_title(["Ann", "Bob", "Cid", "Dee", "Eve"])
    ('Ann, Bob, Cid, Dee', 'Ann, Bob, Cid and 2 more')
    """
    return ", ".join(entrants) if len(entrants) < 5 else f"{', '.join(entrants[:3])} and {len(entrants) - 3:,} more"


FORMS: dict[Kind, Form] = {MATCHES: _MatchForm(), CONTESTS: _ContestForm()}
