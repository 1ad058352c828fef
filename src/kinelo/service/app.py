"""The service: routes of HTTP to the doors of a book.

The book is asked in threads that stay, since each keeps a connection: one that writes, one that forecasts matches, a
few that read, and one for histories, for which all matches are rated again. Matches that come while one is written
share the next transaction, and those that are to be forecast while one is share the next question. Only forecasts of
matches from the rows of a file wait for nobody, and are made where the request is read.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import socket
import sys
import warnings
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar, get_type_hints

import uvicorn
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from kinelo._version import __version__
from kinelo.book.book import RatingBook
from kinelo.book.database import UnreachableError, is_server
from kinelo.book.paging import Asked
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.choice import rater_called
from kinelo.raters.questions import match_quality
from kinelo.runtime.listening import listen_at, share
from kinelo.runtime.serving import GUARDED, ReadyServer
from kinelo.service import doors
from kinelo.service import wording as say
from kinelo.service.beside import Beside, ask_beside
from kinelo.service.guard import Guard, refusal
from kinelo.service.metrics import Metrics
from kinelo.service.route import JsonRoute, Straight
from kinelo.service.settings import Settings

READERS = 3
"""Threads that read the book beside the one that forecasts matches, each with a connection."""
MOST_TOGETHER = 64
"""Matches that share a transaction, or a question."""
WHO = "The service"
APP, OWN_QUEUE = "kinelo.service.app:create", "kinelo.service.app:own_queue"
LAST_SECONDS = 60
"""How long a service that is told to end goes on with what was begun."""
OFTEN = 20
"""How often a process asks, while as many matches come as call for it, whether parameters are to be learnt anew."""
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


class Together:
    """What several ask at the same moment, answered together in a thread: who asks meanwhile, waits for the next."""

    def __init__(
        self, pool: ThreadPoolExecutor, door: Callable[[RatingBook, Sequence[Any]], Sequence[Any]], book: RatingBook
    ) -> None:
        self.pool, self.door, self.book = pool, door, book
        self.waiting: deque[tuple[Any, asyncio.Future[Any]]] = deque()

    async def asked(self, question: Any) -> Any:
        """What the door answers to one of the questions; what it fails by is raised."""
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append((question, answer))
        if len(self.waiting) == 1:  # else they are about to be looked for
            self.pool.submit(self._answer_waiting)
        return await answer

    def _answer_waiting(self) -> None:
        """Answer those who wait, many at once."""
        taken = [self.waiting.popleft() for _ in range(min(len(self.waiting), MOST_TOGETHER))]
        if taken:
            answers: Sequence[Any]
            try:
                answers = self.door(self.book, [question for question, _ in taken])
            except Exception as error:  # nobody may wait for ever
                answers = [error] * len(taken)
            taken[0][1].get_loop().call_soon_threadsafe(_answer, [answer for _, answer in taken], answers)
        if self.waiting:  # after whatever else the pool was asked for meanwhile
            self.pool.submit(self._answer_waiting)


class BookThreads:
    """A book, and the threads that ask it."""

    def __init__(self, book: RatingBook, refit_every: int | None) -> None:
        self.book, self.refit_every, self.added = book, refit_every, 0
        self.at_hand = book._ratings.local and not is_server(str(book.path))
        """Whether a match is forecast at once: two rows of a file take less time than to hand them to a thread."""
        self.holds_matches = "matches" in book.holds
        self.pools = self.writer, self.forecaster, self.readers, self.slow = [
            ThreadPoolExecutor(count, thread_name_prefix=name)
            for count, name in ((1, "writer"), (1, "forecaster"), (READERS, "reader"), (1, "history"))
        ]
        self.matches = Together(self.writer, doors.add_each, book)
        self.forecasts = Together(self.forecaster, doors.forecast_each, book)

    async def asked(self, pool: ThreadPoolExecutor, door: Callable[..., Answer], *words: Any) -> Answer:
        """What a door answers, asked in a thread."""
        answer = await asyncio.get_running_loop().run_in_executor(pool, door, self.book, *words)
        self._note(answer)
        return answer

    async def counted(self, match: say.Match) -> say.Added:
        """What the door of matches answers once a match is on the disk, with others that wait for it."""
        added = await self.matches.asked(match)
        self._note(added)
        return added

    def _note(self, answer: Any) -> None:
        """Learn parameters anew where enough was added."""
        if self.refit_every is not None and isinstance(answer, say.Added):
            self.added += answer.new
            if self.added * OFTEN >= self.refit_every:
                self.added = 0
                self.slow.submit(self._refit_where_due)

    def _refit_where_due(self) -> None:
        """Learn parameters anew where enough was added since, by anybody; a failure stands in the log."""
        try:
            found = self.book.refit(self.refit_every)
            if found is not None:
                log.info("Parameters learnt from %s matches up to %s.", f"{found.matches:,}", found.date)
        except Exception as error:
            log.error("Parameters were not learnt anew: %s", error)

    def close(self) -> None:
        """Finish what was begun."""
        for pool in self.pools:
            pool.shutdown(wait=True)
        self.book.close()


def _answer(waiting: Sequence[asyncio.Future[Any]], found: Sequence[Any]) -> None:
    """Tell those who wait what was found, unless they are gone."""
    for future, answer in zip(waiting, found, strict=True):
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)


def open_book(settings: Settings) -> RatingBook:
    """The book of a service; a new one is made where its rater is named."""
    book = RatingBook(settings.book, None if settings.rater is None else rater_called(settings.rater))
    book._carrying.beside = partial(ask_beside, settings.beside) if settings.beside else None
    return book


def create() -> ASGIApp:
    """The application in a process that serves it."""
    sys.setswitchinterval(0.001)  # a forecast should not wait for a match that is being rated
    return create_app(Settings.handed_over())


def create_app(settings: Settings) -> ASGIApp:
    """The application that serves a book."""
    warnings.simplefilter("ignore", KineloWarning)  # what they say of matches stands in the answers
    metrics = Metrics()

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        threads = BookThreads(open_book(settings), settings.refit_every)
        app.state.threads, app.state.metrics = threads, metrics
        try:
            await threads.asked(threads.slow, _warm)
            yield
        finally:
            threads.close()

    app = FastAPI(
        title="Kinelo", version=__version__, description="Ratings that are kept in a book.", lifespan=living,
        docs_url=None, redoc_url=None, responses=REFUSALS,
    )  # fmt: skip
    app.router.route_class = JsonRoute
    for path, method, answer in ROUTES:
        app.add_api_route(path, answer, methods=[method], summary=(answer.__doc__ or "").partition("\n")[0].rstrip("."))
    for kind in REFUSED:
        app.add_exception_handler(kind, _refuse)
    return Guard(Straight(app), settings, metrics)


def _warm(book: RatingBook) -> None:
    """Let what is compiled be compiled before the first request."""
    scratch = copy.deepcopy(book._ratings.blank)
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


def _question(path: str, pool: str, door: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint that asks a door of the book in a thread of a pool; it is described as the door is."""

    async def answer(request: Request, body: Any) -> Any:
        threads: BookThreads = request.app.state.threads
        if door is doors.forecast and isinstance(body, say.Fixture):
            return door(threads.book, body) if threads.at_hand else await threads.forecasts.asked(body)
        if isinstance(body, say.Match) and threads.holds_matches:
            return await threads.counted(body)
        return await threads.asked(getattr(threads, pool), door, body)

    _, body, shape = get_type_hints(door, include_extras=True).values()
    answer.__annotations__ = {"request": Request, "body": body, "return": shape}
    answer.__name__, answer.__doc__ = f"post_{path.removeprefix('/')}", door.__doc__
    return answer


def _lookup(pool: str, door: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint that asks a door with the words of an address; these are described as the door describes them."""

    async def answer(request: Request, **words: Any) -> Any:
        threads: BookThreads = request.app.state.threads
        return await threads.asked(getattr(threads, pool), partial(door, **words))

    shapes, named = get_type_hints(door, include_extras=True), list(signature(door).parameters.values())[1:]
    begin = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    given = [begin, *(parameter.replace(annotation=shapes[parameter.name]) for parameter in named)]
    answer.__signature__ = Signature(given, return_annotation=shapes["return"])  # type: ignore[attr-defined]
    answer.__name__, answer.__doc__ = f"get_{door.__name__.removeprefix('get_')}", door.__doc__
    return answer


async def get_rating(
    request: Request,
    name: str,
    kind: Annotated[str | None, Query(max_length=200)] = None,
    history: Annotated[int, Query(ge=0, le=say.MOST_LISTED)] = 0,
    neighbours: Annotated[int, Query(ge=0, le=100)] = 0,
    active_days: say.ActiveDays = None,
    tier: bool = False,
) -> say.RatingWithHistory:
    """What is known of somebody, and the place; with history ratings on the way, with neighbours who stands near, with
    tier that of the board."""
    threads: BookThreads = request.app.state.threads
    pool, asked = threads.slow if history or tier else threads.readers, Asked(kind, name, active_days=active_days)
    found = await threads.asked(pool, doors.rating_of, asked, history, neighbours, tier)
    if found is None:
        raise HTTPException(404, f"Nobody with the name {name!r:.60} has a rating.")
    return found


async def delete_match(request: Request, match_id: str) -> say.TakenOut:
    """Take a match (or a contest) out again: the ratings are as if it had never been added."""
    threads: BookThreads = request.app.state.threads
    found = await threads.asked(threads.writer, doors.take_out, match_id)
    if found is None:
        raise HTTPException(404, f"The book holds nothing under {match_id!r:.60}: it was taken out, or never added.")
    return found


async def get_leaderboard_page(request: Request) -> HTMLResponse:
    """The first thousand of the board of tiers, as a page."""
    threads: BookThreads = request.app.state.threads
    return HTMLResponse(await threads.asked(threads.slow, doors.leaderboard_page))


async def get_season(
    request: Request,
    name: str,
    offset: say.Offset = 0,
    limit: say.Limit = 50,
) -> say.MilestoneRatings:
    """Everyone who played in a season that was closed: place, rating, reward and the rating after it, by pages."""
    threads: BookThreads = request.app.state.threads
    found = await threads.asked(threads.readers, doors.season, name, offset, limit)
    if found is None:
        raise HTTPException(404, f"No season {name!r:.60} was closed.")
    return found


async def get_metrics(request: Request) -> PlainTextResponse:
    """Counts of this process, as Prometheus reads them."""
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


QUESTIONS = (
    ("/matches", "writer", doors.add_matches),
    ("/contests", "writer", doors.add_contests),
    ("/forecast", "readers", doors.forecast),
    ("/quality", "readers", doors.quality),
    ("/balance", "readers", doors.balance),
    ("/queue", "readers", doors.queue),
    ("/next", "slow", doors.next_matches),
    ("/preview", "slow", doors.preview),
    ("/explain", "slow", doors.explain),
    ("/fair", "slow", doors.fair),
    ("/refit", "slow", doors.refit),
    ("/erase", "writer", doors.erase),
    ("/seasons", "slow", doors.close_season),
    ("/tiers", "writer", doors.set_tiers),
)
"""What is asked by a body in JSON: the path, who asks the book, and its door."""
ROUTES = (
    *((path, "POST", _question(path, pool, door)) for path, pool, door in QUESTIONS),
    ("/ratings", "GET", _lookup("readers", doors.ratings)),
    ("/ratings/{name:path}", "GET", get_rating),
    ("/matches/{match_id:path}", "DELETE", delete_match),
    ("/contests/{match_id:path}", "DELETE", delete_match),
    ("/milestones", "GET", _lookup("readers", doors.milestones)),
    ("/milestones/{number}", "GET", _lookup("readers", doors.milestone)),
    ("/leaderboard", "GET", _lookup("slow", doors.leaderboard)),
    ("/leaderboard.html", "GET", get_leaderboard_page),
    ("/tiers", "GET", _lookup("slow", doors.get_tiers)),
    ("/seasons", "GET", _lookup("readers", doors.seasons)),
    ("/seasons/{name:path}", "GET", get_season),
    ("/watch", "GET", _lookup("slow", doors.watch)),
    ("/judges", "GET", _lookup("slow", doors.judges)),
    ("/health", "GET", _lookup("readers", doors.health)),
    ("/metrics", "GET", get_metrics),
)


async def _refuse(request: Request, error: Any) -> JSONResponse:
    """Why a request was not carried out, in a sentence."""
    if isinstance(error, RequestValidationError):
        return refusal(422, say.one_sentence(error.errors()))
    if isinstance(error, HTTPException):
        words = {404: f"There is nothing at {request.url.path!r:.80}; /openapi.json says what there is.",
                 405: f"{request.url.path!r:.80} does not take {request.method}.",
                 400: "The body of the request cannot be read."}  # fmt: skip
        sentence = str(error.detail)
        plain = sentence in ("Not Found", "Method Not Allowed") or error.status_code == 400
        sentence = words[error.status_code] if plain else sentence
        return refusal(error.status_code, sentence, **dict(error.headers or {}))
    if isinstance(error, InputError) and not isinstance(error, UnreachableError):
        return refusal(422, " ".join(str(error).split()))
    log.error("%s", error)
    if isinstance(error, UnreachableError):
        return refusal(503, " ".join(str(error).split()), **{"Retry-After": "1"})
    return refusal(503, f"The book cannot be read or written: {error.strerror or 'the disk refuses'}.")


REFUSED: tuple[Any, ...] = (RequestValidationError, UnreachableError, InputError, OSError, HTTPException)
"""What a request may fail by, which is said."""


def own_queue() -> Any:
    """The loop of one of several processes: connections wait for it in a queue of its own.

    Of a queue that all share the first process that looks takes whoever waits, and then serves nearly everyone.
    """
    import uvloop

    class Loop(uvloop.Loop):
        async def create_server(self, *words: Any, sock: socket.socket, **more: Any) -> Any:
            """Listen at the address of the service."""
            settings = Settings.handed_over()
            sock = listen_at(settings.host, settings.port, WHO, shared=True)
            return await super().create_server(*words, sock=sock, **more)

    return Loop()


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until told to end (SIGTERM, Ctrl-C); ``announce`` is called with the address once the port is open."""
    listener = listen_at(settings.host, settings.port, WHO)
    sockets, settings = [listener], replace(settings, port=listener.getsockname()[1])
    try:
        with open_book(settings) as book:  # what is wrong with it is said before anybody asks
            large = book._carrying.is_large()
        options: dict[str, Any] = {
            **GUARDED, "factory": True, "ws": "none", "timeout_graceful_shutdown": LAST_SECONDS,
        }  # fmt: skip
        with Beside(open_book, settings) as beside:
            if large:  # else it would start among forecasts
                beside.begin()
            settings = replace(settings, beside=beside.address)
            settings.hand_over()
            if settings.workers > 1:
                announce(settings.address)
                if sys.platform == "linux":
                    sockets.append(share(listener, WHO))
                    options["loop"] = OWN_QUEUE
                uvicorn.run(
                    APP, fd=listener.fileno(), workers=settings.workers, timeout_worker_healthcheck=LAST_SECONDS,
                    **options,
                )  # fmt: skip
            else:
                ReadyServer(uvicorn.Config(APP, **options), lambda: announce(settings.address)).run(sockets=sockets)
    except KeyboardInterrupt:
        pass
    finally:
        for one in sockets:
            one.close()
