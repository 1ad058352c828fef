"""The interface of the Rate tab. Uploads are streamed to a file whose name the server makes up, and read elsewhere."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from kinelo.errors import InputError
from kinelo.lab.rate.reading import ASKED_COLUMNS, RateNumbers, ReadingPanel, read_raised, read_rules
from kinelo.lab.rate.tables import FIELDS
from kinelo.lab.serve.jobs import WorkerDied
from kinelo.lab.serve.pages import Page, ending, read_object

TABLE_KINDS = tuple(FIELDS)
DOWNLOADS = ("leaderboard", "ratings", "histories", "forecasts", "rejects")
LONGEST_NAME = 80


def _page(request: Request) -> Page:
    return request.app.state.pages.find(request.path_params["page"])


async def _ask(page: Page, task: str, **arguments: Any) -> Response:
    """Have the page's worker do something; one that died is replaced by one that knows the same tables and ratings."""
    await page.league.restored(page.jobs, page.key)
    answer = await page.jobs.ask(page.key, "rating", task, page.report("rating"), **arguments)
    page.league.note(task, arguments, answer)
    return JSONResponse(answer)


async def _receive(request: Request) -> Response:
    """Take a table or a session and have the page's worker read it.

    What it holds is kept in files that a later worker can read.
    """
    page, limits, kind = _page(request), request.app.state.settings.limits, request.path_params.get("kind")
    if kind is not None and kind not in TABLE_KINDS:
        raise InputError(f"A table holds {', '.join(TABLE_KINDS)}, not {kind!r}.")
    name = shown_name(request.query_params.get("name", ""))
    if page.uploading:
        raise InputError("Another file of this page is still on its way; one at a time.")
    page.uploading = True
    path = page.folder / secrets.token_hex(8)
    keep = {one: str(page.folder / secrets.token_hex(8)) for one in ([kind] if kind else TABLE_KINDS)}
    size = 0
    try:
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limits.upload_bytes:
                    raise HTTPException(413, f"{name} is larger than {limits.upload_bytes // 2**20} MB.")
                file.write(chunk)
        if size == 0:
            raise InputError(f"{name} is empty.")
        task, kept = ("look", {"kind": kind, "keep": keep[kind]}) if kind else ("open_session", {"keep": keep})
        return await _ask(page, task, path=str(path), name=name, rows=limits.rows, columns=limits.columns, **kept)
    except WorkerDied:
        for file in keep.values():
            Path(file).unlink(missing_ok=True)
        raise InputError(f"{name} could not be read: the process that read it died. Nothing else is lost.") from None
    finally:
        page.uploading = False
        for suffix in ("", ".csv", ".parquet"):  # a reader that died leaves what it renamed
            path.with_suffix(suffix).unlink(missing_ok=True)


def shown_name(given: str) -> str:
    """A file name fit to be shown: never used as a path.

    >>> shown_name("../../etc/passwd"), shown_name("")
    ('passwd', 'the file')
    """
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[:LONGEST_NAME].strip() or "the file"


async def _prepare(request: Request) -> Response:
    page = _page(request)
    await page.league.restored(page.jobs, page.key)
    return JSONResponse({})


async def _sample(request: Request) -> Response:
    return await _ask(_page(request), "sample", name=request.query_params.get("name", "football"))


async def _forget(request: Request) -> Response:
    return await _ask(_page(request), "forget", kind=request.path_params["kind"])


async def _rate(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    asked, rater = _asked(body), body.get("rater")
    if not isinstance(rater, str):
        raise InputError("The rater must be a name.")
    return await _ask(page, "rate", rater=rater, stated=body.get("stated") is True, **asked)


def _asked(body: dict[str, Any]) -> dict[str, Any]:
    """How the file is to be read: which columns are what, conditions, circumstances of luck, or covariates."""
    columns = body.get("columns")
    if not isinstance(columns, dict) or not all(isinstance(name, str) for name in columns.values()):
        raise InputError("Columns must be an object of names.")
    asked: dict[str, Any] = {"columns": columns, "reading": ReadingPanel.read(body.get("reading", {})).to_dict()}
    for what in ASKED_COLUMNS:
        names = asked[what] = body.get(what, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) > 8:
            raise InputError(f"{what} must be a list of at most 8 columns.")
    return asked


async def _in_folder(page: Page, job: str, **asked: Any) -> Response:
    """Hand the league that was rated over to a process beside it, and return what that says; work of the same kind
    under way gives way."""
    await page.jobs.end(page.key, job)
    folder = page.folder / secrets.token_hex(8)
    folder.mkdir()
    try:
        wanted = {"folder": str(folder), "by": asked.get("by", ""), "of_matches": job == "compare"}
        handed = await _ask(page, "hand_over", **wanted)
        asked |= {"folder": str(folder), "handed": json.loads(bytes(handed.body))}
        return JSONResponse(await page.jobs.ask(page.key, job, job, page.report(job), **asked))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _check(request: Request) -> Response:
    return await _ask(_page(request), "check", **_asked(await read_object(request)))


def _about(task: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers a question about one name."""

    async def ask(request: Request) -> Response:
        page, body = _page(request), await read_object(request)
        if not isinstance(body.get("name"), str):
            raise InputError("The name must be text.")
        return await _ask(page, task, name=body["name"])

    return ask


async def _odds(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    points, rules, best = read_raised(body.get("points", {})), read_rules(body.get("rules")), body.get("best")
    if best not in (2, 4, 8, 16, 32):
        raise InputError("The best are 2, 4, 8, 16 or 32.")
    kind = body.get("kind")
    if not isinstance(kind, str):
        raise InputError("The kind must be text.")
    fixtures = body.get("fixtures") is True
    return await _ask(page, "odds", kind=kind, points=points, rules=rules, best=best, fixtures=fixtures)


async def _next(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    if not isinstance(body.get("target"), str):
        raise InputError("The target must be text.")
    asked = {name: RateNumbers.number(name, body.get(name)) for name in ("count", "size")}
    return await _ask(page, "next", target=body["target"], **asked)


async def _compare(request: Request) -> Response:
    """Compare raters on the league that was rated."""
    return await _in_folder(_page(request), "compare")


def _made(path: Path, name: str) -> Response:
    """A file that was made for this answer, and is removed once it is sent."""
    sent = BackgroundTask(path.unlink, missing_ok=True)
    return FileResponse(path, filename=f"kinelo-{name}", background=sent)


async def _save_session(request: Request) -> Response:
    page = _page(request)
    path = page.folder / secrets.token_hex(8)
    await _ask(page, "save", path=str(path))
    return _made(path, "session.json")


async def _download(request: Request) -> Response:
    page, name = _page(request), request.path_params["name"]
    if name not in DOWNLOADS:
        raise HTTPException(404, f"there is no table {name!r}; there are {', '.join(DOWNLOADS)}.")
    path = page.folder / secrets.token_hex(8)
    await _ask(page, "write", name=name, path=str(path))
    return _made(path, f"{name}.csv")


async def _share(request: Request) -> Response:
    """A page to share: of the ratings, or of the audit."""
    page, what = _page(request), request.path_params["what"]
    path = page.folder / secrets.token_hex(8)
    if what == "ratings":
        await _ask(page, "share", path=str(path))
    elif what == "audit":
        await page.jobs.ask(page.key, "audit", "share", path=str(path))
    else:
        raise HTTPException(404, f"There is no page {what!r}; there are ratings and audit.")
    return _made(path, f"{what}.html")


async def _rank(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    days, caution = body.get("active_days"), body.get("caution")
    least = RateNumbers.number("least_matches", body.get("least_matches"))
    period = body.get("period")
    if period is not None and not (_is_number(period) and 1 <= period <= 36_525):
        raise InputError("A period is a number of days, from 1 on.")
    if not _is_number(caution) or not (days is None or _is_number(days)):
        raise InputError("A ranking takes numbers: active_days (or null) and caution.")
    return await _ask(page, "rank", active_days=days, least_matches=least, caution=caution, period=period)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e9 < value < 1e9


async def _audit(request: Request) -> Response:
    """Audit the league that was rated: plain Elo with a K or a rater, and by group where that is asked for."""
    page, body = _page(request), await read_object(request)
    asked = {name: body.get(name, "") for name in ("rater", "by", "reference")}
    if not all(isinstance(name, str) for name in asked.values()):
        raise InputError("Rater, groups and reference must be names.")
    return await _in_folder(page, "audit", k=RateNumbers.number("k", body.get("k")), **asked)


async def _predict(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    home, away = body.get("home"), body.get("away")
    if not isinstance(home, str) or not isinstance(away, str):
        raise InputError("home and away must be names.")
    levels = _levels(body)
    return await _ask(page, "predict", home=home, away=away, neutral=body.get("neutral") is True, conditions=levels)


def _levels(body: dict[str, Any]) -> dict[str, str]:
    levels = body.get("conditions", {})
    if not isinstance(levels, dict) or not all(isinstance(level, str) for level in levels.values()):
        raise InputError("Conditions must be an object of names.")
    return levels


async def _field(request: Request) -> Response:
    page, body = _page(request), await read_object(request)
    entrants = body.get("entrants")
    if not isinstance(entrants, list) or not all(
        isinstance(entrant, list)
        and all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in entrant)
        for entrant in entrants
    ):
        raise InputError("Entrants must be a list; each is a list of names for every kind.")
    return await _ask(page, "field", entrants=entrants, conditions=_levels(body))


routes = [
    Route("/api/pages/{page}/league/prepare", _prepare, methods=["POST"]),
    Route("/api/pages/{page}/league/tables/{kind}", _receive, methods=["POST"]),
    Route("/api/pages/{page}/league/tables/{kind}", _forget, methods=["DELETE"]),
    Route("/api/pages/{page}/league/session", _receive, methods=["POST"]),
    Route("/api/pages/{page}/league/session.json", _save_session, methods=["GET"]),
    Route("/api/pages/{page}/league/sample", _sample, methods=["POST"]),
    Route("/api/pages/{page}/league/rate", _rate, methods=["POST"]),
    Route("/api/pages/{page}/league/check", _check, methods=["POST"]),
    Route("/api/pages/{page}/league/team", _about("team"), methods=["POST"]),
    Route("/api/pages/{page}/league/why", _about("why"), methods=["POST"]),
    Route("/api/pages/{page}/league/odds", _odds, methods=["POST"]),
    Route("/api/pages/{page}/league/next", _next, methods=["POST"]),
    Route("/api/pages/{page}/league/compare", _compare, methods=["POST"]),
    Route("/api/pages/{page}/league/compare", ending("compare"), methods=["DELETE"]),
    Route("/api/pages/{page}/league/{what}.html", _share, methods=["GET"]),
    Route("/api/pages/{page}/league/rank", _rank, methods=["POST"]),
    Route("/api/pages/{page}/league/audit", _audit, methods=["POST"]),
    Route("/api/pages/{page}/league/audit", ending("audit"), methods=["DELETE"]),
    Route("/api/pages/{page}/league/predict", _predict, methods=["POST"]),
    Route("/api/pages/{page}/league/field", _field, methods=["POST"]),
    Route("/api/pages/{page}/league/{name}.csv", _download, methods=["GET"]),
]
