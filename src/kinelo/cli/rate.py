"""``kinelo sample``, ``rate`` and ``book``: ratings from results, and where they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kinelo.cli.loading import kind_of_source, plain_warnings, write_csv
from kinelo.cli.options import (
    MATCHES_HELP,
    Federation,
    Json,
    RaterName,
    ReadingOptions,
    Rejects,
    ShownOptions,
    argument,
    grouped,
    option,
)
from kinelo.cli.output import console, echo_json, is_page, league_name, option_words, picture_name, say_note
from kinelo.cli.rating import (
    Board,
    board_of,
    check_rater,
    content_of,
    fit_forecaster,
    fit_rater,
    fit_shown,
    open_book,
    rated_by,
    refuse_reading_of_book,
)
from kinelo.errors import InputError
from kinelo.matches.kinds import CONTESTS, KINDS, MATCHES, Kind
from kinelo.presentation import counted, sentence
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.book.book import RatingBook
    from kinelo.book.refitting import Refit


@grouped
def sample(
    folder: Path = argument("Folder to write results.csv, lineups.csv and races.csv into.", default=Path("league")),
    teams: int = option("Number of clubs.", default=20),
    seasons: int = option("Seasons of a double round robin.", default=3),
    seed: int = option("The same seed gives the same league.", default=1),
) -> None:
    """Write a simulated league with line-ups, draws and home advantage, and races of drivers in cars.

    Example:  kinelo sample league && kinelo rate league/results.csv
    """
    from kinelo.errors import InputError
    from kinelo.matches.sample import sample_contests, sample_league

    league = sample_league(teams, seasons, seed=seed)
    races = sample_contests(20 * seasons, 2 * teams, teams, walk=0.5, cars=teams // 2, seed=seed)
    tables = {
        folder / "results.csv": league.results,
        folder / "lineups.csv": league.lineups,
        folder / "races.csv": races,
    }
    for path in tables:
        if path.exists():
            raise InputError(f"{path} exists already; choose another folder.")
    for path, table in tables.items():
        write_csv(table, path)
    typer.echo(f"{league.results.height:,} matches: {folder / 'results.csv'}")
    typer.echo(f"{league.lineups.height:,} appearances: {folder / 'lineups.csv'}")
    typer.echo(f"{races.height:,} entries of {20 * seasons} races: {folder / 'races.csv'}")


@dataclass(frozen=True)
class ListOptions:
    """What the lists of a federation ask for beside results."""

    heading: ClassVar[str] = "Plain Elo, by the rules of a federation"

    event: str | None = option("With --rules: the column of events, rated by the list when they began.")
    born: Path | None = option("With --rules: years of birth, CSV or Parquet with name and born.")
    as_of: str | None = option("With --rules: the day whose rules hold for all matches, such as 2025-10-01.")

    def rater(self, results: Path, rater: str, federation: Federation, reading: ReadingOptions) -> Any:
        """The rater that makes lists where ``--rules`` asks for them, None where it does not."""
        if federation.rules is None:
            given = [f"--{name.replace('_', '-')}" for name in ("event", "born", "as_of") if getattr(self, name)]
            if given:
                raise InputError(f"{given[0]} goes with --rules fide.")
            return None
        federation.rater(rater, None, *reading.asked_of_rater()[1:])  # refuses what contradicts --rules
        if federation.initial is not None:
            raise InputError("FIDE's rules give newcomers a rating by their first games: leave out --initial.")
        return self._lists(results, reading.start)

    def _lists(self, results: Path, start: Path | None) -> Any:
        from kinelo.matches.loading import head_of, tournament_players
        from kinelo.matches.tournament_report import holds_report
        from kinelo.raters.fide.rater import FideElo

        event, list_ = self.event, start
        if holds_report(results):
            event = event or "event"
            list_ = tournament_players(results) if start is None else start
            if start is None:
                typer.echo(
                    "note: the ratings of the report are the list to begin with; it does not say who is among the "
                    "first 30 games, nor who was once rated 2400: --start takes a list with the column k",
                    err=True,
                )
        elif event is not None and event not in head_of(results).columns:
            raise InputError(f"{results} has no column {event!r} for --event.")
        return FideElo(list_, self.born, event=event, as_of=self.as_of)


RESULTS_HELP = (
    f"{MATCHES_HELP}; or contests, with a row for each entrant. Files of a pattern such as 'games/*.parquet' are read "
    "one after the other. Of a rating book, its leaderboard is shown."
)
OF_A_SCAN = {
    MATCHES: ("--column", "--start"),
    CONTESTS: ("--column", "--start", "--condition", "--noise-by", "--covariate"),
}
"""Options of reading that files of a pattern take, which are read in chunks."""
OF_ANY_PATTERN = ("--rater", "--k", "--initial", "--active-days", "--least-matches", "--caution", "--top")


@grouped
def rate(
    results: Annotated[Path, typer.Argument(help=RESULTS_HELP)],
    reading: ReadingOptions,
    federation: Federation,
    listing: ListOptions,
    shown: ShownOptions,
    rater: RaterName = AUTOMATIC,
    book: str | None = option("Rating book to start or to carry on with these matches: a file."),
    out: Path | None = option("Write all ratings to this CSV file, or a page to share: NAME.html."),
    picture: Path | None = option("Draw rating histories into this PNG file.", callback=picture_name),
    rejects: Rejects = None,
    as_json: Json = False,
) -> None:
    """Rate the sides (or players) of a file of results, or the entrants of contests, and show the leaderboard.

    Parameters are estimated from the file; a rating book keeps its rater and the parameters it was started with.

    With --k or --k-of it is plain Elo, and with --rules fide the next monthly list by FIDE's regulations (results may
    be a tournament report, TRF); nothing is estimated.

    Example:  kinelo rate league/results.csv --lineups league/lineups.csv --out ratings.csv
    Example:  kinelo rate league/results.csv --out ratings.html
    Example:  kinelo read races.csv --slot driver --slot car && kinelo rate races.csv
    Example:  kinelo rate open.trf --rules fide --start list.csv --out new-list.csv
    Example:  kinelo rate league.db --active-days 365 --least-matches 5
    """
    import polars as pl

    from kinelo.advice.audit.inflation import rating_inflation
    from kinelo.advice.audit.words import inflation_words
    from kinelo.book.book import RatingBook, is_book
    from kinelo.raters.adapter import conditions_of
    from kinelo.raters.questions import rater_shown
    from kinelo.raters.tables import advantages_table, effects_table, luck_table, parameters_table
    from kinelo.results.disk import disk_errors_in_words

    kind, of_book = kind_of_source(results, reading.column), is_book(results)
    lists = listing.rater(results, rater, federation, reading)
    if any(sign in str(results) for sign in "*?["):
        others = {*reading.asked()} - {*OF_A_SCAN[kind]}
        written = book or picture or rejects or as_json or is_page(out) or shown.board
        if written or others or lists or shown.by or shown.ranks:
            *most, last = (*OF_A_SCAN[kind], *OF_ANY_PATTERN)
            raise InputError(f"Of a pattern of files, only {', '.join(most)}, {last} and --out FILE.csv can be asked.")
        _rate_in_chunks(str(results), kind, rater, reading, federation, shown, out)
        return

    if lists is not None and (is_page(out) or shown.by or shown.board):
        raise InputError("A list is written as a table: --out NAME.csv; --by and --board are for leaderboards.")
    if shown.ranks and rater != "bradley-terry":
        raise InputError("--ranks needs --rater bradley-terry, which says how sure each rank is.")
    if shown.by and (book or out or picture):
        raise InputError("--by shows a board of each part: leave out --book, --out and --picture; --board writes them.")

    def plain() -> Any:
        return federation.rater(rater, *reading.asked_of_rater(), kind=kind)

    opened, described = None, lists or plain()
    if of_book and (book or rejects or shown.by or shown.ranks or described is not None):
        raise InputError(
            f"{results} is a rating book, which keeps its rater and one board: leave out --book, --rejects, --by, "
            "--ranks, --k, --k-of, --rules and --initial."
        )
    if of_book:
        refuse_reading_of_book(reading)
    if not of_book and (book is None or not is_book(book)):
        check_rater(rater, reading, kind)
    elif described is not None:
        raise InputError(f"{book} keeps its rater; leave out --k, --k-of, --rules and --initial or start another.")
    else:
        with plain_warnings():
            opened = open_book(book or results, rater, reading, kind)
    keeper = lists if opened is None else opened.rater
    conditions = reading.columns_asked() if keeper is None else list(conditions_of(keeper))
    if of_book and opened is not None:
        played: Any = opened.matches()
    else:
        columns = [*conditions, *([shown.by] if shown.by else [])]
        played = reading.load(results, rejects, columns, kind=kind, keeper=opened and opened.rater)
        federation.check_names(played)
    if shown.by:
        keep, boards = shown.by in conditions, []
        for level, part in _by_level(played, shown.by, keep=keep).items():
            with plain_warnings():
                rated = fit_rater(rater, part, reading)[0] if described is None else fit_shown(plain(), part)
                board = board_of(rated, part, f"{shown.by} {level}: {rated_by(rated, part)}", shown)
            boards.append(board._replace(table=board.table.with_columns(pl.lit(level).alias(shown.by))))
        _show_boards(boards, {}, shown, kind, as_json=as_json)
        return
    with plain_warnings():
        rated: Any = None
        choice = None
        if described is not None:
            rated = fit_shown(described, played)
        elif opened is None and book is not None:
            rated = fit_forecaster(rater, played, reading)
        elif opened is None:
            rated, choice = fit_rater(rater, played, reading)
        rater_used: Any = rated if opened is None else keeper
        if not of_book and hasattr(rater_used, "_unused_words") and (words := rater_used._unused_words(played)):
            say_note(words)
        if book is not None:
            with disk_errors_in_words(Path(book)):
                ledger = RatingBook(book, rated) if opened is None else opened
                added = ledger.add(played)
            rated, changed = ledger.rater, f"{added.changed:,} changed, " if added.changed else ""
            typer.echo(
                f"Book {book}, kept by {type(rated).__name__}: {kind.counted(added.new, 'new ')}, {changed}"
                f"{added.known:,} counted before, {len(ledger):,} in all.",
                err=as_json,
            )
        rated = keeper if of_book else rated
        worth = rating_inflation(rated, played) if opened is None else None
        board = None if hasattr(rated, "_list_table") else board_of(rated, played, rated_by(rated, played), shown)
    content: dict[str, Any] = {}
    if as_json:
        content = content_of(rater_shown(rated), played, choice)
        content |= {"weights": rated.weights_} if hasattr(rated, "weights_") else {}
        content["inflation"] = None if worth is None else worth.to_dict()
    if board is not None:
        _show_boards([board], content, shown, kind, as_json=as_json)
    elif as_json:
        echo_json(content)
    else:
        table, unrated = rated._list_table(), rated.unrated_
        console().print(table.head(shown.top))
        if len(table.rows) > shown.top:
            typer.echo(f"{len(table.rows) - shown.top:,} more are on the list (--top, --out).")
        if unrated.height:
            names = "; ".join(f"{name} {games}" for name, games in unrated.select("name", "games").head(5).rows())
            more = "; …" if unrated.height > 5 else ""
            typer.echo(f"Without a rating; games against rated opponents so far, of which 5 are needed: {names}{more}.")
    if board is not None and not as_json:
        shows = rater_shown(rated)
        learnt = parameters_table(shows, f"Learnt from these {kind.noun}", brief=True)
        for table in (learnt, effects_table(shows), luck_table(shows), advantages_table(shows)):
            if table is not None and table.rows:
                console().print(table)
            elif table is not None and table.below:
                typer.echo("\n".join(table.below))
        if worth is not None:
            typer.echo(" ".join(map(sentence, inflation_words(worth))))
    _write(rated, played, league_name(results), shown, out, picture, err=as_json)


def _show_boards(
    boards: list[Board], content: dict[str, Any], shown: ShownOptions, kind: Kind, *, as_json: bool
) -> None:
    """Print leaderboards, or all that was found as JSON, and write them where that is asked for."""
    import polars as pl

    if shown.board is not None:
        write_csv(pl.concat([board.table for board in boards]), shown.board)
        typer.echo(f"Leaderboard: {shown.board}", err=as_json)
    if as_json:
        echo_json(content | {"leaderboard": [row for board in boards for row in board.table.to_dicts()]})
        return
    for board in boards:
        board.show(shown.top, kind.noun)


def _write(
    rater: Any, played: Any, title: str, shown: ShownOptions, out: Path | None, picture: Path | None, *, err: bool
) -> None:
    """The table or page, and the picture, where they are asked for."""
    if is_page(out):
        from kinelo.pages.page import write_page

        played = replace(played, notes=tuple(map(option_words, played.notes)))
        page = write_page(rater, out, matches=played, title=title, ranking=shown.ranking())
        typer.echo(f"Page: {page}", err=err)
    elif out is not None:
        write_csv(rater.ratings_, out)
        typer.echo(f"Ratings: {out}", err=err)
    if picture is not None:
        from kinelo.pictures.histories import draw_histories
        from kinelo.pictures.style import save
        from kinelo.raters.history import rating_history

        typer.echo(f"Picture: {save(draw_histories(rating_history(rater, played)), picture)}", err=err)


def _rate_in_chunks(
    pattern: str, kind: Kind, rater: str, reading: ReadingOptions, federation: Federation, shown: ShownOptions,
    out: Path | None,
) -> None:  # fmt: skip
    """Rate files that need not fit into memory and show the leaderboard."""

    federal = federation.rater(rater, *reading.asked_of_rater(), kind=kind)
    check_rater(rater, reading, kind)
    scan = reading.scan(pattern, kind)
    with plain_warnings():
        rated = fit_rater(rater, scan, reading)[0] if federal is None else fit_shown(federal, scan)
    table = rated.ratings_
    # Every match is counted by two sides; entries of contests are no number of contests.
    number = f"{counted(int(table['matches'].sum()) // 2, 'match', 'matches')} of " if kind.two_sided else ""
    files, names = counted(len(scan.files), "file", "files"), counted(table.height, "name", "names")
    title = f"{number}{files}, {names}, {type(rated).__name__}"
    board_of(rated, None, title, shown).show(shown.top, kind.noun)
    if out is not None:
        write_csv(table, out)
        typer.echo(f"Ratings: {out}")


MOST_BOARDS = 50


def _by_level(played: Any, by: str, *, keep: bool) -> dict[str, Any]:
    """The matches or contests of each value of a column, those with most first. Raters ``keep`` a column they use."""
    import numpy as np

    condition = played._level_of(by)
    if not condition.levels or len(condition.levels) > MOST_BOARDS:
        raise InputError(
            f"The column {by!r} has {len(condition.levels):,} values; --by takes one with 1 to {MOST_BOARDS}."
        )
    played = played if keep else played._without(by)
    size = np.bincount(condition.codes[condition.codes >= 0], minlength=len(condition.levels))
    parts = {condition.levels[k]: played[condition.codes == k] for k in np.argsort(-size, kind="stable") if size[k]}
    if unknown := int((condition.codes < 0).sum()):
        stand = "stands" if unknown == 1 else "stand"
        which = f"{played.kind.counted(unknown)} without a value in {by!r}"
        typer.echo(f"note: {which} {stand} on no board", err=True)
    return parts


WORDS = {"check": 1, "export": 2, "erase": 2, "refit": 1, "season": 2, "tiers": 1, "start": 3}
"""Verbs, and how many words follow each."""


@grouped
def book(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[check|export|erase|refit|season|tiers|start] BOOK [FILE|NAME]",
            help="A rating book, as kinelo rate --book keeps it: a file, or postgresql://… Before it, check compares "
            "its ratings with one run over all its matches; export writes its matches to FILE (CSV or Parquet); erase "
            "takes NAME out of it for good, with a pseudonym in its place; refit learns the parameters of its rater "
            "from all its matches, and rates these again; season closes the season NAME, keeps its table for good, and "
            "begins the next one; tiers shows the board of tiers, and who moves by luck alone; start makes a book of "
            "a table of mu and sigma and a log of contests, and compares forecasts of both.",
        ),
    ],
    remove: list[str] | None = option("Identifier of a match (name of a contest) to take out; may be repeated."),
    remove_player: list[str] | None = option("Name of somebody whose matches to take out; may be repeated."),
    pseudonym: str | None = option("With erase: what stands in the place of the name (else 'erased 1')."),
    listed: bool = option(
        "List its matches: identifier, date, sides, result; of contests, entrants by place.", "--list", default=False
    ),
    ratings: bool = option("With export: write the ratings, not the matches.", "--ratings", default=False),
    rater: str | None = option("MODULE:CLASS where the book keeps a rater of your own."),
    reset: float | None = option("With season: the part by which ratings are drawn towards their mean (else 0)."),
    until: str | None = option("With season: its last day (else that of the last match).", metavar="DATE"),
    reward: list[str] | None = option("With season: NAME=10 for the 10 best, NAME=.05 for a share; may be repeated."),
    rule: Path | None = option("With tiers: a TOML file with bounds, by, divisions, margin and so on, to be kept."),
    out: Path | None = option("With tiers: write the board as a page, FILE.html."),
    tried: bool = option("With season: say what the reset would do, and change nothing.", "--try", default=False),
) -> None:
    """Say what a rating book holds, list its matches, take matches out, check it, write it as a table.

    Example:  kinelo book league.db --remove M-2014-61
    Example:  kinelo book erase league.db 'Ann Example'
    Example:  kinelo book check league.db
    Example:  kinelo book export league.db matches.parquet
    Example:  kinelo book refit league.db
    Example:  kinelo book season league.db 'Spring 2026' --reset .3 --try
    Example:  kinelo book tiers league.db --rule tiers.toml
    Example:  kinelo book start arena.db openskill.csv games.csv
    """
    from kinelo.book.book import RatingBook
    from kinelo.raters.choice import rater_called
    from kinelo.results.disk import disk_errors_in_words

    verb, address, target = _parted(words, ratings, asked=bool(remove or remove_player) or listed)
    if pseudonym is not None and verb != "erase":
        raise InputError("--pseudonym goes with kinelo book erase BOOK NAME.")
    if verb != "tiers" and (rule is not None or out is not None):
        raise InputError("--rule and --out go with kinelo book tiers BOOK.")
    if verb != "season" and (tried or reward or until is not None or reset is not None):
        raise InputError("--reset, --until, --reward and --try go with kinelo book season BOOK NAME.")
    if verb == "start":
        _start(address, Path(words[-2]), Path(words[-1]))
        return
    kind = None if rater is None else type(rater_called(rater))
    with plain_warnings(), disk_errors_in_words(Path(address)):
        opened = RatingBook(address, kind)
        taken = opened.remove(remove) if remove else 0
        for name in remove_player or ():
            number = opened.remove_player(name)
            if not number:
                raise InputError(f"{name!r:.60} took part in nothing that {opened.path} holds.")
            taken += number
        if verb == "erase":
            given = opened.erase(str(words[-1]), pseudonym)
            typer.echo(f"{words[-1]} is {given} from now on; every rating is as it was. Copies are yours to erase.")
            return
        if verb == "refit" and (found := opened.refit()) is not None:
            typer.echo(_refit_words(found, opened.noun))
            return
        if verb == "season":
            lines = _season_words(opened, str(words[-1]), reset or 0.0, until, reward or (), tried=tried)
            typer.echo("\n".join(lines))
            return
    if verb == "check":
        _check(opened)
        return
    if verb == "export":
        _export(opened, target, ratings)
        return
    if verb == "tiers":
        _tiers(opened, rule, out)
        return
    if taken:
        typer.echo(f"{taken:,} taken out; the ratings are as if they had never been added.")
    matches = opened.matches() if len(opened) else None
    if listed and matches is not None:
        for row in range(len(matches)):  # identifier, date, sides and result; of contests, entrants by place
            typer.echo(matches._line(row))
    parts = [KINDS[opened.noun].counted(len(opened)), "" if matches is None else matches._span]
    held = ", ".join(filter(None, parts))
    typer.echo(f"{address}: {held}, {opened.ratings_.height:,} rated by {opened.rater!r}")


def _parted(words: list[str], ratings: bool, *, asked: bool) -> tuple[str, str, Path]:
    """The verb (or none), the book and the file of a command."""
    verb = words[0] if len(words) > 1 and words[0] in WORDS else ""
    rest = words[1:] if verb else words
    if len(rest) != WORDS.get(verb, 1):
        need = {
            "erase": "a book and a name", "season": "a book and a name", "export": "a book and a file to write",
            "start": "a book to be made, a table of mu and sigma, and a log of contests",
        }.get(verb, "one book")  # fmt: skip
        raise InputError(f"kinelo book {verb or 'BOOK'} takes {need}, not {' '.join(rest)!r:.80}.")
    if (verb and asked) or (ratings and verb != "export"):
        raise InputError("--list and --remove go with kinelo book BOOK, --ratings with kinelo book export BOOK FILE.")
    return verb, rest[0], Path(rest[-1])


def _refit_words(refit: Refit, noun: str) -> str:
    """What was learnt, in a sentence, and every parameter before and after."""
    changed = "; ".join(f"{name} {refit.before.get(name, 0.0):.3g} → {now:.3g}" for name, now in refit.after.items())
    return (
        f"Learnt from {KINDS[noun].counted(refit.matches)} up to {refit.date}, and all ratings computed again: log-"
        f"loss of their forecasts {refit.loss_before:.4f} → {refit.loss_after:.4f}, on {noun} that chose the "
        f"parameters.\n{changed}"
    )


def _season_words(
    opened: RatingBook, name: str, reset: float, until: str | None, reward: Sequence[str], *, tried: bool
) -> list[str]:
    """What closing a season would do, or did."""
    from kinelo.book.milestones import try_season

    if tried:
        return try_season(opened, reset).lines()
    rewards = {}
    for words in reward:
        word, _, bound = words.rpartition("=")
        try:
            rewards[word] = float(bound)
        except ValueError:
            raise InputError(f"A reward is said as NAME=10 or NAME=.05, not {words!r:.60}.") from None
    season = opened.season(name, reset=reset, date=until, rewards=rewards)
    since = "the beginning" if season.first_day is None else season.first_day
    drawn = f"ratings are {season.reset:.0%} of their way nearer to their mean" if season.reset else "ratings go on"
    doubt = f", less certain by moves of {season.moves:.0f} points" if season.moves else ""
    return [
        f"{name} is closed: {season.players:,} played from {since} to {season.last_day}; their ratings, places and "
        f"rewards are kept for good. In the next season {drawn}{doubt}."
    ]


def _start(address: str, skills: Path, log: Path) -> None:
    """Make a book of mu and sigma and a log, and say how forecasts compare."""
    from kinelo.book.migration import migrate
    from kinelo.matches.reading import read_contests
    from kinelo.results.disk import disk_errors_in_words

    with plain_warnings(), disk_errors_in_words(Path(address)):
        found = migrate(address, skills, read_contests(log))
    typer.echo("\n".join(found.lines()))


def _tiers(opened: RatingBook, rule: Path | None, out: Path | None) -> None:
    """Keep a rule of tiers where one is given, and show the board, and what luck does to it."""
    import tomllib

    from kinelo.book.tiers import Tiers, moved_by_luck, set_tiers, tier_board
    from kinelo.pages.frame import html_page
    from kinelo.runtime.atomic import write_file

    if rule is not None:
        try:
            set_tiers(opened, Tiers(**tomllib.loads(rule.read_text(encoding="utf-8"))))
        except (TypeError, ValueError, OSError) as error:
            raise InputError(f"{rule} is no rule of tiers: {' '.join(str(error).split()).rstrip('.')}.") from None
    board = tier_board(opened)
    if out is None:
        console().print(board.table().head(30))
    else:
        write_file(out, html_page("Leaderboard", board.html(len(board.rows))).encode())
        typer.echo(f"{out}: {len(board.rows):,} on the board")
    try:
        said = moved_by_luck(opened).lines()
    except InputError as error:  # nobody played lately, so nothing is to be said of luck
        said = [str(error)]
    typer.echo("\n".join(said))


def _check(opened: RatingBook) -> None:
    """Say what is wrong with a book; the status is 1 where anything is."""
    wrong = opened.check()
    for line in wrong[:20]:
        typer.echo(line)
    if wrong:
        typer.echo(f"{opened.path}: {len(wrong):,} of its rows are not right; put back a copy, or start a new book.")
        raise typer.Exit(1)
    typer.echo(
        f"{opened.path}: {KINDS[opened.noun].counted(len(opened))}, every rating is that of one run over all of them."
    )


def _export(opened: RatingBook, target: Path, ratings: bool) -> None:
    """Write the matches or the ratings of a book as CSV or Parquet, by the ending of the file."""
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.runtime.atomic import write_file

    if isinstance(opened.path, Path) and target.exists() and target.samefile(opened.path):
        raise InputError(f"{target} would overwrite the book; choose another name.")
    table: Any = opened.ratings_ if ratings else opened.matches().to_polars()
    if target.suffix.lower() == ".parquet":
        import io

        buffer = io.BytesIO()
        table.write_parquet(buffer)
        with disk_errors_in_words(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, buffer.getvalue())
    elif target.suffix.lower() == ".csv":
        write_csv(table, target)
    else:
        raise InputError(f"{target} ends neither in .csv nor in .parquet.")
    typer.echo(f"{target}: {counted(table.height, 'row', 'rows')}")
