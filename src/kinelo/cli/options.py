"""Options that several commands share, declared once.

A group of options is a dataclass whose fields are annotated as Typer asks. A command marked ``@grouped`` takes the
group as one argument; on the command line its fields are options like any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast, get_type_hints

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
    write_csv,
)
from kinelo.cli.output import GIVEN, say_note
from kinelo.errors import InputError
from kinelo.matches.dated import CONTESTS, MATCHES, SIZE, Kind
from kinelo.raters.choice import AUTOMATIC, rater_help
from kinelo.raters.qualifying import ACTIVE_DAYS, LEAST_MATCHES

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.model.steps import StepRule

OF_THE_OTHER = {
    MATCHES: (
        "--slot", "--advantage", "--team", "--best", "--unfinished", "--disqualified", "--not-started",
    ),
    CONTESTS: ("--lineups", "--scale", "--drop-repeats", "--ordered"),
}  # fmt: skip
"""Options that say how the other kind is read."""
REFUSED = {
    MATCHES: "{} holds matches of two sides: {} is for contests, with one row for each entrant.",
    CONTESTS: "{} holds contests of many entrants, for which there is no {}.",
}
READ_ALONE = (
    "aliases", "write_aliases", "scale", "drop_repeats", "dates", "ordered", "ending", "sheet", "accept_losses",
    "slot", "advantage", "team", "best", "unfinished", "disqualified", "not_started",
)  # fmt: skip
"""Options whose answers ``kinelo read`` keeps; other commands take them until 1.0, and their help lists none."""

OF_A_SCAN = {
    MATCHES: ("--column", "--accept-losses", "--start"),
    CONTESTS: (
        "--column", "--accept-losses", "--start", "--aliases", "--dates", "--condition", "--noise-by", "--covariate",
        "--ending", *OF_THE_OTHER[MATCHES],
    ),
}  # fmt: skip
"""Options that files of a pattern take, which are read in chunks."""

MATCHES_HELP = "Results: CSV or Parquet with date, two sides, scores or result"
MatchesFile = Annotated[Path, typer.Argument(help=f"{MATCHES_HELP}.")]
ResultsFile = Annotated[Path, typer.Argument(help=f"{MATCHES_HELP}; or contests, with a row for each entrant.")]
RaterName = Annotated[
    str, typer.Option("--rater", help=f"{AUTOMATIC}: chosen on the latest of your matches; {rater_help()}.")
]
StartingRatings = Annotated[
    Path | None,
    typer.Option("--start", help="Ratings to begin with: CSV or Parquet with name, rating, perhaps deviation."),
]
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


@dataclass(frozen=True)
class ResultsOptions:
    """How a file of results is read: options of every command that takes one."""

    heading: ClassVar[str] = "How results are read"

    lineups: Annotated[
        Path | None,
        typer.Option(help="Line-ups of the results (and of fixtures): match, side, player, perhaps minutes."),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column the file calls otherwise, as NAME=COLUMN (home=club_1); may be repeated."),
    ] = None
    aliases: Annotated[
        Path | None, typer.Option(help="File of two columns: a name found, and the name wanted for it.")
    ] = None
    write_aliases: Annotated[
        Path | None, typer.Option(help="Write names that may be one to this CSV file, to confirm for --aliases.")
    ] = None
    scale: Annotated[
        str | None, typer.Option(help="Numbers in the result column: points (0, ½, 1) or signed (-1, 0, 1).")
    ] = None
    drop_repeats: Annotated[
        bool, typer.Option("--drop-repeats", help="Drop rows alike an earlier one in every column.")
    ] = False
    dates: Annotated[
        str | None,
        typer.Option(help="Order of dates in numbers alone: dmy, mdy or ymd, where the file does not decide."),
    ] = None
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Rows of one day stand in the order in which the matches were played.")
    ] = False

    ending: Annotated[
        list[str] | None,
        typer.Option(
            "--ending",
            help="What a word means: WORD=finished, 'to come', 'broken off' or forfeit of matches; last, unfinished, "
            "disqualified or 'not started' of entrants.",
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook (.xlsx), by name or number; else all that are alike.")
    ] = None
    accept_losses: Annotated[
        bool, typer.Option("--accept-losses", help="Go on although more than half of the rows cannot be used.")
    ] = False

    def asked(self) -> list[str]:
        """Names of the options that were given."""
        return [f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name)]

    def read(
        self,
        path: Path,
        kind: Kind = MATCHES,
        *,
        played: bool = True,
        lineups: Path | None = None,
        conditions: Sequence[str] = (),
        beside: Path | None = None,
    ) -> Any:
        """Matches or contests of a file as these options say; what is asked of the other kind is refused."""
        from kinelo.matches.loading import SPREADSHEETS
        from kinelo.matches.reading_file import kept_reading

        refuse_options(kind, path, *(option for option in self.asked() if option in OF_THE_OTHER[kind]))
        answers = self.answers(path, kind, conditions, beside)
        if kind.two_sided:
            answers |= {"lineups": lineups, "conditions": conditions, "ordered": self.ordered and played}
        if not played and kept_reading(path)[0] is None and kept_reading(beside)[0] is kind:
            answers = _as_beside(path, kept_reading(beside)[1], answers)
            say_note(f"{path} was read as {beside} is, as far as it has those columns")
        # A file beside a workbook that is none itself has no sheets.
        workbooks = [file is not None and file.suffix.lower() in SPREADSHEETS for file in (path, beside)]
        with silent_refusals():
            sheet = None if workbooks == [False, True] else self.sheet
            return kind.reader(path, **{**answers, "played": played, "sheet": sheet})

    def answers(
        self, path: Path, kind: Kind, conditions: Sequence[str] = (), beside: Path | None = None
    ) -> dict[str, Any]:
        """What these options say of how a file is read, as the readers take it."""
        columns = mapping_for(path, self.column, beside)
        answers = {"columns": columns, "aliases": self.aliases, "dates": self.dates, "sheet": self.sheet}
        answers |= {"accept_losses": self.accept_losses, "endings": _pairs(self.ending)}
        if kind is CONTESTS:
            return answers | self._for_contests(conditions)
        return answers | {"results": self.scale, "drop_repeats": self.drop_repeats, "ordered": self.ordered}

    def _for_contests(self, conditions: Sequence[str]) -> dict[str, Any]:
        """What the reader of contests alone is asked for: nothing, of commands that take matches alone."""
        return {}

    def load(
        self,
        results: Path,
        rejects: Path | None = None,
        conditions: Sequence[str] | None = None,
        coming: Matches | None = None,
        beside: Path | None = None,
        kind: Kind = MATCHES,
    ) -> Any:
        """Read a file of results, say on the error stream what was noticed, and write rejected rows where asked.

        Line-ups that are those of ``coming`` matches, which stand in the file ``beside``, are no rejects.
        """

        try:
            with rejects_written(rejects):
                table = self.read(results, kind, lineups=self.lineups, conditions=conditions or (), beside=beside)
        except InputError:
            if kind.two_sided and kind_of_file(results, self.column, beside) is not kind:
                raise InputError(
                    f"{results} holds contests of many entrants, and this command takes matches of two sides. kinelo "
                    "rate, predict, why, backtest, audit and book take contests."
                ) from None
            raise
        if coming is not None and getattr(coming, "lineups", None) is not None:
            check_identifiers(table, coming)
            table = replace(table, rejected=table.rejected.unless_used(coming.rejected))
        report_reading(table, rejects)
        if self.write_aliases is not None:
            from kinelo.matches.same_side import likely_names

            write_csv(likely_names(table), self.write_aliases)
        return table


@dataclass(frozen=True)
class ReadingOptions(ResultsOptions):
    """How results are read and what a rater is given beside them: options of every command that rates."""

    condition: Annotated[
        list[str] | None,
        typer.Option("--condition", help="A column on whose value strengths may depend (surface); may be repeated."),
    ] = None
    noise_by: Annotated[
        list[str] | None,
        typer.Option(
            "--noise-by",
            help="A column on whose value luck may depend (format); may be repeated. Of a typed --match also its "
            "level: format=bo5.",
        ),
    ] = None
    covariate: Annotated[
        list[str] | None,
        typer.Option(help="A column of numbers that speak for the first side (handicap); may be repeated."),
    ] = None
    start: StartingRatings = None

    def columns_asked(self) -> list[str]:
        """Columns beyond results that are to be read: conditions, circumstances of the noise, and covariates."""
        return list(dict.fromkeys([*(self.condition or ()), *(self.noise_by or ()), *(self.covariate or ())]))

    def asked_of_rater(self) -> tuple[Path | None, list[str], list[str], list[str]]:
        """What a rater is given: ratings to begin with, conditions, circumstances of the noise, and covariates."""
        return self.start, self.condition or [], self.noise_by or [], self.covariate or []

    def load(
        self,
        results: Path,
        rejects: Path | None = None,
        conditions: Sequence[str] | None = None,
        coming: Matches | None = None,
        beside: Path | None = None,
        kind: Kind = MATCHES,
    ) -> Any:
        """Read a file of results; ``conditions`` stands in for those that were asked for."""
        asked = self.columns_asked() if conditions is None else conditions
        return super().load(results, rejects, asked, coming, beside, kind)

    def fixtures(self, path: Path, conditions: list[str], results: Path | None = None, kind: Kind = MATCHES) -> Any:
        """Read matches that need not have been played, with their line-ups, or contests.

        Where results stand in another file, line-ups are told apart by the identifiers of matches.
        """
        matches = self.read(path, kind, played=False, conditions=conditions, beside=results)
        if self.lineups is None:
            return matches
        if matches.identifiers is None and results not in (None, path):
            typer.echo(
                f"note: no match of {path} has an identifier, so no line-up of {self.lineups} is theirs", err=True
            )
            return matches
        return self.read(path, played=False, lineups=self.lineups, conditions=conditions, beside=results)


@dataclass(frozen=True)
class AnyReadingOptions(ReadingOptions):
    """How results are read where they may be contests: options of every command that takes either."""

    heading: ClassVar[str] = "Contests of many entrants"

    slot: Annotated[
        list[str] | None,
        typer.Option("--slot", help="A column to rate (driver, car), or KIND=COLUMN; may be repeated."),
    ] = None
    advantage: Annotated[
        list[str] | None,
        typer.Option("--advantage", help="A column that helps whoever has it (lane); may be repeated."),
    ] = None
    team: Annotated[str | None, typer.Option("--team", help="The column of teams, where rows are players.")] = None
    best: Annotated[str | None, typer.Option("--best", help="Which score is best: highest or lowest.")] = None
    unfinished: Annotated[
        str | None, typer.Option("--unfinished", help="Who did not finish is behind (usual), last or out.")
    ] = None
    disqualified: Annotated[
        str | None, typer.Option("--disqualified", help="Who was disqualified is out (usual), behind or last.")
    ] = None
    not_started: Annotated[
        str | None, typer.Option("--not-started", help="Who did not start is out (usual), behind or last.")
    ] = None

    def _for_contests(self, conditions: Sequence[str]) -> dict[str, Any]:
        """What the reader of contests alone is asked for; conditions, and what luck depends on, are advantages."""
        named = {*_slots(self.advantage), *_slots(self.slot)}
        added = [name for name in dict.fromkeys(conditions) if name not in named]
        if self.team is not None:  # whose sizes are no column
            added = [name for name in added if name != SIZE or name not in (self.covariate or ())]
        return {
            "slots": _slots(self.slot),
            "advantages": _slots([*(self.advantage or ()), *added]),
            "team": self.team,
            "best": self.best,
            "unfinished": self.unfinished or "behind",
            "disqualified": self.disqualified or "out",
            "not_started": self.not_started or "out",
        }

    def scan(self, pattern: str, kind: Kind) -> Any:
        """The files of a pattern, to be read in chunks; what is not checked of them is said."""
        meaning: dict[str, Any] = {"results": self.scale, "endings": _pairs(self.ending)}
        if kind is CONTESTS:
            meaning = self._for_contests(self.columns_asked()) | {"endings": _pairs(self.ending)}
        scan = kind.scanner(
            pattern, column_mapping(self.column), aliases=self.aliases, dates=self.dates,
            accept_losses=self.accept_losses, **meaning,
        )  # fmt: skip
        for note in scan.notes:
            say_note(note)
        return scan

    def as_kept_by(self, rater: Any, path: Path, kind: Kind) -> AnyReadingOptions:
        """Options that read a file as the rater of a book needs it, where they do not say what is rated."""
        from kinelo.matches.loading import head_of

        kinds, advantages = getattr(rater, "_kinds", ()), getattr(rater, "_advantage_kinds", ())
        if kind.two_sided or not kinds or self.slot or self.advantage or not path.is_file():
            return self
        with silent_refusals():
            columns = head_of(path).columns
        if not set(kinds) <= set(columns):
            return self
        return replace(self, slot=[kind for kind in kinds if kind not in advantages], advantage=[*advantages])


def _as_beside(path: Path, kept: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """Answers for a file of what is to come, which is read as the results beside it are, where it has their columns."""
    from kinelo.matches.loading import head_of
    from kinelo.matches.reading_file import joined_answers, stale_columns

    with silent_refusals():
        missing = stale_columns({"columns": kept.get("columns", {})}, head_of(path).columns)
    columns = {key: column for key, column in kept.get("columns", {}).items() if key not in missing}
    of_results = ("sheet", "drop_repeats", "ordered", "accept_losses")
    return joined_answers(answers, {k: v for k, v in kept.items() if k not in of_results} | {"columns": columns})


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

    k: Annotated[float | None, typer.Option("--k", min=0, help="Rate by plain Elo with this K.")] = None
    k_of: Annotated[
        Path | None, typer.Option("--k-of", help="K by group: CSV or Parquet with name and k; all others have --k.")
    ] = None
    k_first: Annotated[
        float | None, typer.Option("--k-first", min=0, help="K of a side's first match, which falls to --k.")
    ] = None
    k_halfway: Annotated[
        float | None,
        typer.Option("--k-halfway", help="Matches after which K is halfway from --k-first to --k; 10 unless given."),
    ] = None
    rules: Annotated[
        str | None, typer.Option("--rules", help="Rate by the rules of fide (kinelo rate: its monthly lists).")
    ] = None
    initial: Annotated[float | None, typer.Option("--initial", help="Rating of a newcomer.")] = None

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
            typer.echo(f"note: --k-of names {len(strange):,} who do not play in these results: {shown}{more}", err=True)


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
    """Let a command take groups of options: each field of a group becomes an option, under the heading of its class."""
    hints, hides = get_type_hints(command, include_extras=True), command.__name__ != "read"
    apart, groups, shared = [], {}, []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if is_dataclass(kind):
            groups[name] = kind
            of_group = get_type_hints(kind, include_extras=True)
            for field in fields(kind):
                option = copy(of_group[field.name].__metadata__[0])
                option.hidden = hides and field.name in READ_ALONE
                declared = next(one for one in cast("type", kind).__mro__ if field.name in inspect.get_annotations(one))
                option.rich_help_panel = declared.heading
                shared.append(
                    inspect.Parameter(
                        field.name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=inspect.Parameter.empty if field.default is MISSING else field.default,
                        annotation=Annotated[of_group[field.name].__origin__, option],
                    )
                )
        else:
            apart.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def call(**given: Any) -> Any:
        made = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        return command(**given, **made)

    parameters = [*apart, *shared]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


@dataclass(frozen=True)
class ShownOptions:
    """Who is shown on a leaderboard."""

    heading: ClassVar[str] = "Who is shown"

    active_days: Annotated[
        float, typer.Option(min=0, help="Show those who played within so many days of the last match.")
    ] = ACTIVE_DAYS
    least_matches: Annotated[int, typer.Option(min=0, help="Show those who played at least so many matches.")] = (
        LEAST_MATCHES
    )
    caution: Annotated[
        float | None,
        typer.Option(min=0, help="Standard deviations taken off before sorting; 2 unless given, 0 for contests."),
    ] = None
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Show ranks with their 95 % intervals, of --rater bradley-terry.")
    ] = False
    by: Annotated[str | None, typer.Option(help="A board for each value of this column, from its matches alone.")] = (
        None
    )
    top: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20
    board: Annotated[Path | None, typer.Option(help="Write the leaderboard, as it is shown, to this CSV file.")] = None

    def ranking(self) -> dict[str, Any]:
        """Who is ranked, as :func:`kinelo.leaderboard` takes it."""
        return {"active_days": self.active_days, "least_matches": self.least_matches, "caution": self.caution}
