"""Where the real match data lies, for the tests marked ``data``."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def match_data() -> Path:
    """Folder of the real match data: KINELO_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("KINELO_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "intl_football" / "matches.csv").exists():
        pytest.skip(f"no match data at {folder}: set KINELO_DATA to the folder that holds it")
    return folder
