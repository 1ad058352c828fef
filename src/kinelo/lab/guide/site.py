"""The guided visit as one page that needs no server: the lab's scenes, drawn beforehand, with its scripts.

The page holds everything but plotly.js, which lies beside it, so it also opens from a disk.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from kinelo.lab.guide.laws import UNITS
from kinelo.lab.guide.scenes import described_scenes, scene_pictures, scenes

PLOTLY = "plotly.min.js"
STYLES = ("theme.css", "layout.css", "parts.css", "guide.css")
SCRIPTS = ("words.js", "charts.js", "guide.js", "guide_site.js")
"""Modules in the order in which they need one another."""
STATIC = files("kinelo.lab") / "static"

GUIDE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="What ratings do when strength varies: seven scenes, five minutes.">
<title>Kinelo: a guided visit</title>
<style>
{styles}
</style>
<script>{first}</script>
<script src="{plotly}" defer></script>
</head>
<body>
<header class="top"><p class="brand">Kinelo <span>a guided visit</span></p>
<a href="{home}" class="connection">Documentation</a></header>
<main id="content"><section id="guide"><h1>What variable strength does to ratings</h1>
<noscript><p>The scenes need JavaScript to draw.</p></noscript></section></main>
<div id="toast" class="toast" role="alert" hidden></div>
<script type="application/json" id="guide-data">{data}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""


def plotly_script() -> bytes:
    """plotly.js of the installed package."""
    return (files("plotly") / "package_data" / PLOTLY).read_bytes()


def guide_page(doors: list[dict[str, str]], home: str, *, drawn: bool = True) -> str:
    """The page; ``doors`` say where it leads to. Without ``drawn`` nothing is computed, and the scenes are empty."""
    data: dict[str, Any] = {"scenes": described_scenes() if drawn else [], "pictures": {}, "doors": doors}
    if drawn:
        numbers = range(1, len(scenes()) + 1)
        data["pictures"] = {f"{number}-{units}": scene_pictures(number, units) for number in numbers for units in UNITS}
    return GUIDE_PAGE.format(
        styles="\n".join(_text(name) for name in STYLES),
        first=_text("first.js"),
        plotly=PLOTLY,
        home=home,
        data=json.dumps(data, ensure_ascii=False, allow_nan=False).replace("</", "<\\/"),
        script="\n".join(_alone(_text(name)) for name in SCRIPTS),
    )


def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _alone(script: str) -> str:
    """A module without its imports and exports: all of them stand in one scope, under names of their own."""
    return re.sub(r"^export ", "", re.sub(r"^import .*\n", "", script, flags=re.MULTILINE), flags=re.MULTILINE)
