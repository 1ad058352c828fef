"""Laws of the user's own in a study file: ``kind = "module:Class"``, and the law's parameters as further keys.

``kind = "module:name"`` may also name a law that the module has made. A stored run remembers the digest of such a law
(:mod:`kinelo.model.digest`), because its name does not change when its formula does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.strength import Strength
from kinelo.results.store import LAWS
from kinelo.runtime.plugins import load_plugin, plugins, warn_of_plugins_left_out
from kinelo.runtime.user_classes import imported
from kinelo.studies.section import Section

if TYPE_CHECKING:
    from kinelo.model.shape import Shape

OWN, BUILT_IN = "own", "built in"


class OwnSection(Section):
    """``kind = "module:Class"``."""

    model_config = ConfigDict(extra="allow")
    base: ClassVar[type] = object

    kind: str

    def _found(self) -> Any:
        return imported(self.kind, "law")

    def build(self) -> Any:
        """Return the law."""
        found, given = self._found(), dict(self.model_extra or {})
        if isinstance(found, self.base) and not given:
            return found
        if not isinstance(found, type) or not issubclass(found, self.base):
            raise InputError(f"{self.kind} is not a class made from kinelo.{self.base.__name__}.")
        try:
            return found(**given)
        except TypeError as error:
            keys = ", ".join(given) or "no further keys"
            raise InputError(f"{self.kind} cannot be made from {keys}: {str(error).rstrip('.')}.") from None


OUTCOMES = ("tanh", "probit", "davidson")
"""Kinds of outcome that Kinelo has itself."""


class OwnOutcomeSection(OwnSection):
    """An outcome function of the user's own, or one that another package adds (``kind`` is then its name)."""

    base = Outcome

    def _found(self) -> Any:
        added = plugins("kinelo.outcomes", OUTCOMES)
        return load_plugin(added[self.kind]) if self.kind in added else super()._found()


class OwnPairingSection(OwnSection):
    """A pairing function of the user's own."""

    base = Pairing


class OwnLeagueSection(OwnSection):
    """A league of the user's own."""

    base = Strength


class ShapeSection(OwnSection):
    """``[solve.shape] kind = "scipy.stats:t"``, ``df = 3``: the distribution of performances about their mean."""

    def build(self) -> Shape:
        """Return the shape."""
        from kinelo.model.shape import Shape

        found, given = imported(self.kind, "distribution"), dict(self.model_extra or {})
        try:
            return Shape(found(**given) if given else found)
        except TypeError as error:
            keys = ", ".join(given) or "no further keys"
            raise InputError(f"{self.kind} cannot be made from {keys}: {str(error).rstrip('.')}.") from None


def whose(section: object) -> str:
    """Tell a law of the user's own from one that is built in."""
    kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
    return OWN if isinstance(kind, str) and ":" in kind else BUILT_IN


def whose_outcome(section: object) -> str:
    """The same for outcomes, where names that other packages add are not built in either."""
    kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
    warn_of_plugins_left_out("kinelo.outcomes", OUTCOMES)
    return OWN if isinstance(kind, str) and kind in plugins("kinelo.outcomes", OUTCOMES) else whose(section)


def digests(**laws: tuple[Any, Any]) -> dict[str, dict[str, str]]:
    """Digests of the laws, given as (section, law), that are the user's own; nothing where none is."""
    own = {name: law.digest() for name, (section, law) in laws.items() if isinstance(section, OwnSection)}
    return {LAWS: own} if own else {}
