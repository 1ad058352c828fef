"""What is said over HTTP: the shapes of questions and answers, from which the description of the service is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kinelo.raters.qualifying import LAST_EXPLAINED

MOST_LISTED = 1000
"""Matches, candidates or line-ups in one request."""
MOST_ENTRANTS = 500
MOST_EXPLAINED = 50
"""Matches of somebody that are explained in one answer."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
MOST_OFFSET = 10**9
Offset = Annotated[int, Field(ge=0, le=MOST_OFFSET)]
Limit = Annotated[int, Field(ge=1, le=MOST_LISTED)]
Words = Annotated[str | None, Field(max_length=200)]
ActiveDays = Annotated[int | None, Field(ge=0, le=10**6)]
"""Only those who played within so many days of the last match."""
FalseShare = Annotated[float, Field(gt=0.0, lt=1.0)]
"""The share of innocents among those that are named, on average."""
Day = Annotated[str, StringConstraints(pattern=DAY)]
Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Team = Annotated[list[Name], Field(min_length=1, max_length=100)]
Entrant = Name | Team | dict[Name, Name | Team]
"""A name, a team, or a name (or a team) for each kind that is rated, such as driver and car."""
Entrants = Annotated[list[Entrant], Field(min_length=2, max_length=MOST_ENTRANTS)]


class Said(BaseModel):
    """Whatever is sent: nothing beyond what is known, and no text where a number belongs."""

    model_config = ConfigDict(extra="forbid", strict=True)


Levels = dict[Name, Name | Number | None]
"""Levels of conditions, and numbers of covariates."""


class Meeting(Said):
    """Two sides, and where and when they meet."""

    home: Name
    away: Name
    date: Day | None = None
    neutral: bool = False
    conditions: Levels | None = None


class Fixture(Meeting):
    """A match of two sides, to come."""

    home_lineup: Annotated[list[Name], Field(max_length=100)] = []
    away_lineup: Annotated[list[Name], Field(max_length=100)] = []


Time = Annotated[float, Field(ge=0.0, le=1e6)]
Side = Annotated[list[Name], Field(max_length=100)] | Annotated[dict[Name, Time], Field(max_length=100)]
"""Who played: names, or how long each of them did."""


class Match(Meeting):
    """A match of two sides as it ended: 1, 0.5 or 0 points of the home side, or in words."""

    match_id: Name
    home_lineup: Side = []
    away_lineup: Side = []
    result: Annotated[float, Field(ge=0.0, le=1.0)] | Literal["win", "draw", "loss"]
    margin: Number | None = None
    weight: Annotated[float, Field(ge=0.0, le=1e6)] = 1.0


class FieldToCome(Said):
    """A contest of any number of entrants, to come."""

    entrants: Entrants
    date: Day | None = None
    conditions: Levels | None = None


class Contest(Said):
    """A contest as it ended: its entrants in order of places, or with ranks, of which equal ones are ties."""

    contest_id: Name
    order: Annotated[list[Entrant], Field(min_length=1, max_length=MOST_ENTRANTS)]
    ranks: Annotated[list[Number], Field(max_length=MOST_ENTRANTS)] | None = None
    unfinished: Annotated[list[Entrant], Field(max_length=MOST_ENTRANTS)] | dict[Name, Number] = []
    date: Day | None = None
    conditions: Levels | None = None
    minutes: Annotated[dict[Name, Time], Field(max_length=1000)] | None = None


class Candidates(Said):
    """Whom a player might meet."""

    player: Name
    candidates: Annotated[list[Name], Field(min_length=1, max_length=MOST_LISTED)]
    date: Day | None = None
    neutral: bool = False
    conditions: Levels | None = None


class Options(Said):
    """Matches or contests that might be played, such as several ways to make teams."""

    options: Annotated[list[Fixture | FieldToCome], Field(min_length=1, max_length=100)]


class Present(Said):
    """Those present, who are to be split into sides: how many, or the size of each, and what is wished."""

    players: Annotated[list[Name], Field(min_length=2, max_length=200)]
    sides: Annotated[int, Field(ge=2, le=100)] | Annotated[list[int], Field(min_length=2, max_length=100)] = 2
    together: Annotated[list[Team], Field(max_length=100)] = []
    apart: Annotated[list[Team], Field(max_length=100)] = []
    roles: dict[Name, Name] | None = None
    newcomers: Annotated[int, Field(ge=0, le=10**6)] = 0
    best: Annotated[int, Field(ge=1, le=50)] = 5
    date: Day | None = None


class Price(Said):
    """What a match of two costs."""

    home: Name
    away: Name
    cost: float


class Wanted(Said):
    """Which matches, or contests of ``size``, are asked for: how many, what they are to tell, who is there (and how
    often each may play, or which pairs may meet), what matches cost, how often a pair may meet."""

    count: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 10
    target: Name = "leader"
    candidates: (
        Annotated[list[Name] | list[tuple[Name, Name]], Field(max_length=MOST_LISTED)] | dict[Name, int] | None
    ) = None
    cost: Annotated[list[Price], Field(max_length=MOST_LISTED)] | None = None
    at_most: Annotated[int, Field(ge=1, le=MOST_LISTED)] | None = None
    size: Annotated[int, Field(ge=2, le=100)] = 2


class Handicapped(Fixture):
    """A match to come, and the covariate that is to make it even."""

    covariate: Name


class HandicappedField(Said):
    """Entrants of a contest to come, and the covariate that is to make it even."""

    entrants: Entrants
    covariate: Name
    date: Day | None = None


Matches = Match | Annotated[list[Match], Field(max_length=MOST_LISTED)]
Contests = Contest | Annotated[list[Contest], Field(max_length=MOST_LISTED)]


class Added(BaseModel):
    """What was new, what the book held as it is, and what it held and is changed now."""

    new: int
    known: int
    changed: int


class Due(Said):
    """When parameters are learnt anew: only where so many matches or contests were added since; else at once."""

    after: Annotated[int, Field(ge=1, le=10**9)] | None = None


class Refit(BaseModel):
    """Parameters learnt anew from the matches up to a day, and losses of forecasts before and after; or not due."""

    due: bool
    number: int | None = None
    date: str | None = None
    matches: int | None = None
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    loss_before: float | None = None
    loss_after: float | None = None


class MatchForecast(BaseModel):
    """Chances of a match, its expected points, names that the book has never met, and what else is to be said."""

    win: float
    draw: float
    loss: float
    points: float
    unknown: list[str]
    notes: list[str]


class EntrantForecast(BaseModel):
    """Chances of one entrant."""

    entrant: str
    win: float
    expected_place: float


class ContestForecast(BaseModel):
    """Chances of everyone, in the order asked, names that the book has never met, and what else is to be said."""

    entrants: list[EntrantForecast]
    unknown: list[str]
    notes: list[str]


class CandidateQuality(BaseModel):
    """How even a match against somebody is believed to be, from 0 to 1."""

    candidate: str
    quality: float


class OptionQuality(BaseModel):
    """How even the option at a place of the list, counted from 0, is believed to be."""

    option: int
    quality: float


class Ranked(BaseModel):
    """Candidates or options, the most even first."""

    ranked: list[CandidateQuality] | list[OptionQuality]


class Split(BaseModel):
    """The names on each side, how even it is, and the chances."""

    sides: list[list[str]]
    quality: float
    chances: list[float]


class Balanced(BaseModel):
    """The most even splits, what each wish costs in quality, whether all splits were looked at, and unknown names."""

    splits: list[Split]
    costs: dict[str, float]
    exact: bool
    looked_at: int
    unknown: list[str]


class NextMatch(BaseModel):
    """A match to be played, the points expected of the first side, and the share it takes off what is open."""

    home: str
    away: str
    points: float
    tells: float
    cost: float


class NextContest(BaseModel):
    """A contest to be held, and what it takes off what is open."""

    entrants: list[str]
    tells: float


class NextMatches(BaseModel):
    """Matches or contests in the order in which they should be played, and what they are to tell."""

    target: str
    question: str
    matches: list[NextMatch] | list[NextContest]


class Fair(BaseModel):
    """The value of a covariate at which a match is even, and what a unit of it is worth, with its standard error.

    Of a contest there is a value for each entrant, against the mean of all.
    """

    covariate: str
    fair: float | dict[str, float]
    effect: float
    standard_error: float


class Changed(BaseModel):
    """The rating of somebody now, and after each outcome; None where there is none yet."""

    name: str
    rating: float | None
    after: dict[str, float]
    change: dict[str, float | None]


class Preview(BaseModel):
    """What a match would change by each result of the first side, or a contest by each place."""

    outcomes: list[str]
    people: list[Changed]


class WhichMatch(Said):
    """A match or contest of the book, and further names of whom it is asked."""

    match_id: Name
    of: Annotated[list[Name], Field(max_length=100)] = []


class Whose(Said):
    """Whose last matches are asked about, and how many."""

    of: Name
    last: Annotated[int, Field(ge=1, le=MOST_EXPLAINED)] = LAST_EXPLAINED


class Reason(BaseModel):
    """Why a rating moved: the terms add up to the change."""

    name: str
    before: float | None
    after: float
    change: float | None
    terms: dict[str, float]
    score: float | None
    expected: float | None
    gain: float | None


class Explanation(BaseModel):
    """Why the ratings of those in a match moved; the note says whether it came late or was put right."""

    match_id: str
    date: str | None
    note: str
    people: list[Reason]


class Step(Reason):
    """One of the matches of an account, and what resets and others' matches moved since the one before."""

    match_id: str
    date: str | None
    words: str
    season: float
    elsewhere: float


class Account(BaseModel):
    """Why somebody's rating moved over the last matches: the totals add up to the change."""

    name: str
    before: float | None
    after: float
    change: float | None
    steps: list[Step]
    since: float
    season_since: float
    totals: dict[str, float]


class Rating(BaseModel):
    """What is known of somebody."""

    kind: str
    name: str
    rating: float
    uncertainty: float | None
    matches: int
    last_played: str | None


class Then(BaseModel):
    """A rating on a day."""

    date: str
    rating: float
    uncertainty: float | None


class Placed(Rating):
    """Somebody on the board."""

    place: int


class RatingWithHistory(Rating):
    """What is known of somebody: the place among those shown (none if not active), the tier where that is asked, who
    is near, how it came to that."""

    place: int | None
    tier: InTier | None = None
    neighbours: list[Placed]
    history: list[Then]


class Moved(BaseModel):
    """A rating before and after a match was taken out; none where nothing is left to rate."""

    kind: str
    name: str
    before: float
    after: float | None


class TakenOut(BaseModel):
    """What was taken out: its day, how many matches from that day on were rated again, and who took part."""

    date: str
    rated_again: int
    people: list[Moved]


class Erased(Said):
    """A name that is to be taken out of the book for good, and what stands in its place."""

    name: Name
    pseudonym: Name | None = None


class Pseudonym(BaseModel):
    """What stands in the place of a name from now on."""

    pseudonym: str


class SeasonToClose(Said):
    """A season that is to be closed: its last day, the part by which ratings are drawn towards their mean in the next
    one, what skills move beside, in points, and to how many of the best, or to which share, a reward goes."""

    name: Name
    reset: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    date: Day | None = None
    moves: Annotated[float, Field(ge=0.0, le=1e6)] | None = None
    rewards: Annotated[dict[Name, Number], Field(max_length=100)] = {}


class Season(BaseModel):
    """A season that was closed: its first day (none: from the beginning) and last day, how many played, and how the
    next one began."""

    number: int
    name: str
    first_day: str | None
    last_day: str
    players: int
    reset: float
    moves: float


class Seasons(BaseModel):
    """The seasons of a book that were closed, the first one first."""

    seasons: list[Season]


class Waiting(Said):
    """Who waits: a player or a party, for how many seconds, in which regions (none: any), and in which roles each
    could play (nothing said: any)."""

    players: Team
    waited: Annotated[float, Field(ge=0.0, le=1e9)] = 0.0
    regions: Annotated[list[Name], Field(max_length=100)] = []
    roles: Annotated[dict[Name, Annotated[list[Name], Field(max_length=100)]], Field(max_length=100)] | None = None


class Queue(Said):
    """Those who wait, what a lobby is (sides, how many on each, in which roles), how many seconds to wait at most, and
    how even (0 to 1) a lobby must be to start before that."""

    waiting: Annotated[list[Waiting], Field(max_length=MOST_LISTED)]
    sides: Annotated[int, Field(ge=2, le=100)] = 2
    size: Annotated[int, Field(ge=1, le=100)] = 5
    patience: Annotated[float, Field(ge=0.0, le=1e9)] = 60.0
    good: Annotated[float, Field(ge=0.0, le=1.0)] = 0.97
    roles: Annotated[dict[Name, Annotated[int, Field(ge=0, le=100)]], Field(max_length=100)] | None = None


class LobbyFound(BaseModel):
    """A match to be started: its sides, how even it is believed to be, its region (empty: any), and the seconds that
    who waited longest has waited."""

    sides: list[list[str]]
    quality: float
    region: str
    waited: float


class LobbiesFound(BaseModel):
    """Lobbies that start now, and the parties who wait on."""

    lobbies: list[LobbyFound]
    waiting: list[list[str]]


class TierRule(Said):
    """How ratings are shown as tiers, from the lowest to the highest: with the points from which each holds, or with
    shares that add up to 1; into how many divisions; within which margin a division is kept; matches before which
    nobody is placed; decay of the shown number in points a week; and days between two looks."""

    bounds: Annotated[dict[Name, Number], Field(min_length=2, max_length=50)]
    by: Literal["points", "share"] = "points"
    divisions: Annotated[int, Field(ge=1, le=20)] = 1
    margin: Annotated[float, Field(ge=0.0, le=1e6)] = 0.0
    placement: Annotated[int, Field(ge=0, le=10**6)] = 10
    decay: Annotated[float, Field(ge=0.0, le=1e6)] = 0.0
    decay_after: Annotated[int, Field(ge=0, le=10**5)] = 28
    decay_most: Annotated[float, Field(ge=0.0, le=1e6)] = 200.0
    every: Annotated[int, Field(ge=1, le=400)] = 7


class KeptTiers(BaseModel):
    """The rule that the book keeps, and who of those placed changed division: really, and by luck alone."""

    rule: TierRule | None
    moved: float | None = None
    by_luck: float | None = None
    players: int | None = None
    days: int | None = None
    draws: int | None = None


class InTier(BaseModel):
    """Somebody on the board of tiers: rating and shown number, tier and division (none before placement), matches left
    until placed, and steps moved since the look before."""

    place: int
    kind: str
    name: str
    rating: float
    shown: float
    tier: str | None
    division: int | None
    matches: int
    to_place: int
    moved: int | None


class Leaderboard(BaseModel):
    """A page of the board of tiers, the highest shown number of each kind first."""

    total: int
    offset: int
    date: str
    players: list[InTier]


class Milestone(BaseModel):
    """When all ratings were computed anew, from how many matches up to which day, and what was decided."""

    number: int
    what: str
    name: str
    date: str
    matches: int
    details: dict[str, Any]


class Milestones(BaseModel):
    """All milestones of the book, the first one first."""

    milestones: list[Milestone]


class KeptRating(BaseModel):
    """A rating as it was, and as it was computed anew."""

    kind: str
    name: str
    place: int
    rating: float
    deviation: float | None
    games: int
    rating_after: float | None
    deviation_after: float | None
    reward: str | None


class MilestoneRatings(BaseModel):
    """A page of the ratings at a milestone, the best of each kind first."""

    total: int
    offset: int
    ratings: list[KeptRating]


class Ratings(BaseModel):
    """A page of ratings, the best of each kind first."""

    total: int
    offset: int
    ratings: list[Rating]


class Health(BaseModel):
    """That the service answers, and what it serves."""

    status: Literal["ok"]
    kinelo: str
    rater: str
    holds: str


class WatchedSide(BaseModel):
    """A side since a day: its points, those expected, by how many points it seems to play better than rated, the
    evidence for a wrong rating against 1, and whether it is named."""

    name: str
    matches: int
    scored: float
    expected: float
    points: float
    evidence: float
    named: bool


class Watched(BaseModel):
    """Sides that played since a day, the most evidence first, and of how many."""

    since: str
    matches: int
    total: int
    sides: list[WatchedSide]


class Judge(BaseModel):
    """A judge: the share of decided votes for the side named first, how much answers follow strengths, the evidence
    that they do not against 1, and what who is named answers."""

    judge: str
    votes: int
    first: float | None
    drawn: float
    follows: float
    evidence: float
    named: bool
    answers: str | None


class Judges(BaseModel):
    """Judges of votes, the most evidence first, and of how many."""

    by: str
    total: int
    judges: list[Judge]


class Refusal(BaseModel):
    """Why a request was not carried out, in a sentence."""

    error: str


EXAMPLES: dict[type[Said], dict[str, Any]] = {
    Match: {"match_id": "m1", "home": "Ann", "away": "Bob", "result": "win", "date": "2026-05-01"},
    Contest: {"contest_id": "g7", "order": [["Ann", "Bob"], ["Cid", "Dee"]], "date": "2026-05-01"},
    Fixture: {"home": "Ann", "away": "Bob"},
    FieldToCome: {"entrants": [["Ann", "Bob"], ["Cid", "Dee"]]},
    Candidates: {"player": "Ann", "candidates": ["Bob", "Cid"], "neutral": True},
    Options: {
        "options": [{"entrants": [["Ann", "Bob"], ["Cid", "Dee"]]}, {"entrants": [["Ann", "Dee"], ["Bob", "Cid"]]}]
    },
    Present: {"players": ["Ann", "Bob", "Cid", "Dee"], "sides": 2, "apart": [["Ann", "Bob"]]},
    Wanted: {"count": 3, "target": "leader"},
    Handicapped: {"home": "Ann", "away": "Bob", "covariate": "stones"},
    HandicappedField: {"entrants": ["Ann", "Bob", "Cid"], "covariate": "stones"},
    WhichMatch: {"match_id": "m1"},
    Whose: {"of": "Ann", "last": 5},
    Due: {"after": 500},
    Erased: {"name": "Ann Example"},
    Queue: {
        "waiting": [
            {"players": ["Ann", "Bob"], "waited": 31.5, "regions": ["eu"]},
            {"players": ["Cid"], "waited": 12},
            {"players": ["Dee"], "regions": ["eu", "us"]},
        ],
        "size": 2,
        "patience": 30,
    },
    TierRule: {"bounds": {"Bronze": 0.5, "Silver": 0.4, "Gold": 0.1}, "by": "share", "divisions": 3, "margin": 25},
    SeasonToClose: {"name": "Spring 2026", "reset": 0.3, "date": "2026-05-31", "rewards": {"gold": 1, "silver": 0.1}},
}
"""What is shown of each question in the description of the service."""
for _shape, _example in EXAMPLES.items():
    _shape.model_config["json_schema_extra"] = {"examples": [_example]}


def one_sentence(errors: Any) -> str:
    """What is wrong with a request, in one sentence: of several ways to read it, that which came furthest.

    >>> one_sentence([{"loc": ("body", "Match", "home"), "msg": "Field required", "type": "missing"}])
    'home: field required.'
    """
    first = max(errors, key=lambda error: len(error["loc"]))
    if first["type"] == "json_invalid":
        return f"The body of the request is not JSON: {first['ctx']['error']}."
    place = _place(first)
    alike = [one["msg"] for one in errors if len(one["loc"]) == len(first["loc"]) and _place(one) == place]
    words = " or ".join(dict.fromkeys([alike[0], *(other.removeprefix("Input should be ") for other in alike[1:])]))
    return f"{place or 'The request'}: {words[:1].lower()}{words[1:300].rstrip('.')}."


def _place(error: Any) -> str:
    """Where in a request an error is; which way of reading it found it is not said."""
    place = ""
    for part in error["loc"][1:]:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part.isidentifier() and part.islower() and part not in ("str", "float", "dict", "list"):
            place += f".{part}" if place else part
    return place
