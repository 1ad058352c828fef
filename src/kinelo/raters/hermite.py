"""Nodes and weights of a mean over a normal law."""

from __future__ import annotations

import numpy as np

HERMITE_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
HERMITE_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
