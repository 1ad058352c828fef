"""Choices that several commands offer."""

from enum import StrEnum


class Device(StrEnum):
    """Where a run is carried out."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"
