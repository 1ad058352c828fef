"""The reference of public names: a page per package, a section per module, each with its equation."""

import kinelo
from site_tools.equations import standing

PACKAGES = {
    "model": ("The model", "Outcomes, pairings, strengths, step rules, schedules, and how strengths move."),
    "micro": ("Simulation", "Matches one by one."),
    "macro": ("The kinetic equation", "A density of teams in (θ, σ, r)."),
    "theory": ("The settled state", "Where ratings end up, how noisy they are, how long it takes."),
    "advice": ("Advice", "What the numbers mean for someone who runs a league."),
    "matches": ("Matches", "Files in, matches out."),
    "raters": ("Raters", "Ratings of real matches: all have `fit`, `update`, `predict` and `ratings_`."),
    "forecasts": ("Forecasts", "What is said before a match, and how good it was."),
    "decisions": ("Decisions", "What to play next, and when to stop."),
    "book": ("Rating books", "Ratings kept on disk."),
    "pages": ("Pages to share", "Ratings as one HTML file that needs no server."),
    "sweeps": ("Sweeps", "One function at many points."),
    "runtime": ("Devices", "What there is to compute on."),
    "errors": ("Errors and warnings", "What goes wrong, in one sentence."),
    "plot": ("Pictures", "Every picture under a short name; the [gallery](../gallery.md) shows them."),
}
"""Package of kinelo: the title of its page, and what is in it. A name from a package not listed here has no page."""

EVERY_NAME = (
    "`import kinelo as kn` gives the names that most people need; the others stand in its modules, which load when "
    "first touched. [What is public](../stability.md) keeps its name."
)

MODULE = """
::: {module}
    options:
      members: []
      show_root_heading: false
      show_root_toc_entry: false
"""
NAME = """
::: {module}.{name}
    options:
      heading: "{shown}"
      toc_label: "{shown}"
      show_root_heading: true
      heading_level: 2
"""


def public_names() -> dict[str, str]:
    """Every public name as one types it (``kn.Tanh``, ``kn.theory.Tracking``), and the module that it lives in."""
    found = {f"kn.{name}": module for name, module in kinelo._MODULE_OF.items()}
    for package in sorted(kinelo._PACKAGES - {"plot", "errors", "studies"}):
        modules = getattr(getattr(kinelo, package), "_MODULE_OF", {})
        found |= {f"kn.{package}.{name}": module for name, module in modules.items()}
    found["kn.errors.NoStationaryState"] = "kinelo.errors"
    return found | {f"kn.plot.{name}": "kinelo.plot" for name in kinelo.plot.__all__}


def pages() -> dict[str, str]:
    """The reference as Markdown, by the address of each page; every public name must have found its place."""
    names = public_names()
    missing = sorted({package_of(module) for module in names.values()} - set(PACKAGES))
    if missing:
        raise LookupError(f"site_tools/reference.py has no page for {', '.join(missing)}: add it to PACKAGES")
    made = {
        "reference/names.md": f"# Every name\n\n{EVERY_NAME}\n\n{_table(dict(sorted(names.items(), key=_by_name)))}\n"
    }
    for package, (title, meaning) in PACKAGES.items():
        here = {shown: module for shown, module in names.items() if package_of(module) == package}
        sections = []
        for module in dict.fromkeys(here.values()):
            sections.append(MODULE.format(module=module))
            those = [shown for shown, home in here.items() if home == module]
            sections += [NAME.format(module=module, name=shown.split(".")[-1], shown=shown) for shown in those]
        made[f"reference/{package}.md"] = f"# {title}\n\n{meaning}\n\n{_table(here)}\n" + "".join(sections)
    return made


def _by_name(item: tuple[str, str]) -> tuple[int, str]:
    """Names under ``kn.`` first, then those of its packages, each by the alphabet."""
    return item[0].count("."), item[0].lower()


def _table(names: dict[str, str]) -> str:
    rows = [
        f"| [`{shown}`][{module}.{name}] | {summary(module, name)} | {standing(name)} |"
        for shown, module in names.items()
        for name in [shown.split(".")[-1]]
    ]
    return "\n".join(["| name | what it is | equation, and where it stands |", "|---|---|---|", *rows])


def package_of(module: str) -> str:
    """The folder below kinelo in which a module stands."""
    return module.split(".")[1]


def summary(module: str, name: str) -> str:
    """The first line of a name's docstring."""
    import importlib

    text = getattr(importlib.import_module(module), name).__doc__ or ""
    line = text.strip().split("\n\n")[0].replace("\n", " ")
    from site_tools.roles import plain

    return plain(" ".join(line.split())).replace("|", "∣")
