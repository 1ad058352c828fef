"""Parameters of a rater of contests: one of each sort for every kind of slot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Parameter
from kinelo.forecasts.places import DEEPEST
from kinelo.matches.contests import FINISHED, Contests
from kinelo.matches.kind import CONTESTS, MATCHES, check_played
from kinelo.matches.matches import Matches
from kinelo.model.validation import plain
from kinelo.raters.conditions import condition_names
from kinelo.raters.covariates import covariate_names
from kinelo.raters.filter.belief import YEAR, fade_all
from kinelo.raters.filter.kinds import Kind, kinds_of_batch
from kinelo.raters.noise import NoiseFactors, noise_columns
from kinelo.raters.rank.kernels import ContestModel
from kinelo.raters.rank.law import law_of
from kinelo.raters.rank.luck import Luck
from kinelo.raters.rank.numbers import NO_UNITS, with_size
from kinelo.raters.rank.two_sides import Duels, Fields
from kinelo.raters.rater import Rater, Traits

Array = NDArray[np.float64]

BY_KIND = (
    Parameter("walk", 0.4, 0.01, 4.0, True, "yearly random walk of a strength"),
    Parameter("prior_spread", 0.7, 0.05, 5.0, True, "spread of newcomers"),
    Parameter("newcomer", -0.4, -4.0, 2.0, False, "where newcomers begin against the field", largest=1000.0),
    Parameter("regression", 0.1, 0.0, 3.0, False, "yearly return to the mean"),
    Parameter("contest_walk", 0.05, 0.005, 1.0, True, "random walk of a strength in a contest", largest=1000.0),
    Parameter("experience", 0.0, -1.0, 2.0, False, "what newcomers gain in their first contests", largest=1000.0),
)
SOUGHT = ("contest_walk",)
"""Parameters whose default is where a search begins; they are 0 where nobody has estimated them."""
OF_ADVANTAGES = (
    Parameter("walk", 0.05, 0.002, 1.0, True, "yearly random walk of an advantage"),
    Parameter("prior_spread", 0.4, 0.02, 3.0, True, "spread of advantages"),
)
"""Advantages lie around 0 and do not return to it."""


COLLAPSE = 0.3
"""Width of the Cauchy law of what the logarithm of a variance of strengths loses over the years."""
LITTLE = 0.1
"""Width of the Cauchy law of what experience brings: mostly little, now and then much."""


MODELS: dict[Any, ContestModel] = {}
"""Parameters as kernels take them, remembered: to make them takes longer than to rate a contest."""
MOST_MODELS = 64


class KindParameters(Rater[Matches | Contests, Any]):
    """A rater whose parameters hold for one kind of slot each; a number holds for all kinds, a mapping for some."""

    _traits = Traits((CONTESTS, MATCHES), ("contests",), fitted_by_forecasts=False)
    kinds_: tuple[str, ...] = ()
    advantage_kinds_: tuple[str, ...] = ()
    off: float | None
    conditions: Any
    noise_by: Any = None
    covariates: Any = None
    _covariate_units: Mapping[str, float] = NO_UNITS
    _noise: NoiseFactors = NoiseFactors()  # type: ignore[override]
    _years: float = 0.0

    def __setattr__(self, name: str, value: object) -> None:
        for declared in BY_KIND:
            if declared.name == name:
                for one in value.values() if isinstance(value, Mapping) else (value,):
                    declared.check(type(self).__name__, one)
                value = plain(value)
        super().__setattr__(name, value)

    def _label(self, name: str, kind: str) -> str:
        return name if len(self.kinds_) < 2 else f"{name} of {kind}"

    def _given(self, name: str, kind: str) -> float | None:
        value = getattr(self, name)
        return value.get(kind) if isinstance(value, Mapping) else value

    def _parameters_by_kind(self) -> Iterator[tuple[str, Parameter]]:
        """Every kind with each of its parameters."""
        for kind in self.kinds_:
            for p in OF_ADVANTAGES if kind in self.advantage_kinds_ else BY_KIND:
                yield kind, p

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, for every kind of the contests fitted; ties come after them, and
        where no performances are off, nothing is asked of how much lower they are.
        """
        own = [
            replace(p, name=label, meaning=f"{p.meaning} ({kind})")
            for kind, p in self._parameters_by_kind()
            if self._given(p.name, kind) is None and (label := self._label(p.name, kind)) not in self._unidentified
        ]
        settled = ("ties", "depth") if self.off == 0.0 else ("ties",)
        return (*own, *(p for p in super()._open_parameters() if p.name not in settled))

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter of every kind: the user's, else the estimate, else the default."""
        if estimated is not None and not (
            isinstance(estimated, Mapping) and all(isinstance(value, Real) for value in estimated.values())
        ):
            raise InputError(f"estimates are numbers by the names of parameters, not {estimated!r:.60}.")
        found = dict(estimated or {})
        values = {}
        before = {"depth": DEEPEST} if "off" in found else {}  # estimates stored before there was a depth
        for kind, p in self._parameters_by_kind():
            given, label = self._given(p.name, kind), self._label(p.name, kind)
            default = 0.0 if p.name in SOUGHT else p.default
            unidentified = self._unidentified.get(label, default)
            values[label] = float(found.get(label, unidentified) if given is None else given)
        for p in self._declared_parameters:
            given, unidentified = getattr(self, p.name), before.get(p.name, self._unidentified.get(p.name, p.default))
            values[p.name] = float(found.get(p.name, unidentified) if given is None else given)
        return values

    def _unidentified_parameters(self, matches: Any) -> Mapping[str, float]:
        """Parameters of which contests say nothing: of retirements where there are none, of late ones where nobody
        says how far they came, of the level of fields and of experience where two meet or there are ratings to begin
        with, of walks by the contest where two meet, and of the spread of a single advantage.
        """
        check_played(matches)
        matches = self._seen(matches).contests
        unidentified = {} if np.any(matches.ended > 0) else {"retirement": 0.0}
        if matches.distance is None or np.isnan(matches.distance[matches.ended > 0]).all():
            unidentified["late_retirement"] = 0.0
        finished = matches.ended == FINISHED
        duels = np.add.reduceat(finished, matches.first[:-1], dtype=np.int64).max() < 3
        if duels:
            unidentified |= {"off": 0.0, "depth": DEEPEST}
        if duels or self.start is not None:
            unidentified |= {"anchor": 0.0, "newcomer_follows": 1.0}
            unidentified |= {self._label("experience", kind): 0.0 for kind in self.kinds_}
        if duels:
            unidentified |= {self._label("contest_walk", kind): 0.0 for kind in self.kinds_}
        for kind, p in self._parameters_by_kind():
            names = np.unique(matches.slots[kind].codes[matches.slots[kind].codes >= 0]).size
            alone = names == 1 and p.name == "prior_spread" and kind not in self._conditions()
            alone = alone or (kind in self._units() and p.name == "prior_spread")
            if kind in self.advantage_kinds_ and (names == 0 or alone):
                unidentified[self._label(p.name, kind)] = p.default
        return unidentified

    def _of_kind(self, name: str, kind: str) -> float:
        """A parameter of a kind as it is settled; 0 where the kind has none of it."""
        return self.parameters_.get(self._label(name, kind), 0.0)

    def _off(self) -> dict[str, float]:
        """Part of performances that are off, and how much lower they lie."""
        return {"off": self.parameters_["off"], "depth": self.parameters_["depth"]}

    def _model(self, *batch: KindParameters) -> ContestModel:
        """The parameters as kernels take them, and those of further members beside them."""
        raters = (self, *batch)
        key = (self.kinds_, self.advantage_kinds_, *self.parameters_.items())
        if not batch and key in MODELS:
            return MODELS[key]
        tables = [[rater._kind(kind) for kind in self.kinds_] for rater in raters]
        level, experience, contest_walk = (
            np.array([[rater._of_kind(name, kind) for rater in raters] for kind in self.kinds_])
            for name in ("newcomer", "experience", "contest_walk")
        )
        beside = np.array([kind not in self.advantage_kinds_ for kind in self.kinds_])
        retirement, late, anchor, newcomer_follows = (
            np.array([rater.parameters_[name] for rater in raters])
            for name in ("retirement", "late_retirement", "anchor", "newcomer_follows")
        )
        kinds = kinds_of_batch(tables, [1.0] * len(raters))
        law = law_of(**self._off())
        model = ContestModel(
            kinds, level, experience, contest_walk**2, beside, retirement, late, anchor, newcomer_follows, law
        )
        if not batch:
            if len(MODELS) >= MOST_MODELS:
                MODELS.clear()
            MODELS[key] = model
        return model

    def _beliefs(self, values: Mapping[str, float]) -> Array:
        """How far parameters let the spread of strengths collapse, and how much they let newcomers gain, by kind, as
        normal deviates.

        Strengths that begin with variance ``V`` have ``V e^{−2ρT} + walk² (1 − e^{−2ρT})/2ρ`` after ``T`` years. Those
        who return to the mean without moving as much would all be equal in the end, and a return that a few years seem
        to show would take away more in the years to come: leagues keep their spread, or widen it. Of the logarithm of
        what is lost a Cauchy law is believed, so that contests that show a collapse are followed; likewise of what
        experience brings, which a few contests seem to show by chance.
        """
        settled, found = self._settled_values(dict(values)), []
        for kind in self.kinds_:
            if kind not in self.advantage_kinds_:
                walk, prior, rho = (settled[self._label(n, kind)] for n in ("walk", "prior_spread", "regression"))
                f, added = fade_all(np.array(YEAR * self._years), rho, walk**2)
                lost = max(-math.log(float(f**2 + added / prior**2)), 0.0)
                gain = settled[self._label("experience", kind)]
                found.append(math.sqrt(math.log1p((lost / COLLAPSE) ** 2)))
                found.append(math.copysign(math.sqrt(math.log1p((gain / LITTLE) ** 2)), gain))
        return np.array(found)

    def _kind(self, kind: str) -> Kind:
        walk, prior = self._of_kind("walk", kind), self._of_kind("prior_spread", kind)
        return Kind(walk=walk**2, rho=self._of_kind("regression", kind), prior=prior**2)

    def _take_kinds(self, contests: Contests) -> None:
        """Rate the kinds of these contests from now on; parameters by kind must name some of them."""
        rated = self._luck().rated
        contests = with_size(contests, self._units())
        self.kinds_, self.advantage_kinds_ = rated(contests.kinds), rated(contests.advantages)
        for p in BY_KIND:
            value = getattr(self, p.name)
            strange = [kind for kind in value if kind not in self.kinds_] if isinstance(value, Mapping) else []
            if strange:
                raise InputError(
                    f"RankElo({p.name}=…) speaks of {strange[0]!r}, but these contests rate {', '.join(self.kinds_)}."
                )
        for what, columns in (("conditions", self._conditions()), ("covariates", tuple(self._units()))):
            strange = [kind for kind in columns if kind not in self.advantage_kinds_]
            if not strange:
                continue
            raise InputError(
                f"RankElo({what}=…) names {strange[0]!r}, which these contests do not say; read them with "
                f"advantages=[{strange[0]!r}]."
            )

    def _seen(self, matches: Matches | Contests) -> Fields:
        """Contests as they are, or matches of two sides as contests of two; nobody is at home if that would leak."""
        if isinstance(matches, Contests):
            return Fields(with_size(matches, self._units()))
        away = matches if self._order.home else replace(matches, neutral=np.ones(len(matches), bool))
        return Duels(self._luck().of_matches(Contests.from_matches(away), matches), matches)

    def _conditions_asked(self) -> tuple[str, ...]:
        """Columns beyond results that are asked of matches: those on which the noise depends."""
        return noise_columns(self.noise_by)

    def _luck(self) -> Luck:
        """On what the noise depends, and its factors as they stand."""
        return Luck(noise_columns(self.noise_by), self._conditions(), self._noise)

    def _units(self) -> dict[str, float]:
        """Usual distances of the covariates; 1 before any fit."""
        return {name: self._covariate_units.get(name, 1.0) for name in covariate_names(self.covariates or ())}

    def _conditions(self) -> tuple[str, ...]:
        """Kinds of advantages of which each level is worth something else to everybody."""
        return condition_names(self.conditions)
