"""Every example of docs/how-to/fide.md runs, and says what the page says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "fide.md"


def test_the_examples_run(capsys):
    text = PAGE.read_text(encoding="utf-8")
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    rater = names["rater"]
    ann = rater.calculations_.filter(name="Ann", opponent="Cid").row(0, named=True)
    assert (ann["difference"], ann["counted"], ann["expected"]) == (600, 400, 0.92)
    assert round(ann["k"] * ann["change"], 9) == 0.8
    assert "2024-06-01" in capsys.readouterr().out
