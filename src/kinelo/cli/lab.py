"""``kinelo lab``: the page in the browser."""

import os
from pathlib import Path
from typing import Annotated

import typer


def lab(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback demands a token.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    share: Annotated[bool, typer.Option("--share", help="Let others on this network in: address and QR code.")] = False,
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
    require(*LAB, *(("segno",) if share else ()))
    from kinelo.lab.serve.settings import Settings, open_socket
    from kinelo.runtime.listening import is_loopback, network_address

    if share and is_loopback(host):
        network_address()  # refuses where there is no network
        host = "0.0.0.0"
    settings = Settings(host=host, port=port, paper=paper, shared=share)
    listener = open_socket(settings)
    from kinelo.lab.serve.server import serve

    def announce(address: str) -> None:
        typer.echo(f"The lab is open at {address}  (Ctrl-C ends it)")
        if share:
            from kinelo.lab.serve.sharing import code_as_text

            typer.echo(f"Whoever has this address gets in. With a phone on the same network:\n{code_as_text(address)}")

    serve(settings, listener, browser=browser, announce=announce)
