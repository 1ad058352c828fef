"""The examples of docs/gpu.md run, with a device or without."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "gpu.md"


def test_python_examples_run_in_order(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.startswith("cpu: ")
    assert names["run"].rating.sizes["team"] == 20
