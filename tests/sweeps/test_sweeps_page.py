"""The code of docs/sweeps.md runs, in order."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "sweeps.md"


def test_the_examples_run(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "[None, 2.0, 2.0, 2.0]" in said
