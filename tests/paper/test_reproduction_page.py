"""The Python example of docs/reproduction.md does what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


def test_the_example_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    promised = re.findall(r"# (\[.*\])$", code, re.MULTILINE)
    assert capsys.readouterr().out.split("\n")[:-1] == promised
