"""The questions of a service, asked of the book's own doors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from kinelo._version import __version__
from kinelo.book.book import RatingBook
from kinelo.book.erasing import strings_in
from kinelo.book.milestones import milestones as milestones_of
from kinelo.book.milestones import ratings_at
from kinelo.book.milestones import seasons as seasons_of
from kinelo.book.paging import Asked, page_of, place_of
from kinelo.book.schema import plain_json
from kinelo.book.tiers import Tiers, moved_by_luck, tier_board, tiers_of
from kinelo.book.tiers import set_tiers as set_tiers_of
from kinelo.decisions.choosing import next_matches as next_matches_of
from kinelo.decisions.judging import judges as judges_of_votes
from kinelo.decisions.queueing import Lobbies, Ticket, form_lobbies
from kinelo.decisions.wrong_ratings import watch as watch_sides
from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.dated import read_day
from kinelo.pages.frame import html_page
from kinelo.raters import explanation
from kinelo.raters.adapter import carry_on
from kinelo.raters.balance import balance as balance_teams
from kinelo.raters.bradley_terry.rater import BradleyTerry
from kinelo.raters.history import rating_history
from kinelo.raters.preview import preview as preview_of
from kinelo.raters.questions import fair_value, match_quality, rater_shown
from kinelo.service import wording as say


def add_matches(book: RatingBook, body: say.Matches) -> say.Added:
    """Count one match, or several of which all count or none; each counts once by its match_id."""
    if book.holds == ("contests",):
        raise InputError("This book rates contests, also those of two: send them to /contests.")
    rows = [_match(one) for one in (body if isinstance(body, list) else [body])]
    return _added(book.add(rows) if len(rows) != 1 else book.update_one(**rows[0]))


def add_contests(book: RatingBook, body: say.Contests) -> say.Added:
    """Count one contest, or several of which all count or none; each counts once by its contest_id."""
    rows = [_contest(book, one) for one in (body if isinstance(body, list) else [body])]
    return _added(book.add(rows) if len(rows) != 1 else book.update_one(rows[0].pop("order"), **rows[0]))


def add_each(book: RatingBook, bodies: Sequence[say.Match]) -> list[say.Added | Exception]:
    """Count matches that several send at the same moment; what each is answered."""
    found = book._update_each([_match(one) for one in bodies])
    return [one if isinstance(one, Exception) else _added(one) for one in found]


def _match(said: say.Match) -> dict[str, Any]:
    row = {"home": said.home, "away": said.away, "result": said.result, "match_id": said.match_id}
    row |= _fixture(said) | {"weight": said.weight}
    return row if said.margin is None else row | {"margin": said.margin}


def _added(added: Any) -> say.Added:
    return say.Added(new=added.new, known=added.known, changed=added.changed)


def _levels(said: say.Levels) -> dict[str, object]:
    """Levels as a file would say them: 3 is the level "3" of a condition."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in said.items()
    }


def _fixture(asked: say.Fixture | say.Match) -> dict[str, Any]:
    """What is known of a match beside its sides, in the words of the book."""
    fields: dict[str, Any] = {"date": asked.date, "neutral": asked.neutral}
    if asked.conditions:
        fields["conditions"] = _levels(asked.conditions)
    if asked.home_lineup or asked.away_lineup:
        fields |= {"home_lineup": asked.home_lineup, "away_lineup": asked.away_lineup}
    return fields


def _contest(book: RatingBook, asked: say.Contest) -> dict[str, Any]:
    unfinished = asked.unfinished if isinstance(asked.unfinished, dict) else _entrants(book, asked.unfinished)
    fields = {"unfinished": unfinished} if unfinished else {}
    fields |= {} if asked.ranks is None else {"ranks": asked.ranks}
    fields |= {} if asked.minutes is None else {"minutes": asked.minutes}
    row = {"match_id": asked.contest_id, "order": _entrants(book, asked.order), "date": asked.date}
    return row | fields | _circumstances(asked)


def _circumstances(said: say.Contest | say.FieldToCome) -> dict[str, Any]:
    return {} if said.conditions is None else {"conditions": _levels(said.conditions)}


def _entrants(book: RatingBook, asked: list[Any]) -> list[Any]:
    """Entrants as raters take them: those said by kind become tuples in the order of the kinds."""
    if not any(isinstance(entrant, dict) for entrant in asked):
        return asked
    kinds = book.kinds
    entrants = []
    for entrant in asked:
        if isinstance(entrant, dict):
            strange = [kind for kind in entrant if kind not in kinds]
            if strange:
                raise InputError(f"{strange[0]!r:.60} is no kind of this book; it rates {', '.join(kinds)}.")
            parts = [entrant.get(kind) for kind in kinds]
            while parts and parts[-1] is None:
                parts.pop()
            entrants.append(tuple(parts))
        else:
            entrants.append(entrant)
    return entrants


def forecast(book: RatingBook, asked: say.Fixture | say.FieldToCome) -> say.MatchForecast | say.ContestForecast:
    """Chances of a match or of a contest to come."""
    if isinstance(asked, say.Fixture):
        return _match_forecast(book.predict_one(asked.home, asked.away, **_fixture(asked)))
    forecast_of = book.predict_one(_entrants(book, asked.entrants), date=asked.date, **_circumstances(asked))
    contest = forecast_of.contests
    rows = [
        say.EntrantForecast(entrant=contest.entrants[code], win=win, expected_place=place)
        for code, win, place in zip(
            contest.entrant.tolist(), forecast_of.win.tolist(), forecast_of.expected_place.tolist()
        )
    ]
    return say.ContestForecast(entrants=rows, unknown=list(forecast_of.unknown), notes=list(forecast_of.notes))


def forecast_each(book: RatingBook, bodies: Sequence[say.Fixture]) -> list[say.MatchForecast | Exception]:
    """Chances of matches for which several ask at the same moment; what each is answered."""
    found = book._predict_each([(asked.home, asked.away, _fixture(asked)) for asked in bodies])
    return [one if isinstance(one, Exception) else _match_forecast(one) for one in found]


def _match_forecast(forecast_of: Any) -> say.MatchForecast:
    win, draw, loss = forecast_of.probabilities[0].tolist()
    return say.MatchForecast(
        win=win,
        draw=draw,
        loss=loss,
        points=float(forecast_of.points[0]),
        unknown=list(forecast_of.unknown),
        notes=list(forecast_of.notes),
    )


def quality(book: RatingBook, asked: say.Candidates | say.Options) -> say.Ranked:
    """The most even of several candidates for a player, or of several line-ups."""
    if isinstance(asked, say.Candidates):
        more: dict[str, Any] = {"date": asked.date, "neutral": asked.neutral}
        more |= {"conditions": _levels(asked.conditions)} if asked.conditions else {}
        values: Any = match_quality(book, asked.player, asked.candidates, **more)
        ranked = sorted(zip(asked.candidates, values.tolist(), strict=True), key=lambda pair: -pair[1])
        return say.Ranked(ranked=[say.CandidateQuality(candidate=name, quality=value) for name, value in ranked])
    values = []
    for option in asked.options:
        if isinstance(option, say.Fixture):
            quality = match_quality(book, option.home, option.away, **_fixture(option))
        else:
            entrants = _entrants(book, option.entrants)
            quality = match_quality(book, entrants, date=option.date, **_circumstances(option))
        values.append(float(quality))
    order = sorted(range(len(values)), key=lambda k: -values[k])
    return say.Ranked(ranked=[say.OptionQuality(option=k, quality=values[k]) for k in order])


def balance(book: RatingBook, said: say.Present) -> say.Balanced:
    """Those present as sides that are as even as can be, the most even first."""
    more = said.model_dump(exclude={"players", "sides"})
    return say.Balanced.model_validate(balance_teams(book, said.players, said.sides, **more).to_dict())


def queue(book: RatingBook, asked: say.Queue) -> say.LobbiesFound:
    """Make lobbies of those who wait: as even as can be within the time they may wait."""
    tickets = [Ticket(tuple(one.players), one.waited, tuple(one.regions), one.roles) for one in asked.waiting]
    what = Lobbies(**asked.model_dump(exclude={"waiting"}))
    found = form_lobbies(book, tickets, what) if tickets else []
    gone = {name for lobby in found for side in lobby.sides for name in side}
    return say.LobbiesFound(
        lobbies=[say.LobbyFound.model_validate(asdict(lobby)) for lobby in found],
        waiting=[one.players for one in asked.waiting if one.players[0] not in gone],
    )


def next_matches(book: RatingBook, said: say.Wanted) -> say.NextMatches:
    """The matches that tell most about a question, in the order in which they should be played."""
    prices = None if said.cost is None else {(one.home, one.away): one.cost for one in said.cost}
    found = next_matches_of(book, **said.model_dump(exclude={"cost"}), cost=prices)
    return say.NextMatches.model_validate(found.to_dict())


def fair(book: RatingBook, asked: say.Handicapped | say.HandicappedField) -> say.Fair:
    """Which value of a covariate, such as a handicap, makes a match to come even; of a contest, which for each."""
    if isinstance(asked, say.HandicappedField):
        value = fair_value(book, _entrants(book, asked.entrants), covariate=asked.covariate, date=asked.date)
    else:
        more = _fixture(asked)
        given = more.pop("conditions", None)
        value = fair_value(book, asked.home, asked.away, asked.covariate, given=given, **more)
    rater: Any = rater_shown(book.rater)
    (effect,) = rater.effects_.filter(name=asked.covariate).to_dicts()
    return say.Fair(
        covariate=asked.covariate, fair=value, effect=effect["effect"], standard_error=effect["standard_error"]
    )


def preview(book: RatingBook, asked: say.Fixture | say.FieldToCome) -> say.Preview:
    """What a match or a contest to come would change, by each of its outcomes."""
    if isinstance(asked, say.Fixture):
        found = preview_of(book, asked.home, asked.away, **_fixture(asked))
    else:
        found = preview_of(book, _entrants(book, asked.entrants), date=asked.date, **_circumstances(asked))
    return say.Preview.model_validate(found.to_dict())


def explain(book: RatingBook, asked: say.WhichMatch | say.Whose) -> say.Explanation | say.Account:
    """Why a match moved ratings, or why somebody's rating moved over the last matches."""
    if isinstance(asked, say.WhichMatch):
        return say.Explanation.model_validate(explanation.explain(book, asked.match_id, of=asked.of).to_dict())
    return say.Account.model_validate(explanation.explain_last(book, asked.of, last=asked.last).to_dict())


def take_out(book: RatingBook, name: str) -> say.TakenOut | None:
    """Take a match or a contest out of the book; the ratings are as if it had never been added."""
    ledger = book._ratings.ledger
    held = ledger.rows_of([name])
    if name not in held:
        return None
    row = held[name]
    cell, sides = (row[9], row[2:4]) if book.noun == "matches" else (plain_json(row["entries"]), [])
    texts = [*sides, *strings_in(cell, ledger.database.name)]
    before, day = _ratings_by_name(book, texts), ledger.held([name])[name]
    book.remove(name)
    after, (again,) = (
        _ratings_by_name(book, texts),
        ledger.database.one(f"SELECT COUNT(*) FROM {ledger.table} WHERE date >= ?", (day,)),
    )
    people = [
        say.Moved(kind=kind, name=one, before=rating, after=after.get((kind, one)))
        for (kind, one), rating in before.items()
    ]
    return say.TakenOut(date=day, rated_again=again, people=people)


def _ratings_by_name(book: RatingBook, names: Any) -> dict[tuple[str, str], float]:
    """Ratings of those among some names who have one, by kind and name."""
    rows = [row for name in dict.fromkeys(names) for row in page_of(book, Asked(name=name)).rows]
    return {(row["kind"], row["name"]): row["rating"] for row in rows}


def erase(book: RatingBook, said: say.Erased) -> say.Pseudonym:
    """Take a name out of the book for good; a pseudonym stands in its place, with the same ratings."""
    return say.Pseudonym(pseudonym=book.erase(said.name, said.pseudonym))


def milestones(book: RatingBook) -> say.Milestones:
    """When all ratings were computed anew."""
    return say.Milestones(milestones=[say.Milestone.model_validate(row) for row in milestones_of(book)])


def close_season(book: RatingBook, said: say.SeasonToClose) -> say.Season:
    """Close a season, keep its table for good and begin the next one; sent again, it says how it was closed."""
    return say.Season.model_validate(asdict(book.season(**said.model_dump())))


def seasons(book: RatingBook) -> say.Seasons:
    """The seasons that were closed, the first one first."""
    return say.Seasons(seasons=[say.Season.model_validate(asdict(one)) for one in seasons_of(book)])


def season(book: RatingBook, name: str, offset: int, limit: int) -> say.MilestoneRatings | None:
    """A page of the table of a season; None where no season of this name was closed."""
    numbers = {one.name: one.number for one in seasons_of(book)}
    return milestone(book, numbers[name], offset, limit) if name in numbers else None


def set_tiers(book: RatingBook, said: say.TierRule) -> say.KeptTiers:
    """Keep a rule by which ratings are shown as tiers, in the place of the one before."""
    set_tiers_of(book, Tiers(**said.model_dump()))
    return say.KeptTiers(rule=said)


def get_tiers(book: RatingBook, luck: bool = False) -> say.KeptTiers:
    """The rule of tiers; with luck, which share changed division, and which share would have by luck alone."""
    rule = tiers_of(book)
    said = None if rule is None else say.TierRule(**{k: v for k, v in asdict(rule).items() if k != "steps"})
    if luck:
        _refuse_without_tiers(book)
    return say.KeptTiers(rule=said, **(asdict(moved_by_luck(book)) if luck else {}))


def _refuse_without_tiers(book: RatingBook) -> None:
    if tiers_of(book) is None:
        raise InputError("This book keeps no rule of tiers; POST /tiers sets one.")


def leaderboard(
    book: RatingBook, kind: say.Words = None, tier: say.Words = None, offset: say.Offset = 0, limit: say.Limit = 50,
    active_days: say.ActiveDays = None,
) -> say.Leaderboard:  # fmt: skip
    """A page of the board of tiers, the highest shown number of each kind first; of a kind, a tier, of the active."""
    _refuse_without_tiers(book)
    board = tier_board(book)
    rows = [row for row in board.rows if kind in (None, row["kind"]) and tier in (None, row["tier"])
            and (active_days is None or row["idle"] <= active_days)]  # fmt: skip
    players = [say.InTier.model_validate(row) for row in rows[offset : offset + limit]]
    return say.Leaderboard(total=len(rows), offset=offset, date=board.date, players=players)


def leaderboard_page(book: RatingBook) -> str:
    """The board of tiers as a page."""
    _refuse_without_tiers(book)
    return html_page("Leaderboard", tier_board(book).html(say.MOST_LISTED))


def watch(
    book: RatingBook, since: Annotated[str, Field(pattern=say.DAY, examples=["2026-05-01"])],
    false_share: say.FalseShare = 0.05, limit: say.Limit = 50,
) -> say.Watched:  # fmt: skip
    """Sides whose results since a day do not fit their rating before it, the most evidence first."""
    ratings = book._ratings
    if book.noun != "matches":
        raise InputError("This book holds contests; matches of two sides can be watched.")
    read_day(since)  # refused in a sentence where it is none
    with book._database.snapshot():
        ratings.keep_up()
        rater, begin, used = book._carrying.state_before(since)
        played = ratings.ledger.read(since=begin)
    if played is None or not len(later := played.since(since)) or not used + len(before := played.before(since)):
        raise InputError(f"There are no matches both before {since} and since then.")
    if len(before):
        carry_on(rater, before)
    found = watch_sides(rater, later, false_share=false_share)
    sides = [say.WatchedSide.model_validate(row) for row in found.head(limit).to_dicts()]
    return say.Watched(since=since, matches=len(later), total=found.height, sides=sides)


def judges(
    book: RatingBook, by: Annotated[str, Field(min_length=1, max_length=200, examples=["judge"])] = "judge",
    false_share: say.FalseShare = 0.05, limit: say.Limit = 50,
) -> say.Judges:  # fmt: skip
    """Judges whose answers do not follow who is compared, the most evidence first; of a book of votes."""
    votes = book.matches()
    if isinstance(book.rater, BradleyTerry) and by not in votes.conditions:
        raise InputError(
            f"No vote of this book says {by!r:.60}; they say {listed(votes.conditions) or 'nothing else'}."
        )
    found = judges_of_votes(book, votes, by, false_share=false_share).fill_nan(None)
    shown = [say.Judge.model_validate(row) for row in found.head(limit).to_dicts()]
    return say.Judges(by=by, total=found.height, judges=shown)


def milestone(
    book: RatingBook, number: Annotated[int, Field(ge=1, le=say.MOST_OFFSET)], offset: say.Offset = 0,
    limit: say.Limit = 50,
) -> say.MilestoneRatings:  # fmt: skip
    """The ratings of everyone at a milestone, before it and after, by pages."""
    table = ratings_at(book, number)
    rows = table.slice(offset, limit).to_dicts()
    return say.MilestoneRatings(
        total=table.height, offset=offset, ratings=[say.KeptRating.model_validate(row) for row in rows]
    )


def refit(book: RatingBook, said: say.Due) -> say.Refit:
    """Learn the parameters anew, and rate all matches again with them; what was before is kept."""
    found = book.refit(said.after)
    return say.Refit(due=False) if found is None else say.Refit(due=True, **asdict(found))


def health(book: RatingBook) -> say.Health:
    """That the service and its database answer."""
    book._database.one("SELECT 1")
    rater = type(book._ratings.blank).__name__
    return say.Health(status="ok", kinelo=__version__, rater=rater, holds=book.noun)


def ratings(
    book: RatingBook, kind: say.Words = None, search: Annotated[str, Field(max_length=200)] = "",
    offset: say.Offset = 0, limit: say.Limit = 50, active_days: say.ActiveDays = None,
) -> say.Ratings:  # fmt: skip
    """A page of ratings, the best of each kind first; of a kind, of the active, of names that contain some letters."""
    page = page_of(book, Asked(kind, None, search, offset, limit, active_days))
    return say.Ratings(total=page.total, offset=offset, ratings=[_rating(row) for row in page.rows])


def _rating(row: dict[str, Any]) -> say.Rating:
    day = row["last_played"]
    return say.Rating.model_validate(row | {"last_played": None if day is None else str(day)})


def rating_of(
    book: RatingBook, asked: Asked, points: int, near: int, tier: bool = False
) -> say.RatingWithHistory | None:
    """What is known of somebody, ratings at up to so many days on the way, and so many above and below; None where
    nobody has that name.
    """
    name, page = asked.name, page_of(book, asked._replace(limit=2, active_days=None))
    if not page.rows:
        return None
    if page.total > 1:
        kinds = " and ".join(repr(row["kind"]) for row in page.rows)
        raise InputError(f"{name!r:.60} is the name of several: say of which kind, {kinds}.")
    row = page.rows[0]
    place, above = place_of(book, asked._replace(kind=row["kind"]))
    around = Asked(row["kind"], offset=max(0, above - near), limit=2 * near + 1, active_days=asked.active_days)
    board = page_of(book, around).rows if near else []
    neighbours = [say.Placed(**_rating(one).model_dump(), place=around.offset + k) for k, one in enumerate(board, 1)]
    known = _rating(row).model_dump() | {"place": place, "neighbours": neighbours}
    if tier:
        _refuse_without_tiers(book)
        rows = tier_board(book).rows
        known["tier"] = next(one for one in rows if (one["kind"], one["name"]) == (row["kind"], name))
    then: list[say.Then] = []
    if points:
        table = rating_history(book, points=max(points, 2), side=name)
        if "kind" in table.columns:
            table = table.filter(table["kind"] == row["kind"])
        then = [
            say.Then(date=str(day["date"]), rating=day["rating"], uncertainty=day.get("uncertainty"))
            for day in table.iter_rows(named=True)
        ]
    return say.RatingWithHistory(**known, history=then)
