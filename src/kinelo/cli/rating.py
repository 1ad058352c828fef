"""What commands that rate share: the rater, of a book or fitted on a file, and how its ratings are shown."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import typer

from kinelo.cli.loading import kind_of_source, plain_warnings
from kinelo.cli.options import RATER_HELP, ReadingOptions, ShownOptions, option
from kinelo.cli.output import console, say_note
from kinelo.errors import InputError
from kinelo.matches.kinds import KINDS, MATCHES, Kind, kind_of
from kinelo.raters.choice import AUTOMATIC, MIXTURE

if TYPE_CHECKING:
    import polars as pl

    from kinelo.book.book import RatingBook
    from kinelo.forecasts.automatic import RaterChoice
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.matches.scan import MatchScan


@dataclass(frozen=True)
class SourceOptions:
    """Where ratings come from: a rating book, or results and a rater to fit on them."""

    heading: ClassVar[str] = "Where ratings come from"

    book: str | None = option("Rating book whose ratings count.")
    results: Path | None = option("File of results (or contests) to fit a rater on.")
    rater: str = option(RATER_HELP, default=AUTOMATIC)

    def rated(self, reading: ReadingOptions, *, history: bool = False, contest: bool | None = None) -> tuple[Any, Any]:
        """The rater, and what it has rated; of a book that is read for a ``history`` alone.

        Where a match (or a ``contest``) is typed, the other kind is refused.
        """
        source = self.book or self.results
        if source is None or (self.book and self.results):
            raise InputError("Say where the ratings come from: either --book BOOK or --results FILE.")
        kind = kind_of_source(source, reading.column)
        if contest is not None and contest == kind.two_sided:
            form = "matches of two sides: ask about 'HOME - AWAY'" if contest else "contests: ask about 'ANN; BOB; CID'"
            raise InputError(f"{source} holds {form}.")
        with plain_warnings():
            if self.book is not None:
                refuse_reading_of_book(reading)
                kept = open_book(self.book, self.rater, reading, kind)
                return kept.rater, kept.matches() if history and len(kept) else None
            check_rater(self.rater, reading, kind)
            played = reading.load(Path(source), kind=kind)
            return fit_rater(self.rater, played, reading)[0], played

    @property
    def aliases(self) -> dict[str, str]:
        """What names that are typed are called in the results, as ``kinelo read`` kept it."""
        from kinelo.matches.reading_file import kept_reading

        return kept_reading(self.results)[1].get("aliases", {})

    def names(self, typed: list[str]) -> list[str]:
        """Names as they were typed, or those wanted for them."""
        aliases = self.aliases
        return [aliases.get(name, name) for name in typed]


def refuse_reading_of_book(reading: ReadingOptions) -> None:
    """Refuse options that say how a file is read, where there is none."""
    for name in (name for name in ("--column", "--lineups") if name in reading.asked()):
        raise InputError(f"{name} says how a file is read: leave it out of a book, or give a file of results.")


def check_rater(name: str, reading: ReadingOptions, kind: Kind = MATCHES) -> None:
    """Refuse a rater that does not exist or cannot do what is asked, before any file is read."""
    from kinelo.raters.choice import rater_called

    if name != AUTOMATIC:
        rater_called(name, *reading.asked_of_rater(), kind=kind)


def fit_shown(rater: Any, played: Any) -> Any:
    """Fit a rater, which shows on a terminal how far it is where that takes long."""
    if hasattr(rater, "progress"):
        rater.progress = sys.stderr.isatty()
    return rater.fit(played)


def fit_rater(name: str, played: Any, reading: ReadingOptions) -> tuple[Any, RaterChoice | None]:
    """The rater of this name, fitted, and how it was chosen where that was left to Kinelo, which is said."""
    from kinelo.raters.choice import rater_called

    kind = kind_of(played)
    name = kind.usual_rater or AUTOMATIC if name == AUTOMATIC else name
    if name != AUTOMATIC:
        rater = fit_shown(rater_called(name, *reading.asked_of_rater(), kind=kind), played)
        if name == MIXTURE:
            typer.echo(f"Forecasts are mixed, by weights learnt on the latest matches: {rater}", err=True)
        return rater, None
    choice = choose(played, reading)
    if any("model" in header.lower() for header in getattr(played, "side_headers", ())):
        say_note("models do not change from vote to vote: --rater bradley-terry is meant for that, all votes at once")
    return choice.rater, choice


def fit_forecaster(name: str, played: Any, reading: ReadingOptions) -> Any:
    """A fitted rater to forecast with: where the choice is left to Kinelo, a mixture, if it can weigh them."""
    from kinelo.forecasts.automatic import LEAST_COMPARED

    of_matches = kind_of(played).usual_rater is None
    name = MIXTURE if name == AUTOMATIC and of_matches and len(played) >= LEAST_COMPARED else name
    return fit_rater(name, played, reading)[0]


def choose(matches: Matches | MatchScan, reading: ReadingOptions) -> RaterChoice:
    """Choose a rater on the latest of these matches, and say on the error stream which and by how much."""
    from kinelo.forecasts.automatic import choose
    from kinelo.raters.choice import candidates

    named = candidates(matches, *reading.asked_of_rater())
    choice = choose(matches, named, next(iter(named)))
    typer.echo(f"Rater chosen on the earlier matches: {choice}", err=True)
    if getattr(matches, "lineups", None) is not None and choice.name != "PlayerElo":
        typer.echo(f"note: {choice.name} does not use the line-ups; --rater player does", err=True)
    return choice


def open_book(book: str | Path, asked: str, reading: ReadingOptions, kind: Kind) -> RatingBook:
    """A book that exists and may hold this kind, whose rater is none other than what was asked for."""
    from kinelo.book.book import RatingBook
    from kinelo.raters.adapter import conditions_of
    from kinelo.raters.choice import rater_called

    wanted = None if asked == AUTOMATIC else type(rater_called(asked, kind=kind))
    opened = RatingBook(book, wanted if ":" in asked else None)
    keeper = type(opened.rater).__name__
    # The first table decides where the rater rates both.
    if kind.noun not in opened.holds or (opened.noun != kind.noun and len(opened)):
        held = KINDS[opened.noun].described
        raise InputError(f"{book} is a book of {held}, kept by {keeper}; start another for {kind.noun}.")
    if wanted is not None and wanted is not type(opened.rater):
        raise InputError(f"{book} is a book of {keeper}; leave out --rater {asked} or start another.")
    used, columns = list(conditions_of(opened.rater)), reading.columns_asked()
    if columns and set(columns) != set(used):
        words = f"the conditions {', '.join(used)}" if used else "no conditions"
        raise InputError(
            f"{book} is a book whose rater uses {words}; leave out --condition, --noise-by and --covariate or start "
            "another."
        )
    if reading.start is not None:
        raise InputError(f"{book} keeps the ratings it began with; leave out --start or start another book.")
    return opened


def rated_by(rater: Any, played: Matches | Contests) -> str:
    """The title of a leaderboard: how many matches or contests, and whose ratings."""
    return f"{played.kind.counted(len(played))}, {getattr(rater, 'label', type(rater).__name__)}"


def content_of(rater: Any, matches: Matches | Contests, choice: RaterChoice | None) -> dict[str, Any]:
    """What ``--json`` prints: the rater, its parameters with standard errors, and all ratings."""
    from kinelo.raters.tables import effects_table

    advantages = getattr(rater, "advantages_", None)
    noise = bool(getattr(rater, "noise_by", None)) and hasattr(rater, "noise_factors_")
    estimates = getattr(rater, "estimates_", None)
    errors = {} if estimates is None else estimates.standard_errors
    return {
        "rater": type(rater).__name__,
        "choice": None if choice is None else choice.to_dict(),
        matches.kind.noun: len(matches),
        "parameters": dict(getattr(rater, "parameters_", {})),
        "at_bounds": [] if estimates is None else list(estimates.at_bounds),
        "standard_errors": {name: error if error == error else None for name, error in errors.items()},
        **({"effects": rater.effects_.to_dicts()} if effects_table(rater) is not None else {}),
        **({"noise_factors": rater.noise_factors_.to_dicts()} if noise else {}),
        **({"advantages": advantages.to_dicts()} if advantages is not None and advantages.height else {}),
        "ratings": rater.ratings_.to_dicts(),
    }


class Board(NamedTuple):
    """A leaderboard, whose it is, and its title."""

    table: pl.DataFrame
    rater: Any
    title: str

    def show(self, top: int, noun: str) -> None:
        """Print it, by kinds where there are any, and say which options show the others."""
        from kinelo.raters.leaderboard import boards_by_kind
        from kinelo.raters.tables import board_table, left_out_words, ranks_table

        if "place" not in self.table.columns:
            console().print(ranks_table(self.table, self.title, noun).head(top))
            return
        boards = boards_by_kind(self.table)
        for kind, board in boards.items():
            console().print(board_table(board, f"{self.title}: {kind}" if kind else self.title, top=top, noun=noun))
        if words := left_out_words(self.rater.ratings_.height - sum(board.height for board in boards.values()), noun):
            typer.echo(f"{words.removesuffix('.')} (--active-days, --least-matches).")


def board_of(rater: Any, matches: Matches | Contests | None, title: str, shown: ShownOptions) -> Board:
    """The leaderboard that is asked for, or ranks; that everyone is shown because nobody qualifies is said."""
    from kinelo.decisions.telling_apart import board_with_tiers
    from kinelo.raters.leaderboard import board_and_words

    table, words = (rater.intervals(), "") if shown.ranks else board_and_words(rater, matches, **shown.ranking())
    table = table if shown.ranks else board_with_tiers(rater, table)
    if words:
        typer.echo(f"note: {words}", err=True)
    return Board(table, rater, title)
