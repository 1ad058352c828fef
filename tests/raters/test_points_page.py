"""The page on what a point is: its examples run and show what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "points.md"


def test_examples_run_and_agree_with_the_words(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    shown = capsys.readouterr().out
    for kind, spread, truth in re.findall(r"(\w+): ± (\d+) points, true ± (\d+)", shown):
        assert 0.9 < int(spread) / int(truth) < 1.08, kind
    differences = [float(x) for row in re.findall(r"\[(.*?)\]", shown) for x in row.split()]
    assert len(differences) == 20 and max(map(abs, differences)) <= 0.0101
