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
    "book": ("Rating books", "Ratings kept on disk."),
    "sweeps": ("Sweeps", "One function at many points."),
    "runtime": ("Devices", "What there is to compute on."),
    "errors": ("Errors and warnings", "What goes wrong, in one sentence."),
    "plot": ("Pictures", "Every picture under a short name; the [gallery](../gallery.md) shows them."),
}
"""Package of kinelo: the title of its page, and what is in it. A name from a package not listed here has no page."""

MODULE = """
## `{module}`

::: {module}
    options:
      members: [{members}]
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 3
"""


def pages() -> dict[str, str]:
    """The reference as Markdown, by the address of each page; every public name must have found its place."""
    homes: dict[str, list[str]] = {}
    for name in kinelo.__all__:
        if name not in ("__version__", "plot"):
            homes.setdefault(kinelo._MODULE_OF[name], []).append(name)
    homes["kinelo.plot"] = list(kinelo.plot.__all__)
    missing = sorted({package_of(module) for module in homes} - set(PACKAGES))
    if missing:
        raise LookupError(f"site_tools/reference.py has no page for {', '.join(missing)}: add it to PACKAGES")
    made = {}
    for package, (title, meaning) in PACKAGES.items():
        modules = [module for module in homes if package_of(module) == package]
        sections = [MODULE.format(module=module, members=", ".join(homes[module])) for module in modules]
        listed = [
            f"| [`{name}`][{module}.{name}] | {summary(module, name)} | {standing(name)} |"
            for module in modules
            for name in homes[module]
        ]
        table = "\n".join(["| name | what it is | equation, and where it stands |", "|---|---|---|", *listed])
        made[f"reference/{package}.md"] = f"# {title}\n\n{meaning}\n\n{table}\n" + "".join(sections)
    return made


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
