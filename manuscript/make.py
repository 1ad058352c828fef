"""Write ``kinelo.pdf``: compute what is missing or stale, draw, set the text. ``--again`` computes everything."""

from __future__ import annotations

import sys

import typst

from drawings import draw_all
from evidence import NoData
from store import HERE, update


def main() -> None:
    """Do all three."""
    try:
        update(again="--again" in sys.argv[1:])
    except NoData as error:
        sys.exit(f"{error} Stored results are of another state of Kinelo: the manuscript is not built from them.")
    draw_all()
    typst.compile(str(HERE / "kinelo.typ"), output=str(HERE / "kinelo.pdf"), root=str(HERE))
    print("manuscript/kinelo.pdf")


if __name__ == "__main__":
    main()
