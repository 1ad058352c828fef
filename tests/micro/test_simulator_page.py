"""The page on the simulator says what runs."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "simulator.md"


def test_the_example_of_the_page_runs(capsys):
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(compile(block, str(PAGE), "exec"), {})
    assert len(capsys.readouterr().out.split()) >= 4
