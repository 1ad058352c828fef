"""Refuse a release while an address of the project is empty."""

import sys
import tomllib
from pathlib import Path

addresses = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["kinelo"]["addresses"]
empty = [name for name, address in addresses.items() if not address]
if empty:
    sys.exit(f"pyproject.toml, [tool.kinelo.addresses]: fill in {', '.join(empty)} before a release.")
