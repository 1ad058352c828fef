"""What words of a file mean: whether a match was played, and how an entrant of a contest ended. One table for both.

To teach Kinelo a word, add it to the row of its meaning. Words stand there as :func:`plain_name` writes them, without
case, accents, blanks and signs; what may stand anywhere in a cell is a pattern.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED

LAST, TO_COME, BROKEN_OFF, FORFEIT = 4, 5, 6, 7
UNKNOWN, REDRESS = -1, -2
"""Meanings beside those of :mod:`kinelo.matches.contests`; a result was given by redress that was not reached."""


class Meaning(NamedTuple):
    """What words say of a match, and what of an entrant; ``within`` is found anywhere in a cell."""

    match: int
    entrant: int
    words: str
    within: str = ""


MEANINGS = (
    Meaning(
        FORFEIT, UNKNOWN,
        "wo walkover bye freilos spielfrei ff fft forfeit forfeited forfait awarded awd award tr default def "
        "defaulted noshow kampflos technicalloss wertung gewertet amgrunentisch tapisvert atavolino tavolino "
        "incomparecencia nopresentado ausencia reglementair",
        r"walk ?-?over|\bw[/.]?o\b|forfeit|forfait|kampflos|\bff\b|\bawarded\b|\bawd\b|default|\bdef\.?$"
        r"|\bsportgericht|\bwertung\b|grunen? tisch|tapis vert|tavolino|incomparec|technical (?:loss|defeat|win)"
        r"|^\(?(?:bye|freilos|spielfrei)\)?$"
        r"|^\s*(?:\+ ?[-:/−–] ?[-−–]|[-−–] ?[-:/−–] ?\+|[01] ?f)\s*$",  # as chess writes them: +:-, --+, 1F
    ),
    Meaning(
        FORFEIT, NOT_STARTED,
        "dns dns1 dnc dnq dnpq dnp wd scr scratched withdrew withdrawn withdr absent noshow 107rule",
        r"did not (?:start|qualify|pre-?qualify)|non[- ]?(?:starter|runner)|nicht angetreten|no[- ]show",
    ),
    Meaning(UNKNOWN, NOT_STARTED, "rr"),
    Meaning(TO_COME, NOT_STARTED, "ns notstarted nichtgestartet", r"not started|nicht gestartet"),
    Meaning(BROKEN_OFF, NOT_STARTED, "nr"),
    Meaning(
        FORFEIT, DISQUALIFIED,
        "dsq dsq1 dsq2 dsq3 dq dq1 dq2 dqf",
        r"disqu|\bdsq\b|desclassificad|descalificad|squalificat",
    ),
    Meaning(UNKNOWN, DISQUALIFIED, "ex exc ocs bfd ufd dne dgm", "excluded"),
    Meaning(UNKNOWN, LAST, "cut mc mdf missedcut last", r"miss(?:ed|es)? (?:the )?cut|cut (?:verpasst|manque)"),
    Meaning(
        BROKEN_OFF, UNFINISHED,
        "unfinished dnf dnf1 dnf2 dnf3 ret retd retired retirement abandoned aband aufgegeben aufgabe ritirato "
        "abandon abandonado",
        r"abandon|\bret(?:\.|ired)?\)?$|retirement|\baufg(?:egeben|abe)?\b\.?|\brit\.?\)?$|did not finish",
    ),
    Meaning(
        UNKNOWN, UNFINISHED,
        "dns2 dns3 dnq1 dnq2 r nc ab otl hd hc un np ko raf tle nsc pu ur bd fell ro su ref nm nh lft",
        r"not classified|ausgeschieden|pulled up|unseated|brought down|no (?:mark|height)",
    ),
    Meaning(
        BROKEN_OFF, TO_COME,
        "brokenoff abd aban abn canc cancl cancelled canceled annulled void voided noresult susp suspended int "
        "interrupted notplayed deleted unnecessary notnecessary ifnecessary abgesagt abgebrochen annulliert "
        "ausgefallen entfallen annule annulee arrete arretee suspendido suspendida cancelado cancelada anulado "
        "anulada interrotta sospesa annullata afgelast gestaakt",
        r"cancel|suspend|\bvoid|annul|no result|interrupt|\babn\b|not played|abgebrochen|abgesagt|afgelast|gestaakt",
    ),
    Meaning(
        BROKEN_OFF, TO_COME,
        "live inplay inprogress in ht halftime half 1h 2h et bt p break breaktime paused pause playing running "
        "started ongoing current extratime penalty penaltyshootout penlive inet 1sthalf 2ndhalf firsthalf "
        "secondhalf q1 q2 q3 q4 1q 2q 3q 4q ot 1stquarter 2ndquarter 3rdquarter 4thquarter endperiod raindelay crit "
        "awaitingupdates au lauft halbzeit 1halbzeit 2halbzeit encours mitemps enjuego encurso enjogo emandamento "
        "aovivo intervalo descanso incorso intervallo bezig rust",
        r"^\d{1,3}(?:\+\d{1,2})?\s*(?:'|’|′|min\.?)(?:\+\d{1,2})?$|\bin progress\b",
    ),
    Meaning(
        TO_COME, TO_COME,
        "tocome scheduled sched schedule timed upcoming tbd tba timetbd timetobedefined tobeplayed notyetplayed "
        "fixture fut future pre pregame prematch preview planned pending open created booked confirmed expected "
        "tobeconfirmed tbc vs v warmup pst postp ppd pp postponed delayed rescheduled matchabouttostart "
        "abouttostart aboutstart geplant angesetzt offen ausstehend nochnichtgespielt verlegt verschoben terminiert "
        "kommend avenir programme prevu reporte reportee nonjoue programado programada pendiente porjugar nojugado "
        "aplazado aplazada pospuesto agendado agendada naoiniciado naoiniciada ajogar adiado adiada inprogramma "
        "dagiocare programmata rinviata nondisputata gepland uitgesteld nognietgespeeld",
        r"postpon|\bppd\b|\bnot? yet\b",
    ),
    Meaning(
        FINISHED, FINISHED,
        "finished final ft fulltime fin f done ok complete completed completedearly ended end closed played over "
        "gameover official finalofficial off post result resulted decided regular normal normaltime aet pen pens ap "
        "afterpens afterpenalties afterextratime afterpen ftpen ftaet aetpen ftpens fot fso finalot finalso "
        "finalaet finalpen finalpens penalties wonbypenalties matchfinished matchended matchcomplete gamefinished "
        "classified homewin awaywin draw beendet gespielt abgeschlossen ende endstand nv nve ne ie nachverlangerung "
        "nachelfmeterschiessen termine fini joue joues apresprolongation tab finalizado finalizada finalizados "
        "terminado terminada jugado jugada concluido concluida encerrado encerrada jogado jogada finita finito "
        "terminata terminato conclusa concluso giocata giocato dts dcr afgelopen gespeeld beeindigd einde "
        "naverlenging",
        r"^\+ ?\d+ (?:laps?|runden?|tours?|voltas?|vueltas?|giri|giro)$|^f(?:inal)? ?[/(-] ?\d*(?:ot|so|\d)"
        r"|^(?:ft|finished|final|full time|ended|beendet)\b.*\b(?:aet|et|ot|so|pens?|penalt\w*|extra time|overtime"
        r"|shoot ?out|\d+ innings)\b",
    ),
)  # fmt: skip
"""The surest first: of patterns that stand in a cell, the first counts."""

KICK_OFF = r"^(?:[a-z]{2,9}[.,]* )?\d{1,2}:\d{2} ?(?:[ap]\.?m\.?)?(?: [a-z]{1,4})?$"
"""A status of a match that says when it begins."""

ALSO_OTHERWISE = frozenset((
    "in", "ok", "f", "p", "et", "half", "off", "post", "pre", "open", "end", "start", "over", "current", "v",
    "vs", "int", "regular",
))  # fmt: skip
"""Words that mean much else: a column is not known by them."""

ENDED_IN_TIME = frozenset(("regular", "normal", "normaltime"))
ENDED_LATER = frozenset(("extratime", "et", "ot", "penalty", "penaltyshootout"))
"""Words of a match under way that say how it ended where others of their column ended in time."""

WORDS: dict[str, dict[str, int]] = {
    of: {w: getattr(row, of) for row in reversed(MEANINGS) if getattr(row, of) != UNKNOWN for w in row.words.split()}
    for of in ("match", "entrant")
}
WITHIN = {
    meaning: "|".join(row.within for row in MEANINGS if row.match == meaning and row.within)
    for meaning in (FORFEIT, BROKEN_OFF, TO_COME)
}
"""Patterns of what says such a thing of a match anywhere in a cell of small letters."""

ENDINGS = {
    "match": {"finished": FINISHED, "to come": TO_COME, "broken off": BROKEN_OFF, "forfeit": FORFEIT},
    "entrant": {
        "finished": FINISHED, "last": LAST, "unfinished": UNFINISHED, "disqualified": DISQUALIFIED,
        "not started": NOT_STARTED,
    },
}  # fmt: skip
"""What users call the meanings that they give to words."""


def meaning_of(word: str, of: str) -> int:
    """What a cell says of a ``match`` or an ``entrant``; UNKNOWN for a word that is in no list.

    >>> [meaning_of(word, "match") for word in ("STATUS_FINAL", "NS", "Abgesagt", "Walkover (injury)", "Engine")]
    [0, 5, 6, 7, -1]
    >>> [meaning_of(word, "entrant") for word in ("NS", "missed the cut", "DNF (engine)", "D.S.Q.")]
    [3, 4, 1, 2]
    """
    small = re.sub(r"^status[ _]", "", word.strip().lower())
    small = unicodedata.normalize("NFKD", small.replace("_", " "))
    small = "".join(letter for letter in small if not unicodedata.combining(letter))
    name = plain_name(small)
    if name in WORDS[of] and not (of == "entrant" and WORDS[of][name] == TO_COME and name in ALSO_OTHERWISE):
        return WORDS[of][name]
    if of == "match" and re.search(KICK_OFF, small):
        return TO_COME
    rows = (row for row in MEANINGS if row.within and getattr(row, of) != UNKNOWN)
    ending = next((getattr(row, of) for row in rows if re.search(row.within, small)), UNKNOWN)
    remark = re.fullmatch(r"(.*?\S)\s*[(\[]([^()\[\]]*)[)\]]", small)
    if ending != UNKNOWN or remark is None:
        return ending
    ending = meaning_of(remark[1], of)
    # A remark may say that a match that is over does not count.
    silent = of == "entrant" or ending != FINISHED or not re.search(r"[^\W\d_]", remark[2])
    return ending if silent or meaning_of(remark[2], of) == FINISHED else UNKNOWN


def read_meanings(given: object, of: str) -> dict[str, int]:
    """Words of the user and what they stand for."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"endings must map words to what they stand for, not be {given!r:.60}.")
    for word, ending in given.items():
        if not isinstance(word, str) or ending not in list(ENDINGS[of]):
            raise InputError(
                f"endings={{{word!r:.40}: {ending!r:.40}}} is not known; a word stands for "
                f"{', '.join(map(repr, ENDINGS[of]))}."
            )
    return {word.strip().casefold(): ENDINGS[of][ending] for word, ending in given.items()}
