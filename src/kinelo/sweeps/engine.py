"""Where the lines of a sweep are computed: in this process, or on the workers of a Dask client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kinelo.errors import in_one_line
from kinelo.runtime.workers import answers
from kinelo.sweeps.point import Line, PointResult, run_line

if TYPE_CHECKING:
    from distributed import Client


def results_of(
    function: Callable[..., Any], lines: Sequence[Line], continued: bool, client: Client | None
) -> Iterator[list[PointResult]]:
    """Yield every line as it ends; one that no worker could compute is a line of failed points.

    A batch that no worker could compute is tried again point by point.
    """
    if client is None:
        yield from (run_line(line, function, continued) for line in lines)
        return
    again: list[Line] = []
    for k, result in answers(client, run_line, lines, function, continued):
        if not isinstance(result, BaseException):
            yield result
        elif continued or len(lines[k]) == 1:
            yield [PointResult(index, None, in_one_line(result)) for index, _ in lines[k]]
        else:
            again += [[point] for point in lines[k]]
    if again:
        yield from results_of(function, again, continued, client)
