"""Tables of results of several leagues, each once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.state import Setting
from kinelo.model.law import fingerprint
from kinelo.play.tables import ResultTable, result_table
from kinelo.runtime.memory import check_memory


def tables_of(leagues: Sequence[Setting]) -> tuple[list[ResultTable], NDArray[np.uint64]]:
    """Every table that leagues of one size need, once, and which of them each league has."""
    found: dict[str | int, int] = {}
    names = [fingerprint(one.system.outcome, one.strengths) or k for k, one in enumerate(leagues)]
    which = [found.setdefault(name, len(found)) for name in names]
    teams = leagues[0].strengths.teams
    check_memory(16.0 * len(found) * teams * (teams - 1), f"{len(found):,} tables of results", "use fewer teams")
    first = [leagues[which.index(k)] for k in range(len(found))]
    return [result_table(one.system.outcome, one.strengths) for one in first], np.array(which, dtype=np.uint64)
