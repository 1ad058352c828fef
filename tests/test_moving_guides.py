"""The examples of pages on theory run and print what their comments say."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
GUIDES = [*sorted((DOCS / "moving").glob("*.md")), DOCS / "contests.md", DOCS / "who-plays-whom.md"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_examples_print_what_they_say(guide, capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL))
    promised = re.findall(r"^print\(.*\)  # (.+)$", code, re.MULTILINE)
    assert promised
    exec(compile(code, str(guide), "exec"), {})
    assert capsys.readouterr().out.splitlines() == promised
