"""Links of pages as they lie in the repository, and as they are on the site.

A page links to what exists in a clone: a tutorial's source, a package, the changelog. On the site those links lead to
the pages that are made of them.
"""

import posixpath
import re

LINK = re.compile(r"(?<=\]\()([^)#\s]+)(?=[)#])")
PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "benchmarks/RESULTS.md": "project/benchmarks.md",
    "benchmarks/history": "project/history.md",
    "verification/MEASURED.md": "project/measured.md",
    "docs/gallery.py": "gallery.md",
    "src/kinelo/__init__.py": "reference/names.md",
    "src/kinelo/cli/commands.py": "reference/commands.md",
    "src/kinelo/studies/study.py": "reference/study-file.md",
    "src/kinelo/paper/figures": "gallery-paper.md",
    "src/kinelo/lab/guide/scenes.py": "guide/index.html",
}
"""Path in the repository → page of the site."""


def site_page(path: str) -> str | None:
    """The page of the site that is made of a file or folder of the repository; None where there is none.

    >>> site_page("docs/tutorials/sweep.py"), site_page("src/kinelo/model/__init__.py"), site_page("docs/limits.md")
    ('tutorials/sweep.md', 'reference/model.md', None)
    """
    if path in PAGES:
        return PAGES[path]
    tutorial = re.fullmatch(r"docs/(tutorials/[\w-]+)\.py", path)
    package = re.fullmatch(r"src/kinelo/(\w+)(?:/__init__)?\.py", path)
    return f"{tutorial[1]}.md" if tutorial else f"reference/{package[1]}.md" if package else None


def for_the_site(text: str, page: str) -> str:
    """The text of ``docs/page`` with links as they are on the site."""
    folder = posixpath.dirname(page)

    def moved(link: re.Match[str]) -> str:
        if "://" in link[1]:
            return link[1]
        found = site_page(posixpath.normpath(posixpath.join("docs", folder, link[1])))
        return link[1] if found is None else posixpath.relpath(found, folder or ".")

    return LINK.sub(moved, text)
