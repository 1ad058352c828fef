"""Addresses of the project, from the one place where they are filled in, as links of the package."""

import tomllib
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINKS = {"repository": "Repository", "tracker": "Issues", "documentation": "Documentation"}


class Addresses(MetadataHookInterface):
    """``[tool.kinelo.addresses]`` of pyproject.toml as ``urls``; what is empty is left out."""

    def update(self, metadata: dict) -> None:
        """Add the links to the metadata that wheel and source archive carry."""
        project = tomllib.loads(Path(self.root, "pyproject.toml").read_text(encoding="utf-8"))
        found = project["tool"]["kinelo"]["addresses"]
        metadata["urls"] = {label: found[key] for key, label in LINKS.items() if found[key]}
