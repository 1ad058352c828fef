"""The examples of docs/stationary.md run and print what their comments say."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "stationary.md"


def test_examples_print_what_they_say(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL))
    promised = re.findall(r"^print\(.*\)  # (.+)$", code, re.MULTILINE)
    assert len(promised) == 7
    exec(compile(code, str(GUIDE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == promised
