"""What a service has done, as Prometheus reads it: requests by route and answer, and how long they took."""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import defaultdict

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds up to which requests are counted together."""


class Metrics:
    """Counts of one process.

    >>> metrics = Metrics()
    >>> metrics.note("POST", "/matches", 200, 0.004)
    >>> [line for line in metrics.text().splitlines() if 'le="0.005"' in line][0].endswith(" 1")
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._buckets: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: dict[tuple[str, str], float] = defaultdict(float)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[method, route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[method, route] += seconds

    def text(self) -> str:
        """All counts, each with the number of this process, since every process of a service counts its own."""
        worker = f'worker="{os.getpid()}"'
        with self._lock:
            lines = ["# HELP kinelo_requests_total Requests answered.", "# TYPE kinelo_requests_total counter"]
            for (method, route, status), count in sorted(self._requests.items()):
                labels = f'method="{method}",route="{route}",status="{status}",{worker}'
                lines.append(f"kinelo_requests_total{{{labels}}} {count}")
            lines += ["# HELP kinelo_request_seconds Time until a request was answered.",
                      "# TYPE kinelo_request_seconds histogram"]  # fmt: skip
            for (method, route), counts in sorted(self._buckets.items()):
                labels, total = f'method="{method}",route="{route}",{worker}', 0
                for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                    total += count
                    lines.append(f'kinelo_request_seconds_bucket{{{labels},le="{bound}"}} {total}')
                lines.append(f"kinelo_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}")
                lines.append(f"kinelo_request_seconds_count{{{labels}}} {total}")
        return "\n".join(lines) + "\n"
