"""Messages are sentences: a capital letter (or the name of a parameter) at the beginning, a full stop at the end."""

import ast
from pathlib import Path

import kinelo

SOURCE = Path(kinelo.__file__).parent
RAISED = ("InputError", "NoMatches", "warn")
ARTICLES = ("a", "an", "the", "there", "this", "no", "nothing", "what")


def _messages():
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in RAISED) else ():
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in RAISED and node.args:
                parts = node.args[0].values if isinstance(node.args[0], ast.JoinedStr) else [node.args[0]]
                if all(isinstance(part, ast.FormattedValue | ast.Constant) for part in parts):
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", parts


def test_messages_begin_and_end_as_sentences_do():
    """A message that ends with another message, such as that of an exception, ends as that one does."""
    seen, wrong = 0, []
    for where, parts in _messages():
        first, last = parts[0], parts[-1]
        seen += 1
        if isinstance(first, ast.Constant) and str(first.value).split(" ")[0] in ARTICLES:
            wrong.append(f"{where} begins with a small letter")
        if isinstance(last, ast.Constant) and not str(last.value).rstrip().endswith((".", "!", "?")):
            wrong.append(f"{where} ends without a full stop")
    assert seen > 400
    assert not wrong, "\n".join(wrong)
