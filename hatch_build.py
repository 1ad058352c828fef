"""Addresses of the project, from the one place where they are filled in: links of the package, and of its README."""

import re
import tomllib
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINKS = {"repository": "Repository", "tracker": "Issues", "documentation": "Documentation"}


class Addresses(MetadataHookInterface):
    """``[tool.kinelo.addresses]`` as ``urls``, what is empty left out, and README.md with absolute links."""

    def update(self, metadata: dict) -> None:
        """Add the links and the README to the metadata that wheel and source archive carry."""
        project = tomllib.loads(Path(self.root, "pyproject.toml").read_text(encoding="utf-8"))
        found = project["tool"]["kinelo"]["addresses"]
        metadata["urls"] = {label: found[key] for key, label in LINKS.items() if found[key]}
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, found["repository"])}


def absolute(text: str, repository: str) -> str:
    """Links and pictures of a page as seen from outside of the repository; as they stand where it has no address.

    >>> absolute("![a](b.png) [c](d.md) [e](https://f)", "https://x/y/")
    '![a](https://x/y/raw/HEAD/b.png) [c](https://x/y/blob/HEAD/d.md) [e](https://f)'
    """
    if not repository:
        return text
    home = repository.rstrip("/")
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\1{home}/raw/HEAD/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\1{home}/blob/HEAD/", text)
