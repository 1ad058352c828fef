"""Benchmarks over versions: a table and a picture of what ``benchmarks/history.py`` measured for each release."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "benchmarks" / "history"
PICTURE = "history.png"
HEAD = """# Benchmarks over versions

What the same few tasks take in each release. All releases were measured in turns on one idle machine ({machine}), in
processor time on one core, the best of two turns. Turns of one version differ by up to 60 %, so only changes by a
factor mean something. Raters are compared with other packages in [the benchmarks](benchmarks.md).

![Time of each task relative to version {first}](history.png)

"""
TAIL = """
Each release has its file in `benchmarks/history/`. `python benchmarks/history.py` on an idle machine measures all of
them again and adds this version.
"""
SLOWER = 1.6
"""A task is called slower where it takes so many times what an earlier release took."""

REASONS = {
    "diagnosis of 200 teams": "Since 0.4 each remedy is solved, with its noise, to find what lowers the error most.",
    "TeamElo, fit on 10,000 matches": "Since 0.3 derivatives of the loss come from raters a little apart, which go "
    "side by side through the one loop that rates; before, they were written out for every parameter, in a loop of "
    "their own that had to be kept equal to it.",
    "Glicko, fit on 10,000 matches": "Since 0.2 home advantage and draws drift and forecasts have a scale of their "
    "own: seven parameters are estimated, four before.",
    "KalmanElo, fit on 10,000 matches": "Since 0.3 the draw band and the sharpness drift, with parameters that are "
    "estimated, and the search takes derivatives from raters a little apart, as that of TeamElo does.",
    "KalmanElo, a match of 60 sides ahead": "Since 0.3 days whose order nothing tells are forecast from their start, "
    "so that most matches are looked at twice.",
    "reading 10,000 matches": "Since 0.3 days are put in order; since 0.4 names that may be one side are looked for.",
}
"""Why tasks are slower than they were."""


def releases() -> list[dict]:
    """What was measured, the oldest release first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]
    return sorted(found, key=lambda one: tuple(map(int, one["version"].split("."))))


def page(*, drawn: bool = True) -> tuple[str, bytes]:
    """The page as Markdown, and its picture, empty where it is not ``drawn``."""
    known = releases()
    versions = [one["version"] for one in known]
    rows = ["| task | " + " | ".join(versions) + " |", "|---|" + "---:|" * len(versions)]
    for task in known[-1]["measures"]:
        rows.append(f"| {task} | " + " | ".join(_shown(one["measures"][task]) for one in known) + " |")
    head = HEAD.format(machine=known[-1]["machine"], first=versions[0])
    text = head + "\n".join(rows) + "\n" + slower(known) + TAIL
    return text, style.picture_bytes(picture(known)) if drawn else b""


def slower(known: list[dict]) -> str:
    """What takes longer in the latest release than in some release before it, and why."""
    lines = []
    for task, now in known[-1]["measures"].items():
        quickest = min(known[:-1], key=lambda one: one["measures"][task]["value"], default=known[-1])
        before = quickest["measures"][task]
        if now["value"] > SLOWER * before["value"]:
            reason = REASONS.get(task, "The cause has not been found.")
            lines.append(f"- **{task}**: {_shown(now)}, {_shown(before)} in {quickest['version']}. {reason}")
    return "\n## What became slower, and why\n\n" + "\n".join(lines) + "\n" if lines else ""


def picture(known: list[dict]) -> "Figure":
    """One line per task: its time relative to the first release, on a logarithmic axis."""
    versions = [one["version"] for one in known]
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.6)
        axes = figure.subplots()
        for task, first in known[0]["measures"].items():
            times = [one["measures"][task]["value"] / first["value"] for one in known]
            axes.plot(range(len(versions)), times, marker="o", markersize=3, label=task)
        axes.set_yscale("log", base=2)
        axes.set_xticks(range(len(versions)), versions)
        axes.set_ylabel(f"time / time of {versions[0]}")
        axes.axhline(1.0, color=style.GREY, linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return figure


def _shown(measure: dict) -> str:
    value, unit = measure["value"], measure["unit"]
    return f"{value * 1000:.3g} ms" if unit == "s" and value < 1 else f"{value:.3g} {unit}"
