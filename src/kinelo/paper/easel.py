"""Drawing in a process of its own, so that the next runs need not wait for it.

Evidence is sent without its classes: where they are defined theory is computed, whose modules take longer to load than
the drawing of a figure takes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kinelo.errors import InputError
from kinelo.paper.aside import Aside, Failed, serve
from kinelo.paper.catalogue import drawing
from kinelo.pictures.style import arrange, picture_bytes

if TYPE_CHECKING:
    from kinelo.paper.figure import Scale

FORMATS: Mapping[Scale, Sequence[str]] = {"full": ("png", "pdf"), "quick": ("png",)}
"""Files of a figure: what goes to a printer is worth its time only where the numbers are the final ones."""

Pictures = Mapping[str, bytes]


class Easel:
    """``draw`` returns at once with the promise of a picture; use as a context manager."""

    def __enter__(self) -> Easel:
        self._aside = Aside("kinelo.paper.easel").__enter__()
        self._pool = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._aside.__exit__()

    def draw(self, name: str, evidence: object, scale: Scale = "full") -> Future[Pictures]:
        """Have the drawing ``name`` made from the evidence, as the bytes of a file in each format."""
        return self._pool.submit(self._drawn, name, evidence, scale)

    def _drawn(self, name: str, evidence: object, scale: Scale) -> Pictures:
        try:
            return self._aside.ask(name, unclassed(evidence), scale).result()
        except KeyError as missing:
            raise InputError(f"the drawing {name!r} needs a run named {missing}.") from None
        except Failed as failure:
            raise RuntimeError(f"Drawing {name!r} failed:\n{failure}") from None


def unclassed(evidence: Any) -> Any:
    """The evidence with its numbers under their names, but of no class that would have to be imported.

    >>> from dataclasses import make_dataclass
    >>> unclassed({"σ = 1": make_dataclass("Run", ["slope"])(0.9)})
    {'σ = 1': namespace(slope=0.9)}
    """
    if is_dataclass(evidence):
        return SimpleNamespace(**{one.name: unclassed(getattr(evidence, one.name)) for one in fields(evidence)})
    if isinstance(evidence, Mapping):
        return {name: unclassed(part) for name, part in evidence.items()}
    return evidence


def paint(name: str, evidence: object, scale: Scale = "full") -> Pictures:
    """Draw in this process."""
    figure = drawing(name)(evidence)
    arrange(figure)
    return {kind: picture_bytes(figure, kind) for kind in FORMATS[scale]}


if __name__ == "__main__":
    # What every drawing needs is loaded while the first is not yet asked for.
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    serve(paint, sys.stdin.buffer, sys.stdout.buffer)
