"""What all sections of a study file share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A section accepts its own keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
