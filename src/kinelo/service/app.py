"""The service: routes of HTTP to the doors of a book.

The book is asked in threads that stay, since each keeps a connection: one that writes, a few that read, and one for
histories, for which all matches are rated again. Only forecasts of matches from the rows of a file wait for nobody, and
are made where the request is read.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import warnings
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from kinelo._version import __version__
from kinelo.book.book import RatingBook
from kinelo.book.database import UnreachableError
from kinelo.book.paging import Asked
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.choice import rater_called
from kinelo.raters.questions import match_quality
from kinelo.service import doors
from kinelo.service import wording as say
from kinelo.service.guard import Guard, refusal
from kinelo.service.metrics import Metrics
from kinelo.service.route import JsonRoute, Straight
from kinelo.service.settings import Settings

READERS = 4
"""Threads that read the book, each with a connection."""
MOST_OFFSET = 10**9
Answer = TypeVar("Answer")
log = logging.getLogger("uvicorn.error")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": say.Refusal, "description": words}
    for status, words in {
        400: "The request is no HTTP that can be read, or names several hosts.",
        401: "The token is missing or another.",
        408: "The rest of the request did not come.",
        413: "The request is too long.",
        421: "The service does not answer to that name.",
        422: "What was sent cannot be used.",
        431: "The head of the request is too long.",
        503: "The database cannot be reached, or too many ask at once; try again.",
    }.items()
}


class Desk:
    """A book, and the threads that ask it."""

    def __init__(self, book: RatingBook) -> None:
        self.book = book
        self.at_hand = book.at_hand
        """Whether a match is forecast at once: two rows of a file take less time than to hand them to a thread."""
        self.writer, self.readers, self.slow = (
            ThreadPoolExecutor(count, thread_name_prefix=name)
            for count, name in ((1, "writer"), (READERS, "reader"), (1, "history"))
        )

    async def asked(self, pool: ThreadPoolExecutor, door: Callable[..., Answer], *words: Any) -> Answer:
        """What a door answers, asked in a thread."""
        return await asyncio.get_running_loop().run_in_executor(pool, door, self.book, *words)

    def close(self) -> None:
        """Finish what was begun."""
        for pool in (self.writer, self.readers, self.slow):
            pool.shutdown(wait=True)
        self.book.close()


def open_book(settings: Settings) -> RatingBook:
    """The book of a service; a new one is made where its rater is named."""
    return RatingBook(settings.book, None if settings.rater is None else rater_called(settings.rater))


def create() -> ASGIApp:
    """The application in a process that another one has started."""
    return create_app(Settings.handed_over())


def create_app(settings: Settings) -> ASGIApp:
    """The application that serves a book."""
    warnings.simplefilter("ignore", KineloWarning)  # what they say of matches stands in the answers
    metrics = Metrics()

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        desk = Desk(open_book(settings))
        app.state.desk, app.state.metrics = desk, metrics
        try:
            await desk.asked(desk.slow, _warm)
            yield
        finally:
            desk.close()

    app = FastAPI(
        title="Kinelo", version=__version__, description="Ratings that are kept in a book.", lifespan=living,
        docs_url=None, redoc_url=None, responses=REFUSALS,
    )  # fmt: skip
    app.router.route_class = JsonRoute
    for path, method, answer in ROUTES:
        app.add_api_route(path, answer, methods=[method], summary=(answer.__doc__ or "").partition("\n")[0].rstrip("."))
    for kind, answer in REFUSED.items():
        app.add_exception_handler(kind, answer)
    return Guard(Straight(app), settings, metrics)


def _warm(book: RatingBook) -> None:
    """Let what is compiled be compiled before the first request."""
    scratch = copy.deepcopy(book._blank)
    for ask in (
        lambda: scratch.update_one(["one", "other", "third"]),
        lambda: scratch.predict_one(["one", "other", "third"]),
        lambda: scratch.update_one("one", "other", "win"),
        lambda: scratch.predict_one("one", "other"),
        lambda: match_quality(scratch, "one", ["other"]),
    ):
        try:
            ask()
        except (InputError, TypeError, AttributeError):
            continue  # not every rater takes matches and contests


def _desk(request: Request) -> Desk:
    return request.app.state.desk


async def post_matches(request: Request, body: say.Matches) -> say.Added:
    """Count one match, or several of which all count or none; each counts once by its match_id."""
    desk = _desk(request)
    return await desk.asked(desk.writer, doors.add_matches, body)


async def post_contests(request: Request, body: say.Contests) -> say.Added:
    """Count one contest, or several of which all count or none; each counts once by its contest_id."""
    desk = _desk(request)
    return await desk.asked(desk.writer, doors.add_contests, body)


async def post_forecast(
    request: Request, body: say.Fixture | say.FieldToCome
) -> say.MatchForecast | say.ContestForecast:
    """Chances of a match or of a contest to come."""
    desk = _desk(request)
    if desk.at_hand and isinstance(body, say.Fixture):
        return doors.forecast(desk.book, body)
    return await desk.asked(desk.readers, doors.forecast, body)


async def post_quality(request: Request, body: say.Candidates | say.Options) -> say.Ranked:
    """The most even of several candidates for a player, or of several line-ups."""
    desk = _desk(request)
    return await desk.asked(desk.readers, doors.quality, body)


async def post_balance(request: Request, body: say.Present) -> say.Balanced:
    """Those present as sides that are as even as can be, the most even first."""
    desk = _desk(request)
    return await desk.asked(desk.readers, doors.balance, body)


async def post_preview(request: Request, body: say.Fixture | say.FieldToCome) -> say.Preview:
    """What a match or a contest to come would change, by each of its outcomes."""
    desk = _desk(request)
    return await desk.asked(desk.slow, doors.preview, body)


async def post_explain(request: Request, body: say.WhichMatch | say.Whose) -> say.Explanation | say.Account:
    """Why a match moved ratings, or why somebody's rating moved over the last matches."""
    desk = _desk(request)
    return await desk.asked(desk.slow, doors.explain, body)


async def post_fair(request: Request, body: say.Handicapped | say.HandicappedField) -> say.Fair:
    """Which value of a covariate, such as a handicap, makes a match to come even; of a contest, which for each."""
    desk = _desk(request)
    return await desk.asked(desk.slow, doors.fair, body)


async def get_ratings(
    request: Request,
    kind: Annotated[str | None, Query(max_length=200)] = None,
    search: Annotated[str, Query(max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=MOST_OFFSET)] = 0,
    limit: Annotated[int, Query(ge=1, le=say.MOST_LISTED)] = 50,
) -> say.Ratings:
    """A page of ratings, the best of each kind first; of a kind, or of names that contain some letters."""
    desk = _desk(request)
    return await desk.asked(desk.readers, doors.ratings, Asked(kind, None, search, offset, limit))


async def get_rating(
    request: Request,
    name: str,
    kind: Annotated[str | None, Query(max_length=200)] = None,
    history: Annotated[int, Query(ge=0, le=say.MOST_LISTED)] = 0,
) -> say.RatingWithHistory:
    """What is known of somebody; with history, ratings at up to so many days on the way."""
    desk = _desk(request)
    found = await desk.asked(desk.slow if history else desk.readers, doors.rating_of, name, kind, history)
    if found is None:
        raise HTTPException(404, f"Nobody with the name {name!r:.60} has a rating.")
    return found


async def get_health(request: Request) -> say.Health:
    """That the service and its database answer."""
    desk = _desk(request)
    rater, holds = await desk.asked(desk.readers, lambda book: (type(book._blank).__name__, book.alive()))
    return say.Health(status="ok", kinelo=__version__, rater=rater, holds=holds)


async def get_metrics(request: Request) -> PlainTextResponse:
    """Counts of this process, as Prometheus reads them."""
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


ROUTES = (
    ("/matches", "POST", post_matches),
    ("/contests", "POST", post_contests),
    ("/forecast", "POST", post_forecast),
    ("/quality", "POST", post_quality),
    ("/balance", "POST", post_balance),
    ("/preview", "POST", post_preview),
    ("/explain", "POST", post_explain),
    ("/fair", "POST", post_fair),
    ("/ratings", "GET", get_ratings),
    ("/ratings/{name:path}", "GET", get_rating),
    ("/health", "GET", get_health),
    ("/metrics", "GET", get_metrics),
)


async def _not_understood(_: Request, error: Any) -> JSONResponse:
    return refusal(422, say.one_sentence(error.errors()))


async def _not_usable(_: Request, error: Any) -> JSONResponse:
    return refusal(422, " ".join(str(error).split()))


async def _not_reached(_: Request, error: Any) -> JSONResponse:
    log.error("%s", error)
    return refusal(503, " ".join(str(error).split()), **{"Retry-After": "1"})


async def _not_written(_: Request, error: Any) -> JSONResponse:
    log.error("%s", error)
    return refusal(503, f"The book cannot be read or written: {error.strerror or 'the disk refuses'}.")


async def _not_found(request: Request, error: Any) -> JSONResponse:
    words = {404: f"There is nothing at {request.url.path!r:.80}; /openapi.json says what there is.",
             405: f"{request.url.path!r:.80} does not take {request.method}.",
             400: "The body of the request cannot be read."}  # fmt: skip
    said = str(error.detail)
    plain = said in ("Not Found", "Method Not Allowed") or error.status_code == 400
    return refusal(error.status_code, words[error.status_code] if plain else said, **(error.headers or {}))


REFUSED: dict[Any, Any] = {
    RequestValidationError: _not_understood,
    UnreachableError: _not_reached,
    InputError: _not_usable,
    OSError: _not_written,
    HTTPException: _not_found,
}
