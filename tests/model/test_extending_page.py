"""The examples of docs/extending.md run as they stand."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def test_the_examples_run(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) >= 8
