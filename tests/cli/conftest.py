import pytest
from typed import STUDY


@pytest.fixture
def study(tmp_path):
    """A small study in an otherwise empty folder."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path
