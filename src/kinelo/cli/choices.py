"""Choices that several commands offer."""

from enum import StrEnum
from typing import Annotated

import typer

AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Let the study import laws of its own (MODULE:CLASS), which runs their code."),
]


class Device(StrEnum):
    """Where a run is carried out."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"
