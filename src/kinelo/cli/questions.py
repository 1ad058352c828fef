"""``kinelo why``, and the questions that ``kinelo predict`` answers beside forecasts: ``--preview``, ``--fair`` and
``--balance``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer

from kinelo.cli.loading import named_value, plain_warnings
from kinelo.cli.options import Json, ReadingOptions, argument, grouped, option
from kinelo.cli.output import console, echo_json, is_page
from kinelo.cli.rating import SourceOptions
from kinelo.errors import InputError
from kinelo.matches.kinds import SIZE
from kinelo.raters.qualifying import LAST_EXPLAINED


@dataclass(frozen=True)
class MatchQuestions:
    """What may be asked about a match that is typed, beside its forecast."""

    heading: ClassVar[str] = "Questions about one --match"

    preview: bool = option(
        "Show what everyone would gain or lose by each result, or each place.", "--preview", default=False
    )
    fair: str | None = option("Say which value of this covariate, such as a handicap, makes it even.", metavar="COLUMN")
    date: str | None = option("Day of the match (of --balance too); by default the last day known.")
    home_lineup: str | None = option("With --preview: who plays for the first side: 'Ann, Bob'.")
    away_lineup: str | None = option("With --preview: who plays for the other side.")
    of: list[str] | None = option("With --preview of a contest: whose places to try; may be repeated.")


@dataclass(frozen=True)
class EvenTeams:
    """How those who are there are split."""

    heading: ClassVar[str] = "Even teams"

    balance: str | None = option(
        "Split these into even teams: 'ANN; BOB; CID; DEE', or a file of names, one a line.", metavar="NAMES"
    )
    sides: str = option("How many sides, or their sizes, such as 5,4.", default="2")
    together: list[str] | None = option("Names for one side, such as 'Ann, Bob'; may be repeated.")
    apart: list[str] | None = option("Names for different sides, such as 'Ann, Bob'; may be repeated.")
    role: list[str] | None = option("NAME=ROLE; each side gets its share of a role. May be repeated.")
    newcomers: int = option("Spread those with fewer matches than this.", default=0, min=0)
    show: int = option("How many splits to show.", default=5, min=1)
    seed: int = option("Seed of the search, where there are too many splits.", default=1, min=0)


def even_teams(
    teams: EvenTeams, source: SourceOptions, reading: ReadingOptions, date: str | None, *, as_json: bool
) -> None:
    """Split those who are there into teams so that the match is as even as can be."""
    import kinelo as kn
    from kinelo.matches.loading import decode
    from kinelo.runtime.reading import check_file

    typed = teams.balance or ""
    if ";" in typed:
        present = typed.split(";")
    elif not Path(typed).exists():
        raise InputError(f"--balance {typed!r:.60} is neither of the form 'ANN; BOB; CID; DEE' nor a file of names.")
    else:
        check_file(Path(typed))
        raw, _ = decode(Path(typed).read_bytes(), typed)
        present = raw.decode("utf-8", "replace").splitlines()
    names = source.names([name.strip() for name in present if name.strip()])
    try:
        sizes = [int(word) for word in teams.sides.split(",")]
    except ValueError:
        raise InputError(f"--sides {teams.sides!r:.40} is neither a number of sides nor sizes such as 5,4.") from None
    asked = {"together": teams.together or (), "apart": teams.apart or ()}
    wishes = {
        name: [source.names(list(filter(None, map(str.strip, words.split(","))))) for words in several]
        for name, several in asked.items()
    }
    named = (named_value("--role", words, "NAME=ROLE", last=True) for words in teams.role or ())
    roles = {source.names([name])[0]: part for name, part in named}
    rater, _ = source.rated(reading)
    with plain_warnings():
        splits = kn.balance(
            rater,
            names,
            sizes if len(sizes) > 1 else sizes[0],
            **wishes,
            roles=roles or None,
            newcomers=teams.newcomers,
            best=teams.show,
            date=date,
            seed=teams.seed,
        )
    for name in splits.unknown:
        typer.echo(f"warning: {name} has never played and counts as a newcomer", err=True)
    _show(rater, splits, as_json=as_json)


def fair_handicap(
    match: str, questions: MatchQuestions, source: SourceOptions, reading: ReadingOptions,
    levels: dict[str, str], *, neutral: bool, as_json: bool,
) -> None:  # fmt: skip
    """Say which value of a covariate makes a match even; ``levels`` are those of its other columns."""
    from kinelo.raters.questions import fair_value, rater_shown

    asked, values, (names, contest) = str(questions.fair), dict[str, Any](levels), sides_of(match)
    if contest and (values or neutral):
        odd = f"value of {min(values)}" if values else "--neutral"
        raise InputError(f"{match!r:.60} is a contest, for which there is no {odd}.")
    names = source.names(names)
    rater = rater_shown(source.rated(reading, contest=contest)[0])
    columns = [name for name in getattr(rater, "covariates", None) or () if not contest or name != SIZE]
    if asked not in columns:
        used = f"the covariates {', '.join(columns)}" if columns else "no covariates"
        raise InputError(f"{asked!r:.60} is no covariate of this {type(rater).__name__}, which uses {used}.")
    for name in values.keys() & columns:
        try:
            values[name] = float(values[name].replace("−", "-"))
        except ValueError:
            raise InputError(f"{name}={values[name]!r:.40} is no number, and {name} is a covariate.") from None
    with plain_warnings():
        if contest:
            value: Any = fair_value(rater, names, covariate=asked, date=questions.date)
        else:
            value = fair_value(
                rater, names[0], names[1], asked, date=questions.date, neutral=neutral, given=values
            )  # fmt: skip
        (effect,) = rater.effects_.filter(name=asked).to_dicts()
    if as_json:
        sides = {} if contest else {"home": names[0], "away": names[1]}
        content = {"rater": type(rater).__name__, **sides, "covariate": asked, "fair": value}
        echo_json(content | {name: effect[name] for name in ("effect", "standard_error")})
        return
    points = f"unit of it is worth {effect['effect']:.1f} ± {effect['standard_error']:.1f} points"
    if contest:
        for name, number in value.items():
            typer.echo(f"{name}: {asked} {number:+.2f} against the mean of all")
        typer.echo(f"A {points}.")
    else:
        typer.echo(f"{names[0]} – {names[1]} is even at {asked} = {value:.2f}; a {points} to the first side.")


def changes_ahead(
    match: str, questions: MatchQuestions, source: SourceOptions, reading: ReadingOptions,
    *, neutral: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show what everyone would gain or lose by each result of a match, or by each place of a contest."""
    import kinelo as kn

    names, contest = sides_of(match)
    of = questions.of
    circumstances: dict[str, Any] = {} if questions.date is None else {"date": questions.date}
    lineups = {"home_lineup": questions.home_lineup, "away_lineup": questions.away_lineup}
    if contest:
        of_matches = {"--neutral": neutral, **{f"--{name.replace('_', '-')}": given for name, given in lineups.items()}}
        for name in (name for name, value in of_matches.items() if value):
            raise InputError(f"{match!r:.60} is a contest, for which there is no {name}.")
    elif of:
        raise InputError("--of asks about places of a contest, 'ANN; BOB; CID'.")
    if neutral:
        circumstances["neutral"] = True
    for name, lineup in lineups.items():
        if lineup is not None:
            circumstances[name] = source.names([player.strip() for player in lineup.split(",")])
    rater, _ = source.rated(reading, contest=contest)
    if contest:

        def entrants(typed: list[str]) -> list[Any]:
            members = members_of(rater, typed, source.aliases)[1]
            return [tuple(one) if len(one) > 1 else one[0] for one in members]

        meeting: Any = [entrants(names)]
        circumstances |= {"of": entrants(of)} if of else {}
    else:
        meeting = source.names(names)
    with plain_warnings():
        found = kn.preview(rater, *meeting, **circumstances)
    _show(rater, found, as_json=as_json)


def _show(rater: Any, answer: Any, *, as_json: bool) -> None:
    """Print an answer of a table and lines."""
    if as_json:
        echo_json({"rater": type(rater).__name__, **answer.to_dict()})
        return
    console().print(answer.table())
    for line in answer.lines():
        typer.echo(line)


@grouped
def why(
    source: SourceOptions,
    reading: ReadingOptions,
    match: str | None = argument("Identifier of the match (its row without one), or of the contest."),
    of: str | None = option("In place of a match: whose last matches to explain."),
    last: int | None = option(f"How many of them: {LAST_EXPLAINED} unless given.", min=1),
    out: Path | None = option("Write the page of --of to this file: NAME.html."),
    as_json: Json = False,
) -> None:
    """Say why a match moved ratings by so much, or why somebody's rating moved, as terms that add up to the change.

    Example:  kinelo why M-2014-61 --book league.db
    Example:  kinelo why 17 --results league/results.csv --rater team
    Example:  kinelo why --of Ashford --last 5 --book league.db --out ashford.html
    """
    import kinelo as kn

    if (match is None) == (of is None):
        raise InputError("Say what to explain: either a match, or somebody's last matches (--of NAME).")
    if last is not None and of is None:
        raise InputError("--last counts somebody's last matches: give --of NAME.")
    last, of = last or LAST_EXPLAINED, None if of is None else source.names([of])[0]
    if out is not None and (of is None or not is_page(out)):
        raise InputError("--out writes the page of somebody: give --of NAME and a file whose name ends in .html.")

    rater, played = source.rated(reading, history=True)
    if played is None:
        raise InputError(f"{source.book} holds no matches.")
    with plain_warnings():
        if of is not None:
            explanation = kn.explain_last(rater, of, played, last=last)
        elif source.book is not None:  # which knows what came late
            explanation = kn.explain(kn.RatingBook(source.book), str(match))
        else:
            explanation = kn.explain(rater, str(match), played)
        if out is not None:
            from kinelo.pages.page import write_page

            typer.echo(f"Page: {write_page(rater, out, matches=played, of=of, last=last)}", err=as_json)
    if as_json:
        echo_json({"rater": type(rater).__name__, **explanation.to_dict()})
        return
    for line in explanation.lines():
        typer.echo(line)


def members_of(rater: Any, entrants: list[str], aliases: Mapping[str, str]) -> tuple[list[list[str]], list[list[Any]]]:
    """Who is behind each typed entrant of a contest, by name, and by slot or, of a team, as one list."""
    several, rated = len(getattr(rater, "_kinds", ())) > 1, set(rater.ratings_["name"])
    parts = [[name] if name in rated and not several else name.split(" + ") for name in entrants]
    named = [[aliases.get(name.strip(), name.strip()) for name in names] for names in parts]
    return named, [names if several or len(names) == 1 else [names] for names in named]


def sides_of(match: str) -> tuple[list[Any], bool]:
    """Who meets in a match or contest that is typed, and whether it is a contest."""
    contest = ";" in match
    names = [name.strip() for name in match.split(";" if contest else " - ")]
    if not all(names) or len(names) < 2 or (len(names) > 2 and not contest):
        raise InputError(f"{match!r:.60} is neither of the form 'HOME - AWAY' nor 'ANN; BOB; CID'.")
    return names, contest
