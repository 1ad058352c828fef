"""``kinelo backtest`` and ``audit``: is the rating system of a league any good?"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from kinelo.cli.loading import kind_of_file, named_value, plain_warnings, write_csv
from kinelo.cli.options import (
    Federation,
    Json,
    ReadingOptions,
    Rejects,
    ResultsFile,
    Scheduler,
    Workers,
    form_asked,
    grouped,
    option,
    refuse_options,
)
from kinelo.cli.output import console, echo_json, is_page, league_name, option_words, page_name, picture_name
from kinelo.cli.rating import check_rater
from kinelo.errors import InputError
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.raters.choice import AUTOMATIC, all_raters, rater_help

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches

COMPARED_HELP = (
    f"{AUTOMATIC}: a mixture by weights learnt on the way; {rater_help()}; may be repeated. By default all of Kinelo's "
    "that can be used."
)
IN_USE_HELP = f"Instead of a K, the rater in use: {rater_help()}; it is held against Elo at its best K."
METRIC_HELP = (
    "log_loss, brier, rps or accuracy; of contests winner_log_loss, order_log_loss, pairs_right or rank_deviation."
)


@grouped
def backtest(
    results: ResultsFile,
    reading: ReadingOptions,
    train_until: str | None = option(
        "First day that is forecast (2005-01-01); by default the middle. Of contests without dates: a "
        "contest, how many come before, or a share (0.5)."
    ),
    rater: list[str] | None = option(COMPARED_HELP),
    since: str | None = option("Leave out matches before this day."),
    metric: list[str] | None = option(f"{METRIC_HELP} The first one sorts; may be repeated."),
    out: Path | None = option("Write the scores to this CSV file."),
    picture: Path | None = option("Draw the calibration into this PNG file.", callback=picture_name),
    rejects: Rejects = None,
    as_json: Json = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Fit raters on the earlier matches, forecast the later ones one step ahead, and show how good the forecasts were.

    Example:  kinelo backtest league/results.csv --lineups league/lineups.csv --picture calibration.png
    """
    from kinelo.forecasts.backtest import backtest as run
    from kinelo.forecasts.comparison import backtest_table
    from kinelo.forecasts.contest_scores import place_bands_table
    from kinelo.runtime.workers import client_of

    engine = client_of(workers, scheduler)
    kind = kind_of_file(results, reading.column)
    for name in rater or ():
        check_rater(name, reading if len(rater or ()) == 1 else ReadingOptions(), kind)
    played = reading.load(results, rejects, kind=kind)
    if since is not None:
        played = played.since(since)
    first_day = train_until or _middle(played)
    with plain_warnings(), engine as client:
        chosen = compared_raters(played, rater, reading)
        test = run(
            played, chosen, train_until=first_day, metrics=metric, client=client, progress=sys.stderr.isatty()
        )  # fmt: skip
    if as_json:
        content = test.to_dict() | {"train_until": str(first_day), "differences": test.differences().to_dicts()}
        by_rater = {name: table.to_dicts() for name, table in test._bands_by_rater().items()}
        echo_json(content | ({"bands": by_rater} if by_rater else {}))
    else:
        start = str(first_day) if kind.two_sided or played.dated else test.contests.labels[0]
        console().print(backtest_table(test, f"{kind.counted(test.number)} from {start}, one step ahead"))
        best = str(test.scores["rater"][0])
        if (bands := test._bands_by_rater().get(best)) is not None:
            console().print(place_bands_table(bands, best))
    if out is not None:
        write_csv(test.scores, out)
        typer.echo(f"Scores: {out}", err=as_json)
    if picture is not None:
        from kinelo.pictures.calibration import draw_calibration
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_calibration(test), picture)}", err=as_json)


def _middle(played: Matches | Contests) -> str | int:
    """The middle of what was played: a day, or of contests without dates their number."""
    if len(played) < 2:
        raise InputError(f"A backtest needs {played.kind.noun} to fit and to forecast; there are {len(played)} in all.")
    middle = len(played) // 2
    return str(played.date[middle]) if played.dated or played.kind.two_sided else middle


def compared_raters(played: Matches | Contests, asked: list[str] | None, reading: ReadingOptions) -> dict[str, Any]:
    """The raters asked for, or all of Kinelo's; those that lack what is asked of them are left out, with a word."""
    from kinelo.raters.choice import candidates, names_compared, rater_called
    from kinelo.raters.mixture import Mixture
    from kinelo.raters.team.rater import TeamElo

    kind = played.kind
    start, conditions, noise_by, covariates = asked_of_rater = reading.asked_of_rater()
    names = asked or names_compared(played)
    chosen: dict[str, Any] = {}
    for name in names:
        if name == AUTOMATIC and kind.usual_rater is None:
            chosen["Mixture"] = Mixture(candidates(played, *asked_of_rater))
            continue
        name = kind.usual_rater if name == AUTOMATIC and kind.usual_rater is not None else name
        rater = rater_called(name, kind=kind)
        takes = getattr(rater, "get_params", dict)()
        wanted = {"conditions": conditions, "noise_by": noise_by, "covariates": covariates, "start": start}
        lacking = [what for what, given in wanted.items() if given and what not in takes]
        if lacking and ":" not in name and len(names) > 1:
            typer.echo(f"note: {type(rater).__name__} takes no {' and no '.join(lacking)} and is left out", err=True)
        else:
            chosen[type(rater).__name__] = rater_called(name, *asked_of_rater, kind=kind)
    if not chosen:
        rater_called(names[0], *asked_of_rater, kind=kind)  # says what it lacks
    if not asked and not kind.two_sided:
        chosen["plain Elo, K = 32"] = TeamElo.classic(k=32)
    elif not asked and "PlayerElo" in chosen:  # what it is worth before anybody knows who plays
        unaware = chosen["PlayerElo, line-up unknown"] = rater_called("player", *asked_of_rater)
        unaware.known = "none"  # type: ignore[attr-defined]
    return chosen


LIST_HELP = f"a list (CSV or Parquet with name and rating), k=NUMBER, fide, or a rater: {', '.join(all_raters())}"
OF_PLAIN_ELO = ("home_advantage", "k", "k_of", "k_first", "k_halfway", "rules", "initial")
ASKED_OF = {
    "": ("rater", "ratings", "by", "reference", "since", "title", "picture", *OF_PLAIN_ELO),
    "--farming": ("top", *OF_PLAIN_ELO),
    "--changeover": ("to", "threshold", "initial", "picture", "top"),
    "--watch": ("rater", "false_share"),
    "--judges": ("false_share",),
}
"""Forms of the command, and the options of each beside those of all."""


@dataclass(frozen=True)
class AuditForms:
    """Further questions about a rating system."""

    heading: ClassVar[str] = "Further questions"

    farming: bool = option(
        "Say who gained rating points by choosing opponents, or by its schedule.", "--farming", default=False
    )
    changeover: str | None = option(f"Lay what is in use beside what shall be (--to), each {LIST_HELP}.", metavar="OLD")
    to: str | None = option("With --changeover: what shall be.", metavar="NEW")
    threshold: list[str] | None = option("With --changeover: a title and its rating, as Master=2200; may be repeated.")
    watch: str | None = option(
        "Name sides whose results from this day on do not fit their rating before (of --rater, kalman unless given).",
        metavar="DAY",
    )
    judges: str | None = option(
        "Of votes: name judges whose answers do not follow who is compared; the column that says whose vote it is.",
        metavar="COLUMN",
    )
    false_share: float = option("With --watch and --judges: the share of innocents among those named.", default=0.05)
    top: int = option("With --farming and --changeover: how many to show.", default=10, min=1)


@grouped
def audit(
    results: ResultsFile,
    options: ReadingOptions,
    federation: Federation,
    forms: AuditForms,
    home_advantage: float | None = option("Home advantage in use, in points; by default that of the earlier half."),
    rater: str | None = option(IN_USE_HELP),
    ratings: Path | None = option("Table of the ratings in use: name, rating."),
    by: str | None = option(
        "Answer by group too: a column of the file (or home_ and away_ one), or a file of name, group."
    ),
    reference: str | None = option(
        "The group of --by that stands still: inflation, gains and biases are told next to it."
    ),
    since: str | None = option("Leave out matches before this day."),
    as_json: Json = False,
    out: Path | None = option(
        "Write a page to share to this file, NAME.html; of a further question its table, NAME.csv."
    ),
    title: str | None = option("Heading of the page: the league; by default as its file."),
    picture: Path | None = option(
        "Draw the curves over K (of --changeover both lists) into this PNG file.", callback=picture_name
    ),
) -> None:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    The system in use is plain Elo with --k (32 unless given), --k-of or --rules, or the --rater.

    With --by it says of each group where it should enter, whether it grows stronger, inflates or is rated too high:
    next to all sides, or next to the group of --reference.

    With --lineups it also says how much performances vary.

    Of contests of many entrants it says which K suits plain Elo, where newcomers should start, whether like meets like,
    and with --noise-by how luck differs.

    With --farming it says who gained by choosing opponents: a side gains where its opponents are rated above their
    strengths, and each match is held against those that it could have had. With --changeover it lays an old list
    beside a new one: who moves, why, and what becomes of titles. With --watch it names sides whose results since a day
    do not fit their rating before it: smurfs, sandbaggers, a changed line-up, a new version under an old name. With
    --judges it names who votes at random, always for the same side, or for the opposite.

    Example:  kinelo audit league/results.csv --watch 2012-01-01
    Example:  kinelo audit league/results.csv --k 32 --picture which-k.png --out audit.html
    Example:  kinelo audit league/results.csv --farming --k 24
    Example:  kinelo audit club.csv --changeover k=32 --to k=16 --threshold Master=2000 --out moves.csv
    """
    from kinelo.advice.audit.audit import audit as run
    from kinelo.advice.audit.inflation import columns_of
    from kinelo.matches.loading import head_of

    if form := form_asked(ASKED_OF):
        if is_page(out):
            raise InputError(f"{form} writes a table: --out NAME.csv.")
        if form == "--watch":
            _watch(results, options, forms, rater, out, as_json=as_json)
            return
        if form == "--judges":
            _judges(results, options, forms, out, as_json=as_json)
            return
        answer = _farming if form == "--farming" else _changeover
        answer(results, options, federation, forms, home_advantage, out, picture, as_json=as_json)
        return
    page_name(out)
    if title is not None and out is None:
        raise InputError("--title is the heading of a page: give --out too.")
    kind = kind_of_file(results, options.column)
    if kind is CONTESTS:
        asked = {"--home-advantage": home_advantage, "--ratings": ratings, "--by": by, "--reference": reference}
        refuse_options(kind, results, *(name for name, value in asked.items() if value is not None))
        if rater is None and (name := _first(options, "--condition", "--covariate")):
            raise InputError(f"Plain Elo uses no {name}; --rater rank does, and --noise-by asks for luck.")
        matches = options.load(results, kind=kind)
    else:
        if name := _first(options, "--condition", "--noise-by", "--covariate"):
            raise InputError(f"An audit of matches of two sides takes no {name}; --by answers by group.")
        groups = []
        if by is not None and not Path(by).is_file() and results.is_file():  # columns that tell groups
            groups = columns_of(by, head_of(results).columns) or []
        matches = options.load(results, conditions=groups)
    federation.check_names(matches)
    if since is not None:
        matches = matches.since(since)
    with plain_warnings():
        in_use = _rater_in_use(rater, federation, options, home_advantage, kind)
        groups_asked = {} if kind is CONTESTS else {"ratings": ratings, "by": by, "reference": reference}
        judged = run(matches, in_use, **groups_asked, progress=sys.stderr.isatty())
    if as_json:
        echo_json(judged.to_dict(), indent=2)
    else:
        console().print(judged)
        for note in judged.notes:
            typer.echo(f"note: {option_words(note)}")
    if out is not None:
        from kinelo.pages.page import write_page

        typer.echo(f"Page: {write_page(judged, out, title=title or league_name(results))}", err=as_json)
    if picture is not None:
        from kinelo.pictures.audit import draw_audit
        from kinelo.pictures.style import save

        typer.echo(f"Picture: {save(draw_audit(judged), picture)}", err=as_json)


def _first(options: ReadingOptions, *names: str) -> str | None:
    """The first of some options that was given."""
    return next((name for name in names if name in options.asked()), None)


def _rater_in_use(
    name: str | None, federation: Federation, options: ReadingOptions, home: float | None, kind: Kind
) -> Any:
    """The rater asked for, or plain Elo as the federation plays it."""
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    plain = federation.rater(AUTOMATIC, options.start)
    if name is None:
        plain = TeamElo.classic(start=options.start) if plain is None else plain
        return plain.set_params(home_advantage=home) if kind.two_sided else plain
    if kind is CONTESTS:
        if plain is not None:
            raise InputError("--rater is no plain Elo: leave out --k, --k-of, --rules and --initial.")
        return rater_called(name, *options.asked_of_rater(), kind=CONTESTS)
    if plain is not None or options.start is not None or home is not None:
        raise InputError("--rater is no plain Elo: leave out --k, --k-of, --rules, --start and --home-advantage.")
    return rater_called(name)


def _changeover(
    results: Path, reading: ReadingOptions, federation: Federation, forms: AuditForms, home: float | None,
    out: Path | None, picture: Path | None, *, as_json: bool,
) -> None:  # fmt: skip
    """Lay an old list of ratings beside a new one: who moves, why, and what becomes of titles."""
    from kinelo.advice.changeover import changeover as run
    from kinelo.advice.changeover import changeover_table, title_sentences

    titles = {}
    for pair in forms.threshold or ():
        form = "TITLE=RATING, for example Master=2200"
        name, rating = named_value("--threshold", pair, form, last=True)
        try:
            titles[name] = float(rating)
        except ValueError:
            raise InputError(f"--threshold {pair!r:.60} is not of the form {form}.") from None
    if forms.changeover is None or forms.to is None:
        raise InputError("--changeover OLD says what is in use: give --to NEW, what shall be, too.")
    initial = 1500.0 if federation.initial is None else federation.initial
    before, after = (_system(words, initial, reading) for words in (forms.changeover, forms.to))
    matches = reading.load(results)
    with plain_warnings():
        change = run(before, after, matches, thresholds=titles)
    if as_json:
        echo_json(change.to_dict(), indent=2)
    else:
        console().print(change.verdict, changeover_table(change, forms.top), highlight=False)
        for sentence in title_sentences(change):
            console().print(sentence, highlight=False)
    if out is not None:
        write_csv(change.table, out)
        typer.echo(f"Lists: {out}", err=as_json)
    if picture is not None:
        from kinelo.pictures.style import save
        from kinelo.pictures.systems import draw_changeover

        typer.echo(f"Picture: {save(draw_changeover(change), picture)}", err=as_json)


def _system(words: str, initial: float, reading: ReadingOptions) -> Any:
    """The list or rater that an option names."""
    from kinelo.model.steps import FideSteps
    from kinelo.raters.choice import rater_called
    from kinelo.raters.team.rater import TeamElo

    name, equals, number = words.partition("=")
    if name.strip().lower() == "k" and equals:
        try:
            return TeamElo.classic(float(number), initial=initial, start=reading.start)
        except ValueError:
            raise InputError(f"{words!r} is not of the form k=NUMBER, for example k=20.") from None
    if words == "fide":
        return TeamElo.classic(FideSteps(), initial=initial, start=reading.start)
    if words in all_raters() or ":" in words:
        return rater_called(words, *reading.asked_of_rater())
    if not Path(words).exists():
        raise InputError(f"{words!r} is no file, and no system either; give {LIST_HELP}.")
    return Path(words)


def _watch(
    results: Path, reading: ReadingOptions, forms: AuditForms, rater: str | None, out: Path | None, *, as_json: bool
) -> None:
    """Name sides whose results since a day do not fit what they were rated before it."""
    from kinelo.decisions.wrong_ratings import watch, watch_lines
    from kinelo.raters.choice import rater_called

    rater = "kalman" if rater is None else rater  # the one by which innocents who are named were counted
    check_rater(rater, reading, MATCHES)
    matches, day = reading.load(results), str(forms.watch)
    before, since = matches.before(day), matches.since(day)
    if not len(before) or not len(since):
        raise InputError(f"--watch {day} needs matches before that day and since; there are {len(before):,} and "
                         f"{len(since):,}.")  # fmt: skip
    with plain_warnings():
        rated = rater_called(rater, *reading.asked_of_rater()).fit(before)
        evidence = watch(rated, since, false_share=forms.false_share)
    if out is not None:
        write_csv(evidence, out)
        typer.echo(f"Watched: {out}", err=as_json)
    if as_json:
        echo_json({"rater": type(rated).__name__, "since": day, "matches": len(since), "sides": evidence.to_dicts()})
        return
    for line in watch_lines(evidence, forms.false_share):
        typer.echo(line)


def _judges(results: Path, reading: ReadingOptions, forms: AuditForms, out: Path | None, *, as_json: bool) -> None:
    """Name judges whose answers do not follow who is compared."""
    from kinelo.decisions.judging import judge_lines, judges
    from kinelo.raters.bradley_terry.rater import BradleyTerry

    column = str(forms.judges)
    votes = reading.load(results, conditions=list(dict.fromkeys([*reading.columns_asked(), column])))
    with plain_warnings():
        tested = judges(BradleyTerry().fit(votes), votes, column, false_share=forms.false_share)
    if out is not None:
        write_csv(tested, out)
        typer.echo(f"Judges: {out}", err=as_json)
    if as_json:
        echo_json({"by": column, "votes": len(votes), "judges": tested.to_dicts()})
        return
    for line in judge_lines(tested, forms.false_share):
        typer.echo(line)


def _farming(
    results: Path, reading: ReadingOptions, federation: Federation, forms: AuditForms, home: float | None,
    out: Path | None, picture: Path | None, *, as_json: bool,
) -> None:  # fmt: skip
    """Look into a log of matches: who gained rating points by choosing opponents, or by its schedule."""
    from kinelo.advice.farming_log import farming_log, farming_table

    matches = reading.load(results)
    with plain_warnings():
        log = farming_log(matches, _rater_in_use(None, federation, reading, home, MATCHES))
    if out is not None:
        write_csv(log.table, out)
        typer.echo(f"Gains: {out}", err=as_json)
    if as_json:
        echo_json(log.to_dict(), indent=2)
        return
    console().print(log.verdict, farming_table(log, forms.top), highlight=False)
