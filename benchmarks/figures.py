"""The figures that README.md shows, made from results.json and put between their marks.

python benchmarks/figures.py

``tests/test_readme.py`` compares what stands there with the data.
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
LIKE_FOR_LIKE = "Forecasts: like for like on internationals"
BEGIN, END = "<!-- made by benchmarks/figures.py -->", "<!-- end -->"
SEEN = {"results": "who won", "goals": "goals too"}
"""What a forecaster sees of past matches: the words in the data and those for readers."""


def like_for_like(section: dict) -> str:
    """A row for each forecaster, those that see results and those that see goals; of each library its best rater."""
    versions = dict(one.rsplit(" ", 1) for one in section["versions"].split(", "))
    lines = ["| seen of past matches | forecaster | log-loss | more than Kinelo's |", "|---|---|---|---|"]
    for seen, words in SEEN.items():
        rows = [(name[len(seen) + 2 :], said) for name, said, *_ in section["rows"] if name.startswith(f"{seen}: ")]
        ours, *others = rows
        best: dict[str, str] = {}
        for name, said in sorted(others, key=lambda row: loss_of(row[1])):
            best.setdefault(called(name, versions), f"{loss_of(said):.4f} | {gap_of(said)}")
        lines.append(f"| {words} | Kinelo, `{ours[0].split(',')[0]}` | {loss_of(ours[1]):.4f} | |")
        lines += [f"| {words} | {name} | {said} |" for name, said in best.items()]
    measured = f"Measured on {section['date']} at commit {section['commit']}, {section['machine']}."
    return "\n".join([*lines, "", measured])


def loss_of(said: str) -> float:
    """The log-loss, first of what was measured."""
    return float(said.split(";")[0].split(" ")[0])


def gap_of(said: str) -> str:
    """The difference to ours with its 95 % interval, as it was written."""
    found = re.search(r"[+-]0\.\d{4} \(([+-]0\.\d{4}) to ([+-]0\.\d{4})\)", said)
    assert found is not None, said
    return f"{found[1]} to {found[2]}"


def called(name: str, versions: dict[str, str]) -> str:
    """A rater under the name of its library, with the version; as it stands where it comes from none.

    >>> called("elote Glicko", {"elote": "1.5.1"}), called("Elo of expected margins", {"elote": "1.5.1"})
    ('elote 1.5.1', 'Elo of expected margins')
    >>> called("TrueSkill Through Time", {"trueskill": "0.4.5", "trueskillthroughtime": "1.1.0"})
    'TrueSkill Through Time 1.1.0'
    """
    plain = name.lower().replace(" ", "")
    libraries = [library for library in versions if plain.startswith(library)]
    if not libraries:
        return name
    library = max(libraries, key=len)
    return f"{name if plain == library else library} {versions[library]}"


def made() -> str:
    """What stands between the marks."""
    kept = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    return like_for_like(kept[LIKE_FOR_LIKE])


def shown() -> str:
    """What stands between the marks now."""
    text = README.read_text(encoding="utf-8")
    return text.split(BEGIN)[1].split(END)[0].strip()


if __name__ == "__main__":
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n\n{made()}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
