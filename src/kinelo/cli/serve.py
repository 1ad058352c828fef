"""``kinelo serve``: a rating book over HTTP and JSON."""

import os
from typing import Annotated

import typer


def serve(
    book: Annotated[
        str, typer.Argument(help="A rating book, as kinelo rate --book keeps it: a file, or postgresql://…")
    ],
    rater: Annotated[
        str | None,
        typer.Option(help="Start a new book with this rater: team, glicko, … or MODULE:CLASS, such as kinelo:RankElo."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback demands KINELO_TOKEN.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.")] = 8000,
    workers: Annotated[int, typer.Option(help="Processes that answer.")] = 1,
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
    from pathlib import Path

    from kinelo.service.serving import serve as serve_book
    from kinelo.service.settings import Settings

    settings = Settings(book, rater, host, port, workers)
    with disk_errors_in_words(Path(book)):
        serve_book(settings, lambda address: typer.echo(f"The book is served at {address}  (Ctrl-C ends it)"))
