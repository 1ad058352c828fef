"""``kinelo devices``: what there is to compute on."""

from dataclasses import asdict
from typing import Annotated

import typer

from kinelo.cli.streams import echo_json


def devices(as_json: Annotated[bool, typer.Option("--json", help="Print the devices as JSON.")] = False) -> None:
    """List the processor and the graphics processor, and say what is missing where one cannot be used.

    Example:  kinelo devices
    """
    from kinelo.runtime.device import devices as found

    if as_json:
        echo_json([asdict(device) for device in found()])
        return
    for device in found():
        typer.echo(str(device))
