"""``kinelo lab`` and ``serve``: servers; ``kinelo --devices``: what there is to compute on."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.options import grouped, option
from kinelo.errors import InputError


@grouped
def lab(
    port: int = option("Port to listen on; 0 takes any free one.", default=8000),
    host: str = option("Address to listen on; any but loopback demands a token.", default="127.0.0.1"),
    browser: bool = option("Open the page in a browser.", "--browser/--no-browser", default=True),
    share: bool = option("Let others on this network in: address and QR code.", "--share", default=False),
    paper: Path = option("Folder of the reproduction shown and made in the Paper tab.", default=Path("reproduction")),
) -> None:
    """Open the lab: watch ratings move, rate your own league, see the paper's figures.

    Example:  kinelo lab --port 8000
    """
    from kinelo.runtime.extras import LAB, require

    if not 0 <= port <= 65535:
        raise InputError(f"--port must lie between 0 and 65535, not at {port}.")
    # Many small matrices at once: threads inside each product would only get in each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    require(*LAB, *(("segno",) if share else ()))
    from kinelo.lab.serve.settings import Settings, open_socket
    from kinelo.runtime.listening import is_loopback, network_address

    if share and is_loopback(host):
        network_address()  # refuses where there is no network
        host = "0.0.0.0"
    settings = Settings(host=host, port=port, paper=paper, shared=share)
    listener = open_socket(settings)
    from kinelo.lab.serve.app import serve

    def announce(address: str) -> None:
        typer.echo(f"The lab is open at {address}  (Ctrl-C ends it)")
        if share:
            from kinelo.lab.serve.settings import code_as_text

            typer.echo(f"Whoever has this address gets in. With a phone on the same network:\n{code_as_text(address)}")

    serve(settings, listener, browser=browser, announce=announce)


@grouped
def serve(
    book: Annotated[
        str, typer.Argument(help="A rating book, as kinelo rate --book keeps it: a file, or postgresql://…")
    ],
    rater: str | None = option(
        "Start a new book with this rater: team, glicko, …; rank for teams and free-for-alls; or MODULE:CLASS."
    ),
    host: str = option("Address to listen on; any but loopback demands KINELO_TOKEN.", default="127.0.0.1"),
    port: int = option("Port to listen on; 0 takes any free one.", default=8000),
    workers: int = option("Processes that answer.", default=1),
    refit_every: int | None = option(
        "Learn the rater's parameters anew whenever so many matches or contests were added since."
    ),
) -> None:
    """Serve a rating book over HTTP and JSON: results come in, forecasts and ratings go out.

    Where the environment variable KINELO_TOKEN is set, every request must bring it (Authorization: Bearer …).

    Example:  kinelo serve ratings.db --rater glicko
    Example:  kinelo serve postgresql://ratings@localhost/ratings --workers 4
    """
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.runtime.extras import SERVE, require

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    require(*SERVE)
    from kinelo.book.database import is_server
    from kinelo.matches.kinds import CONTESTS, MATCHES
    from kinelo.raters.choice import RATERS_OF
    from kinelo.service.app import serve as serve_book
    from kinelo.service.settings import Settings

    if rater in RATERS_OF[CONTESTS] and rater not in RATERS_OF[MATCHES]:
        rater = f"kinelo:{RATERS_OF[CONTESTS][rater].kind}"
    settings = Settings(book, rater, host, port, workers, refit_every=refit_every)
    if rater is None and not is_server(book) and not Path(book).exists():
        raise InputError(f"There is no rating book {book}; name a rater to start one, such as --rater glicko or rank.")
    with disk_errors_in_words(Path(book)):
        serve_book(settings, lambda address: typer.echo(f"The book is served at {address}  (Ctrl-C ends it)"))
