"""Options that several commands share, declared once.

A group of options is a dataclass whose fields are made by :func:`option`. A command marked ``@grouped`` takes the group
as one argument; on the command line its fields are options like any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from kinelo.cli.loading import (
    check_identifiers,
    column_mapping,
    kind_of_file,
    mapping_for,
    named_value,
    rejects_written,
    report_reading,
    silent_refusals,
)
from kinelo.cli.output import GIVEN, say_note
from kinelo.errors import InputError
from kinelo.matches.kinds import CONTESTS, MATCHES, SIZE, Kind
from kinelo.presentation import counted
from kinelo.raters.choice import AUTOMATIC, rater_help
from kinelo.raters.qualifying import ACTIVE_DAYS, LEAST_MATCHES

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.model.steps import StepRule

OF_THE_OTHER = {
    MATCHES: ("slot", "advantage", "team", "best", "unfinished", "disqualified", "not_started"),
    CONTESTS: ("scale", "drop_repeats", "ordered"),
}
"""Options of ``kinelo read`` that say how the other kind is read."""
REFUSED = {
    MATCHES: "{} holds matches of two sides: {} is for contests, with one row for each entrant.",
    CONTESTS: "{} holds contests of many entrants, for which there is no {}.",
}

MATCHES_HELP = "Results: CSV or Parquet with date, two sides, scores or result"
MatchesFile = Annotated[Path, typer.Argument(help=f"{MATCHES_HELP}.")]
ResultsFile = Annotated[Path, typer.Argument(help=f"{MATCHES_HELP}; or contests, with a row for each entrant.")]
COLUMN_HELP = "A column the file calls otherwise, as NAME=COLUMN (home=club_1); may be repeated."
RATER_HELP = f"{AUTOMATIC}: chosen on the latest of your matches, or mixed to forecast; {rater_help()}."
RaterName = Annotated[str, typer.Option("--rater", help=RATER_HELP)]
Rejects = Annotated[Path | None, typer.Option(help="Write rows that could not be used to this CSV file.")]
Json = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Compute in so many processes (kinelo[dask]).")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, whose workers compute.")
]
AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Let the study import laws of its own (MODULE:CLASS), which runs their code."),
]


class DeviceChoice(StrEnum):
    """Where a run is carried out."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"


def option(words: str, *names: str, default: Any = None, **more: Any) -> Any:
    """A field of a group, or a parameter of a command, that is an option of the command line."""
    return field(default=default, metadata={"option": typer.Option(*names, help=words, **more)})


def argument(words: str, *, default: Any = None, **more: Any) -> Any:
    """A parameter of a command that is no option but stands behind it."""
    return field(default=default, metadata={"option": typer.Argument(help=words, **more)})


@dataclass(frozen=True)
class FileOptions:
    """What a file means: options of ``kinelo read`` alone, which keeps the answers beside the file."""

    heading: ClassVar[str] = "How the file is read"

    column: list[str] | None = option(COLUMN_HELP)
    aliases: Path | None = option("File of two columns: a name found, and the name wanted for it.")
    write_aliases: Path | None = option("Write names that may be one to this CSV file, to confirm for --aliases.")
    dates: str | None = option("Order of dates in numbers alone: dmy, mdy or ymd, where the file does not decide.")
    ending: list[str] | None = option(
        "What a word means: WORD=finished, 'to come', 'broken off' or forfeit of matches; last, unfinished, "
        "disqualified or 'not started' of entrants."
    )
    sheet: str | None = option("Sheet of a workbook (.xlsx), by name or number; else all that are alike.")
    accept_losses: bool = option(
        "Go on although more than half of the rows cannot be used.", "--accept-losses", default=False
    )
    coming: bool = option("The file holds what is to come, without results.", "--coming", default=False)

    def answers(self) -> dict[str, Any]:
        """What these options say, as the reader of such a file takes it."""
        answers = {"columns": column_mapping(self.column), "aliases": self.aliases, "dates": self.dates}
        return answers | {"sheet": self.sheet, "accept_losses": self.accept_losses, "endings": _pairs(self.ending)}


@dataclass(frozen=True)
class OfMatches:
    """What a file of matches means."""

    heading: ClassVar[str] = "Matches of two sides"

    scale: str | None = option("Numbers in the result column: points (0, ½, 1) or signed (-1, 0, 1).")
    drop_repeats: bool = option("Drop rows alike an earlier one in every column.", "--drop-repeats", default=False)
    ordered: bool = option(
        "Rows of one day stand in the order in which the matches were played.", "--ordered", default=False
    )

    def answers(self) -> dict[str, Any]:
        """What these options say, as the reader of matches takes it."""
        return {"results": self.scale, "drop_repeats": self.drop_repeats, "ordered": self.ordered}


@dataclass(frozen=True)
class OfContests:
    """What a file of contests means."""

    heading: ClassVar[str] = "Contests of many entrants"

    slot: list[str] | None = option("A column to rate (driver, car), or KIND=COLUMN; may be repeated.")
    advantage: list[str] | None = option("A column that helps whoever has it (lane); may be repeated.")
    team: str | None = option("The column of teams, where rows are players.")
    best: str | None = option("Which score is best: highest or lowest.")
    unfinished: str | None = option("Who did not finish is behind (usual), last or out.")
    disqualified: str | None = option("Who was disqualified is out (usual), behind or last.")
    not_started: str | None = option("Who did not start is out (usual), behind or last.")

    def answers(self) -> dict[str, Any]:
        """What these options say, as the reader of contests takes it."""
        from kinelo.matches.reading_file import USUAL

        said = {name: getattr(self, name) or USUAL.get(name) for name in ("team", "best", *USUAL)}
        return said | {"slots": _slots(self.slot), "advantages": _slots(self.advantage)}


@dataclass(frozen=True)
class ReadingOptions:
    """What a rater is given beside results, and columns that ``kinelo read`` did not name: options of every command
    that rates.
    """

    heading: ClassVar[str] = "How results are read"

    column: list[str] | None = option(COLUMN_HELP)
    lineups: Path | None = option("Line-ups of the results (and of fixtures): match, side, player, perhaps minutes.")
    condition: list[str] | None = option(
        "A column on whose value strengths may depend (surface); may be repeated.", "--condition"
    )
    noise_by: list[str] | None = option(
        "A column on whose value luck may depend (format); may be repeated. Of a typed --match also its level: "
        "format=bo5.",
        "--noise-by",
    )
    covariate: list[str] | None = option(
        "A column of numbers that speak for the first side (handicap); may be repeated.", "--covariate"
    )
    start: Path | None = option("Ratings to begin with: CSV or Parquet with name, rating, perhaps deviation.")

    def asked(self) -> list[str]:
        """Names of the options that were given."""
        return [f"--{one.name.replace('_', '-')}" for one in fields(self) if getattr(self, one.name)]

    def columns_asked(self) -> list[str]:
        """Columns beyond results that are to be read: conditions, circumstances of the noise, and covariates."""
        return list(dict.fromkeys([*(self.condition or ()), *(self.noise_by or ()), *(self.covariate or ())]))

    def asked_of_rater(self) -> tuple[Path | None, list[str], list[str], list[str]]:
        """What a rater is given: ratings to begin with, conditions, circumstances of the noise, and covariates."""
        return self.start, self.condition or [], self.noise_by or [], self.covariate or []

    def read(
        self, path: Path, kind: Kind = MATCHES, *, played: bool = True, lineups: Path | None = None,
        conditions: Sequence[str] = (), beside: Path | None = None, keeper: Any = None,
    ) -> Any:  # fmt: skip
        """Matches or contests of a file; where nothing was kept of it, what comes is read as the file ``beside`` it is,
        and contests as the rater of a book (``keeper``) needs them.
        """
        from kinelo.matches.loading import head_of
        from kinelo.matches.reading_file import kept_reading, stale_columns

        if self.lineups is not None and not kind.two_sided:
            raise InputError(REFUSED[kind].format(path, "--lineups"))
        answers: dict[str, Any] = {"columns": mapping_for(path, self.column, beside)}
        (place, reading), (there, of_results) = kept_reading(path), kept_reading(beside)
        if not played and place is None and there is kind:
            with silent_refusals():
                missing = stale_columns({"columns": of_results.get("columns", {})}, head_of(path).columns)
            columns = {key: name for key, name in of_results.get("columns", {}).items() if key not in missing}
            of_played = ("sheet", "drop_repeats", "ordered", "accept_losses")
            reading = {key: value for key, value in of_results.items() if key not in of_played} | {"columns": columns}
            say_note(f"{path} was read as {beside} is, as far as it has those columns")
            answers |= reading | {"columns": reading["columns"] | answers["columns"]}
        if kind.two_sided:
            answers |= {"lineups": lineups, "conditions": conditions}
        else:
            answers |= {} if "slots" in reading else slots_of(keeper, path)
            answers |= helps_of(conditions, self.covariate or (), answers if place is None else reading)
        with silent_refusals():
            return kind.reader(path, **answers, played=played)

    def load(
        self, results: Path, rejects: Path | None = None, conditions: Sequence[str] | None = None,
        coming: Matches | None = None, beside: Path | None = None, kind: Kind = MATCHES, keeper: Any = None,
    ) -> Any:  # fmt: skip
        """Read a file of results, say on the error stream what was noticed, and write rejected rows where asked.

        Line-ups of ``coming`` matches, which stand in the file ``beside``, are no rejects; ``conditions`` stands in for
        those that were asked for.
        """
        conditions = self.columns_asked() if conditions is None else conditions
        try:
            with rejects_written(rejects):
                table = self.read(
                    results, kind, lineups=self.lineups, conditions=conditions, beside=beside, keeper=keeper
                )
        except InputError:
            self._refuse_contests(results, kind, beside)
            raise
        if coming is not None and getattr(coming, "lineups", None) is not None:
            check_identifiers(table, coming)
            table = replace(table, rejected=table.rejected.unless_used(coming.rejected))
        report_reading(table, rejects)
        return table

    def fixtures(
        self, path: Path, conditions: list[str], results: Path | None = None, kind: Kind = MATCHES, keeper: Any = None
    ) -> Any:
        """Read matches that need not have been played, with their line-ups, or contests.

        Where results stand in another file, line-ups are told apart by the identifiers of matches.
        """
        coming = partial(self.read, path, kind, played=False, conditions=conditions, beside=results, keeper=keeper)
        try:
            matches = coming()
        except InputError:
            self._refuse_contests(path, kind, results)
            raise
        if self.lineups is None:
            return matches
        if matches.identifiers is None and results not in (None, path):
            say_note(f"no match of {path} has an identifier, so no line-up of {self.lineups} is theirs")
            return matches
        return coming(lineups=self.lineups)

    def _refuse_contests(self, path: Path, kind: Kind, beside: Path | None) -> None:
        """Refuse a file of contests where matches are read."""
        if kind.two_sided and kind_of_file(path, self.column, beside) is not kind:
            raise InputError(
                f"{path} holds contests of many entrants, and this command takes matches of two sides. kinelo "
                "rate, predict, why, backtest, audit and book take contests."
            ) from None

    def scan(self, pattern: str, kind: Kind) -> Any:
        """The files of a pattern, to be read in chunks; what is not checked of them is said."""
        from kinelo.matches.reading_file import kept_reading
        from kinelo.matches.scan import files_of

        kept = next((kept for file in files_of(pattern) if (kept := kept_reading(file)[1])), {})
        helps = {} if kind.two_sided else helps_of(self.columns_asked(), self.covariate or (), kept)
        scan = kind.scanner(pattern, column_mapping(self.column), **helps)
        for note in scan.notes:
            say_note(note)
        return scan


def helps_of(conditions: Sequence[str], covariates: Sequence[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Conditions of contests, and what luck depends on, as advantages beside those of a reading."""
    helps = reading.get("advantages") or {}
    added = [name for name in dict.fromkeys(conditions) if name not in {*helps, *(reading.get("slots") or {})}]
    if reading.get("team") is not None and SIZE in covariates:  # which is counted, and no column
        added = [name for name in added if name != SIZE]
    return {"advantages": helps | {name: [name] for name in added}} if added else {}


def slots_of(rater: Any, path: Path) -> dict[str, Any]:
    """What the rater of a book rates, where a file of contests has such columns."""
    from kinelo.matches.loading import head_of

    kinds, advantages = getattr(rater, "_kinds", ()), getattr(rater, "_advantage_kinds", ())
    if not kinds or not path.is_file():
        return {}
    with silent_refusals():
        columns = head_of(path).columns
    if not {*kinds} <= {*columns}:
        return {}
    slots = {kind: [kind] for kind in kinds if kind not in advantages}
    return {"slots": slots, "advantages": {kind: [kind] for kind in advantages}}


def refuse_options(kind: Kind, source: object, *odd: str) -> None:
    """Refuse the first of these options, which the other kind takes."""
    if odd:
        raise InputError(REFUSED[kind].format(source, odd[0]))


def _pairs(given: list[str] | None) -> dict[str, str]:
    """``["XYZ=unfinished"]`` as a dictionary."""
    return dict(named_value("--ending", pair, "WORD=unfinished", last=True) for pair in given or [])


def _slots(given: list[str] | None) -> dict[str, list[str]]:
    """``["driver", "player=p1", "player=p2"]`` as kinds with their columns."""
    kinds: dict[str, list[str]] = {}
    for one in given or []:
        kind, equals, column = one.partition("=")
        kinds.setdefault(kind.strip(), []).append(column.strip() if equals else kind.strip())
    return kinds


@dataclass(frozen=True)
class Federation:
    """Plain Elo by the rules of a federation, instead of a rater whose parameters are estimated."""

    heading: ClassVar[str] = "Plain Elo, by the rules of a federation"

    k: float | None = option("Rate by plain Elo with this K.", min=0)
    k_of: Path | None = option("K by group: CSV or Parquet with name and k; all others have --k.")
    k_first: float | None = option("K of a side's first match, which falls to --k.", min=0)
    k_halfway: float | None = option("Matches after which K is halfway from --k-first to --k; 10 unless given.")
    rules: str | None = option("Rate by the rules of fide (kinelo rate: its monthly lists).")
    initial: float | None = option("Rating of a newcomer.")

    def rater(
        self,
        name: str,
        start: Path | None = None,
        conditions: Sequence[str] = (),
        noise_by: Sequence[str] = (),
        covariates: Sequence[str] = (),
        *,
        kind: Kind = MATCHES,
    ) -> Any:
        """The rater that these options ask for, None where they ask for none."""
        from kinelo.raters.choice import rater_called
        from kinelo.raters.team.rater import TeamElo

        given = [f"--{n.replace('_', '-')}" for n in ("k_of", "k_first", "k_halfway") if getattr(self, n) is not None]
        if self.k is None and not given and self.rules is None:
            if self.initial is None:
                return None
            name = kind.usual_rater or AUTOMATIC if name == AUTOMATIC else name
            if name == AUTOMATIC:
                raise InputError("--initial needs a rater: give --k, --rules or --rater too.")
            asked = rater_called(name, start, conditions, noise_by, covariates, kind=kind)
            return asked.set_params(initial=self.initial)
        if self.rules not in (None, "fide"):
            raise InputError(f"There are no rules {self.rules!r}; --rules takes fide.")
        if self.rules and (self.k is not None or given):
            raise InputError(f"--rules says every K: leave out {', '.join(['--k'] * (self.k is not None) + given)}.")
        if name != AUTOMATIC or conditions or noise_by or covariates:
            raise InputError(
                "--k, --k-of and --rules rate by plain Elo: leave out --rater, --condition and --covariate."
            )
        if self.k is None and not self.rules:
            what = "the K of some: give --k for all others" if given == ["--k-of"] else "how K begins: give --k too"
            raise InputError(f"{given[-1]} says {what}.")
        initial = 1500.0 if self.initial is None else self.initial
        return TeamElo.classic(self._k(), initial=initial, start=start, k_of=self.k_of)

    def _k(self) -> float | StepRule:
        """K for all, or the rule that it follows."""
        from kinelo.model.steps import FallingSteps, FideSteps

        if self.k is None:
            return FideSteps()
        if self.k_first is None:
            if self.k_halfway is not None:
                raise InputError("--k-halfway says how soon --k-first falls to --k: give --k-first too.")
            return self.k
        if not self.k_first >= self.k > 0:
            raise InputError(f"--k-first {self.k_first:g} falls to --k {self.k:g}: K must be above 0 and not rise.")
        halfway = 10.0 if self.k_halfway is None else self.k_halfway
        if not halfway > 0:
            raise InputError(f"--k-halfway must be above 0, not {halfway:g}.")
        return FallingSteps(self.k / 2, boost=self.k_first / self.k - 1, matches=halfway)

    def check_names(self, played: Matches | Contests) -> None:
        """Refuse a K by name that names nobody who plays, and say of others whom it names besides."""
        from kinelo.errors import InputError
        from kinelo.raters.start import read_k

        names = [] if self.k_of is None else list(read_k(self.k_of))
        strange = [name for name in names if name not in set(played.present)]
        if strange and len(strange) == len(names):
            raise InputError(f"Nobody whom --k-of names plays in these results ({', '.join(map(repr, strange[:3]))}).")
        if strange:
            more = ", …" if len(strange) > 3 else ""
            shown = ", ".join(map(repr, strange[:3]))
            who = counted(len(strange), "who does", "who do")
            typer.echo(f"note: --k-of names {who} not play in these results: {shown}{more}", err=True)


def form_asked(options_of: Mapping[str, Sequence[str]]) -> str:
    """The form in which a command was called, "" for the plain one; options of another form are refused.

    ``options_of`` has the options of each form beside those of all; the option that names a form asks for it.
    """
    asked = [form for form in options_of if form and form[2:].replace("-", "_") in GIVEN]
    if len(asked) > 1:
        raise InputError(f"{asked[0]} and {asked[1]} ask two things; ask one at a time.")
    form = asked[0] if asked else ""
    for name in sorted(GIVEN):
        forms = [other for other in options_of if name in options_of[other]]
        if forms and form not in forms:
            option = name.upper() if name == "fixtures" else f"--{name.replace('_', '-')}"
            raise InputError(f"{form} takes no {option}." if form else f"{option} goes with {' or '.join(forms)}.")
    return form


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command of a function whose parameters are options, arguments, or groups of options: each field of a group
    becomes an option, under the heading of its class.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    apart, shared = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            apart.append(_declared(name, hints[name], parameter.default))
            continue
        of_group = get_type_hints(groups[name])
        for one in fields(groups[name]):
            heading = next(kind for kind in groups[name].__mro__ if one.name in inspect.get_annotations(kind)).heading
            shared.append(_declared(one.name, of_group[one.name], one, heading))

    @wraps(command)
    def call(**given: Any) -> Any:
        made = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        return command(**given, **made)

    call.__signature__ = inspect.Signature([*apart, *shared])  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in [*apart, *shared]}
    return call


def _declared(name: str, kind: Any, default: Any, heading: str | None = None) -> inspect.Parameter:
    """A parameter as Typer asks for it."""
    if isinstance(default, Field):
        said = copy(default.metadata["option"])
        said.rich_help_panel, kind = heading, Annotated[kind, said]
        default = inspect.Parameter.empty if default.default is MISSING else default.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@dataclass(frozen=True)
class ShownOptions:
    """Who is shown on a leaderboard."""

    heading: ClassVar[str] = "Who is shown"

    active_days: float = option(
        "Show those who played within so many days of the last match.", default=ACTIVE_DAYS, min=0
    )
    least_matches: int = option("Show those who played at least so many matches.", default=LEAST_MATCHES, min=0)
    caution: float | None = option(
        "Standard deviations taken off before sorting; 2 unless given, 0 for contests.", min=0
    )
    ranks: bool = option("Show ranks with their 95 % intervals, of --rater bradley-terry.", "--ranks", default=False)
    by: str | None = option("A board for each value of this column, from its matches alone.")
    top: int = option("How many to show.", default=20, min=1)
    board: Path | None = option("Write the leaderboard, as it is shown, to this CSV file.")

    def ranking(self) -> dict[str, Any]:
        """Who is ranked, as :func:`kinelo.leaderboard` takes it."""
        return {"active_days": self.active_days, "least_matches": self.least_matches, "caution": self.caution}
