"""Whether a built site stands alone: nothing that a page loads comes from another host."""

import re
from html.parser import HTMLParser
from pathlib import Path

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
KEPT_LINKS = {"canonical", "prev", "next"}
TAG = re.compile(
    rf"""<(?:{"|".join(sorted({tag for tag, _ in LOADED}))})\b(?:"[^"]*"|'[^']*'|[^>"'])*>""", re.IGNORECASE
)
"""A tag that loads something: the parser is given these alone, not the whole page."""


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads from elsewhere."""
        if tag == "link" and dict(attrs).get("rel") in KEPT_LINKS:
            return
        for name, value in attrs:
            if (tag, name) in LOADED and (value or "").startswith(("http:", "https:", "//")):
                self.found.append(f"<{tag} {name}={value}>")


def foreign(site: Path) -> list[str]:
    """What the pages and styles of a site load from other hosts."""
    found = []
    for page in sorted(site.rglob("*.html")):
        reader = _Loads()
        for tag in TAG.findall(page.read_text(encoding="utf-8")):
            reader.feed(tag)
            reader.reset()
        found += [f"{page.relative_to(site)}: {what}" for what in reader.found]
    for style in sorted(site.rglob("*.css")):
        text = style.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import" in text:
            found.append(f"{style.relative_to(site)}: loads from elsewhere")
    return found
