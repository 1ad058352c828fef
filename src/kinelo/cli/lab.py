"""``kinelo lab``: the page in the browser."""

import os
from pathlib import Path
from typing import Annotated

import typer


def lab(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback demands a token.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    paper: Annotated[Path, typer.Option(help="Folder of the reproduction shown and made in the Paper tab.")] = Path(
        "reproduction"
    ),
) -> None:
    """Open the lab: watch ratings move, rate your own league, see the paper's figures.

    Example:  kinelo lab --port 8000
    """
    from kinelo.errors import InputError
    from kinelo.runtime.extras import LAB, require

    if not 0 <= port <= 65535:
        raise InputError(f"--port must lie between 0 and 65535, not at {port}.")
    # Many small matrices at once: threads inside each product would only get in each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    require(*LAB)
    from kinelo.lab.serve.settings import Settings, open_socket

    settings = Settings(host=host, port=port, paper=paper)
    listener = open_socket(settings)
    from kinelo.lab.serve.server import serve

    serve(
        settings,
        listener,
        browser=browser,
        announce=lambda address: typer.echo(f"The lab is open at {address}  (Ctrl-C ends it)"),
    )
