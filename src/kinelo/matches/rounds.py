"""Rounds of tournaments and leagues in the order in which they are played, whatever a file calls them.

Qualifying comes first, then groups, then numbered rounds, then rounds of 128, 64, …, quarter-finals, semi-finals, the
match for the third place and the final. A name that is none of these has no rank.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable

QUALIFYING, GROUPS, NUMBERED, KNOCK_OUT = 0.0, 100.0, 200.0, 100_000.0
DIGITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
GROUP_STAGE = re.compile(
    r"(rr|round robin|league|liga|pool|group|groups|gruppe|gruppenphase|grupo|groupe|poule|girone|groep|fase de grupos)"
    r"( stage| phase| play)?( [a-z0-9]{1,2})?"
)
QUALIFIER = re.compile(r"(?:q|qual|qualif\w*|quali\w*|prelim\w*|vorrunde|preliminar\w*)(?: round| runde)? ?(\d*)")
NUMBER = re.compile(
    r"(?:round|rd|r|matchday|match day|md|week|wk|w|gameweek|gw|game|stage|tour|runde|spieltag|rodada|jornada|ronda"
    r"|fecha|fase|journee|giornata|turno|speelronde|ronde)? ?#?(\d+)(?: ?(?:st|nd|rd|th|\.|a|o|e|eme|er))?"
    r"(?: ?(?:round|runde|rodada|jornada|ronda|fase|journee|tour|giornata|turno|ronde|spieltag|matchday|week))?"
)
SIDES = re.compile(r"(?:round of|last|r|letzte|top) ?(\d+)|1/(\d+)(?: ?(?:final\w*|de final\w*))?")
FINALS: dict[float, str] = {
    4.0: r"sixteenth ?finals?|sechzehntelfinale|seiziemes?( de finale)?|dieciseisavos( de final)?"
    r"|sedicesimi( di finale)?",
    3.0: r"eighth ?finals?|achtelfinale?|huitiemes?( de finale)?|octavos( de final)?|oitavas( de final)?"
    r"|ottavi( di finale)?|achtste ?finales?",
    2.0: r"qf|quarter ?finals?|quarters?|viertelfinale|quarts?( de finale)?|cuartos( de final)?|quartas( de final)?"
    r"|quarti( di finale)?|kwartfinales?",
    1.0: r"sf|semi ?finals?|semis?|halbfinale|demi ?finales?|semifinale?s?|semifinais|semifinali|halve ?finales?",
    0.5: r"br|bronze( medal)?( match)?|third place( play ?off| match)?|3rd place( play ?off| match)?|3p"
    r"|spiel um platz 3|petite finale|tercer puesto|terceiro lugar|finale 3 posto|troostfinale",
    0.0: r"f|finals?|the final|grand final|finale|endspiel|gold( medal)?( match)?",
}


def round_rank(names: Iterable[str]) -> list[float]:
    """Rank of each round, NaN for a name that tells none.

    >>> round_rank(["F", "SF", "R16", "Q2", "RR"])
    [100000.0, 99999.0, 99997.0, 2.0, 100.0]
    >>> round_rank(["Matchday 12", "Matchday 2", "R16", "?"])
    [212.0, 202.0, 216.0, nan]
    """
    plain = [_plain(name) for name in names]
    last_of_all = any(re.fullmatch(pattern, name) for name in plain for pattern in FINALS.values())
    return [_rank(name, last_of_all) for name in plain]


def _plain(name: str) -> str:
    name = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss"))
    name = "".join(letter for letter in name if not unicodedata.combining(letter))
    name = " ".join(re.sub(r"[-–_.,;:()]", " ", name).split())
    for number, word in enumerate(DIGITS, 1):
        name = re.sub(rf"\b{word}\b(?! place)", str(number), name)
    return name


def _rank(name: str, knock_out: bool) -> float:
    """Rank of one name; ``r16`` is a round of sixteen only beside finals."""
    for before_final, pattern in FINALS.items():
        if re.fullmatch(pattern, name):
            return KNOCK_OUT - before_final
    if found := SIDES.fullmatch(name):
        sides = int(found[1]) if found[1] else 2 * int(found[2])
        if sides >= 2 and sides & (sides - 1) == 0 and (knock_out or not re.fullmatch(r"r ?\d+", name)):
            return KNOCK_OUT + 1.0 - math.log2(sides)
    if found := QUALIFIER.fullmatch(name):
        return QUALIFYING + float(found[1] or 0)
    if GROUP_STAGE.fullmatch(name) and not re.fullmatch(r"(?:poule|league|liga) \d+", name):
        return GROUPS
    found = NUMBER.fullmatch(name)
    return NUMBERED + float(found[1]) if found and len(found[1]) < 5 else math.nan
