"""What all sections of a study file share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from kinelo.errors import InputError


class Section(BaseModel):
    """A section accepts its own keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def built(section: str, part: Any) -> Any:
    """Build what a section describes; complaints name the section."""
    try:
        return part.build()
    except InputError as error:
        raise InputError(f"[{section}] {error}") from None
