"""Ask anew what the kept transcripts ask, and keep the answers: ``python tests/answers/keep.py [NAME …]``.

Read the difference (``git diff``) as a user would, aloud, before it is committed.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

from transcript import KEPT, Asking, alike, asked_of


def keep(path: Path) -> None:
    """Write a transcript anew; lines that agree stay as they are."""
    kept = list(asked_of(path.read_text(encoding="utf-8")))
    lines: list[str] = []
    slow = []
    with tempfile.TemporaryDirectory() as folder, Asking(Path(folder).resolve()) as asking:
        for asked, before in kept:
            began = time.process_time()
            answer = asking.answer(asked) if asked else before
            slow.append((time.process_time() - began, asked))
            same = len(answer) == len(before) and all(map(alike, before, answer))
            lines += ([asked] if asked else []) + (before if same else answer)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.stem}: {sum(took for took, _ in slow):.1f} s of processor time")
    for took, asked in sorted(slow, reverse=True)[:5]:
        print(f"  {took:.2f} s {asked}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for one in KEPT:
        if not sys.argv[1:] or one.stem in sys.argv[1:]:
            keep(one)
