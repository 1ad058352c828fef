"""The figures of the paper and of the models beside it, drawn at the quick scale for the gallery.

Runs are kept below ``build/``: what was computed once and has not changed is only drawn again.
"""

from pathlib import Path

from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.reproduce import reproduce

HEAD = """# Figures of the paper

The twelve figures of [the reproduction](reproduction.md) and those of the models beside the paper's, at the quick
scale: fewer matches, coarser cells. `kinelo reproduce` draws the same at the paper's
scale. From Python, for one of them:

```py
from pathlib import Path

from kinelo.paper.figure import read_figures
from kinelo.paper.reproduce import reproduce

reproduce(read_figures(scale="quick", wanted=[7]), Path("look"), scale="quick")  # look/figures/figure-07.png
```
"""
PARTS = {
    "paper": ("The paper's figures", "kinelo reproduce --scale quick --figure {number} --out look"),
    "neighbours": ("Models beside the paper's", "kinelo reproduce --what neighbours --scale quick --out look"),
}


def page(folder: Path, *, drawn: bool = True) -> tuple[str, dict[str, bytes]]:
    """The page and its pictures by name; without them where they are not to be drawn."""
    parts, pictures = [HEAD], {}
    for what, (title, command) in PARTS.items():
        figures = read_figures(scale="quick", what=what)
        parts.append(f"## {title}")
        if drawn:
            reproduce(figures, folder / what, scale="quick")
        for figure in figures:
            line = command.format(number=figure.number)
            parts.append(f"### {figure.title}\n\nAt the paper's scale: {figure.caption}\n\n```sh\n{line}\n```")
            if drawn:
                name = f"{what}-{figure.number:02d}.png"
                pictures[name] = (folder / what / "figures" / f"{figure.name}.png").read_bytes()
                parts.append(f"![{alternative(figure)}]({name})")
    return "\n\n".join(parts) + "\n", pictures


def alternative(figure: FigureStudy) -> str:
    """What stands where the picture cannot be seen."""
    return figure.title.replace("[", "(").replace("]", ")")
