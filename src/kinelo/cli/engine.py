"""Options of commands that can compute elsewhere."""

from typing import Annotated

import typer

Workers = Annotated[int | None, typer.Option(min=1, help="Compute in so many processes (kinelo[dask]).")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, whose workers compute.")
]
