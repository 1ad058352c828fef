"""What mkdocs calls while it builds: pages made from the code are added, and the built site must stand alone."""

import os
import re
import tempfile
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_tools import (
    alone,
    command_page,
    guided_visit,
    history_page,
    links,
    mathematics,
    notebooks,
    paper_gallery,
    reference,
    study_page,
)

ROOT = Path(__file__).parents[1]
STRUCTURE = "KINELO_SITE_STRUCTURE"
"""An environment variable: where it is set, nothing is computed, drawn or indexed; pages and links are checked."""
DOWNLOAD = "\n\n[This page as a notebook]({stem}.ipynb){{ download }} · its source is `docs/{source}`.\n"


@event_priority(100)  # before plug-ins read what they are told
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Where only the structure is asked for, nobody searches, and code is neither laid out nor coloured."""
    if STRUCTURE in os.environ:
        config.plugins["material/search"].config.enabled = False
        config.plugins["mkdocstrings"].config.handlers["python"]["options"]["separate_signature"] = False
        config.mdx_configs["pymdownx.highlight"]["use_pygments"] = False
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, the notebooks, and the repository's own texts."""
    made = reference.pages() | {
        "reference/study-file.md": study_page.page(),
        "reference/commands.md": command_page.page(),
    }
    made |= {f"project/{name}.md": _from_root(f"{name.upper()}.md") for name in ("changelog", "contributing")}
    made["project/benchmarks.md"] = _from_root("benchmarks/RESULTS.md")
    made["project/measured.md"] = _from_root("verification/MEASURED.md")
    whole = STRUCTURE not in os.environ
    made["project/history.md"], picture = history_page.page(drawn=whole)
    files.append(File.generated(config, f"project/{history_page.PICTURE}", content=picture))
    for address, text in made.items():
        files.append(File.generated(config, address, content=text))
    for source in sources():
        _add_notebook(files, config, source, run=whole)
    for address, content in guided_visit.pages(drawn=whole).items():
        files.append(File.generated(config, address, content=content))
    text, pictures = paper_gallery.page(ROOT / "build" / "gallery", drawn=whole)
    for name, content in {"gallery-paper.md": text, **pictures}.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Typeset the equations, and turn links to sources into links to the pages made of them."""
    return mathematics.typeset(links.for_the_site(markdown, page.file.src_uri))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the search for those who hear the page."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def sources() -> list[Path]:
    """The jupytext sources."""
    return sorted((ROOT / "docs").rglob("*.py"))


def _add_notebook(files: Files, config: MkDocsConfig, source: Path, *, run: bool) -> None:
    place = source.relative_to(ROOT / "docs")
    with tempfile.TemporaryDirectory() as folder:
        cells = notebooks.run(source, Path(folder)) if run else notebooks.read(source)
    text, pictures = notebooks.as_markdown(cells, source.stem)
    text += DOWNLOAD.format(stem=source.stem, source=place.as_posix())
    extra: dict[str, str | bytes] = {f"{source.stem}.md": text, **pictures}
    extra[f"{source.stem}.ipynb"] = nbformat.writes(notebooks.as_notebook(cells))
    for name, content in extra.items():
        files.append(File.generated(config, (place.parent / name).as_posix(), content=content))


def _from_root(name: str) -> str:
    """A text of the repository, its links as seen from the site's folder ``project``."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"\]\((?:\.\./)?docs/([^)]+)\)", r"](../\1)", text)
    text = text.replace("](CONTRIBUTING.md)", "](contributing.md)").replace("](CHANGELOG.md)", "](changelog.md)")
    return re.sub(r"\[([^\]]+)\]\((?!\.\./|http|#|contributing|changelog)[^)]+\)", r"\1", text)


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would load anything from elsewhere."""
    found = alone.foreign(Path(config.site_dir))
    if found:
        raise PluginError("the site loads from other hosts: " + "; ".join(found[:5]))
