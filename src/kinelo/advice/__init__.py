"""Diagnosis: facts and words, once, for command line, lab and notebooks."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.contests import ContestAudit
    from kinelo.advice.changeover import Changeover
    from kinelo.advice.check import Check
    from kinelo.advice.design import Design
    from kinelo.advice.diagnosis import Diagnosis
    from kinelo.advice.matchmaking import Matchmaking
    from kinelo.advice.results import ResultsDiagnosis

_MODULE_OF = modules_of(
    {
        "advice.audit.audit": ("Audit",),
        "advice.audit.contests": ("ContestAudit",),
        "advice.changeover": ("Changeover",),
        "advice.check": ("Check",),
        "advice.design": ("Design",),
        "advice.diagnosis": ("Diagnosis",),
        "advice.matchmaking": ("Matchmaking",),
        "advice.results": ("ResultsDiagnosis",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
