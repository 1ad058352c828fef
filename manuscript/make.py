"""Write ``kinelo.pdf``: compute what is missing, draw the pictures, set the text. ``--again`` computes everything."""

from __future__ import annotations

import sys

import typst

from drawings import draw_all
from store import HERE, update


def main() -> None:
    """Do all three."""
    for line in update(again="--again" in sys.argv[1:]):
        print(line)
    draw_all()
    typst.compile(str(HERE / "kinelo.typ"), output=str(HERE / "kinelo.pdf"), root=str(HERE))
    print("manuscript/kinelo.pdf")


if __name__ == "__main__":
    main()
