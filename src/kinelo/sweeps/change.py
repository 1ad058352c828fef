"""A study with some of its keys set to other values."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from kinelo.errors import InputError


def changed(content: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A study with some of its keys set.

    >>> changed({"gamma": 0.1, "outcome": {"kind": "tanh", "nu": 1}}, {"outcome.nu": 2})
    {'gamma': 0.1, 'outcome': {'kind': 'tanh', 'nu': 2}}
    """
    content = copy.deepcopy(dict(content))
    for name, value in settings.items():
        *sections, key = name.split(".")
        place = content
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise InputError(f"{section!r} of {name!r} is a value and has no keys.")
        place[key] = value
    return content
