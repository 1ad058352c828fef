"""The tables of a rating book, written once for both databases: ``{real}`` and the like are filled in by each.

``about`` says which rater it is and how ratings are counted in points; ``match`` (or ``contest`` and ``entry``) holds
what was played, in the order ``date, rank, place``; ``slot`` what is known of everyone; ``common`` what all share;
``checkpoint`` the whole state before certain days; ``source`` the tables that were added; ``milestone`` when all
ratings were computed anew. ``rating`` shows everyone in
points, the best of all by ``ORDER BY rating DESC``.
"""

from __future__ import annotations

import json
from typing import Any

from kinelo.errors import InputError
from kinelo.raters.qualifying import REFERENCE_DAYS

FORMAT = "1"
"""Version of these tables."""


def plain_json(value: Any) -> str:
    """JSON as books write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_json(text: Any, book: str = "A row") -> Any:
    """What was kept as JSON; refused where it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"{book} holds text where JSON belongs.") from None


class in_book:
    """Whatever a rater finds wrong with what a book holds, as a sentence that names the book."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.name}: {error} Nothing was changed; put back a copy.") from None
        if isinstance(error, TypeError | ValueError | KeyError | IndexError | OverflowError | AttributeError):
            raise InputError(f"{self.name} holds what no rater stores; nothing was changed, put back a copy.") from None


TABLES = {
    "about": """CREATE TABLE about (
  key {text} PRIMARY KEY,
  value {text} NOT NULL
)""",
    "match": """CREATE TABLE match (
  number {number},
  match_id {text} NOT NULL UNIQUE,
  date {date} NOT NULL,
  home {text} NOT NULL,
  away {text} NOT NULL,
  result {real} NOT NULL,
  margin {real},
  neutral {flag} NOT NULL,
  weight {real} NOT NULL,
  conditions {text},
  lineups {text},
  rank {integer} NOT NULL,
  place {integer} NOT NULL,
  line {integer}
)""",
    "contest": """CREATE TABLE contest (
  number {number},
  contest_id {text} NOT NULL UNIQUE,
  name {text} NOT NULL,
  date {date} NOT NULL,
  weight {real} NOT NULL,
  title {text},
  kinds {text} NOT NULL,
  rank {integer} NOT NULL,
  place {integer} NOT NULL
)""",
    "entry": """CREATE TABLE entry (
  contest_id {text} NOT NULL,
  number {integer} NOT NULL,
  entrant {text} NOT NULL,
  place {real} NOT NULL,
  ended {integer} NOT NULL,
  distance {real},
  slots {text} NOT NULL,
  PRIMARY KEY (contest_id, number)
)""",
    "slot": """CREATE TABLE slot (
  number {number},
  kind {text} NOT NULL,
  name {text} NOT NULL,
  mean {real} NOT NULL,
  variance {real} NOT NULL,
  deviation {real} NOT NULL,
  games {integer} NOT NULL,
  last_day {integer} NOT NULL,
  supposed {integer} NOT NULL DEFAULT 0,
  more {text},
  UNIQUE (kind, name)
)""",
    "common": """CREATE TABLE common (
  name {text} PRIMARY KEY,
  value {text} NOT NULL
)""",
    "checkpoint": """CREATE TABLE checkpoint (
  number {number},
  date {date},
  matches {integer} NOT NULL,
  state {blob} NOT NULL
)""",
    "source": """CREATE TABLE source (
  digest {text} PRIMARY KEY,
  rank {integer} NOT NULL,
  named {flag} NOT NULL
)""",
}

MILESTONES = {
    "milestone": """CREATE TABLE milestone (
  number {integer} PRIMARY KEY,
  what {text} NOT NULL,
  name {text} NOT NULL,
  date {date} NOT NULL,
  matches {integer} NOT NULL,
  details {text} NOT NULL
)""",
    "milestone_rating": """CREATE TABLE milestone_rating (
  number {integer} NOT NULL,
  kind {text} NOT NULL,
  name {text} NOT NULL,
  place {integer} NOT NULL,
  rating {real} NOT NULL,
  deviation {real},
  games {integer} NOT NULL,
  rating_after {real},
  deviation_after {real},
  reward {text},
  PRIMARY KEY (number, kind, name)
)""",
}
"""Tables that a book has once parameters were learnt anew or a season was closed: ratings before and after."""

INDEXES = {
    "match_order": "CREATE INDEX match_order ON match (date, rank, place)",
    "contest_order": "CREATE INDEX contest_order ON contest (date, rank, place)",
    "contest_name": "CREATE INDEX contest_name ON contest (name)",
    "source_nameless": "CREATE INDEX source_nameless ON source (rank) WHERE named = 0",
}

VIEWS = {
    "rating": """CREATE VIEW rating AS
SELECT slot.kind, slot.name,
  points.zero + points.unit * (slot.mean - points.relative * COALESCE(level.mean, 0)) AS rating,
  points.unit * slot.deviation AS deviation,
  slot.games - slot.supposed AS games,
  CASE WHEN slot.last_day > -150000 THEN {day} END AS last_played
FROM slot
CROSS JOIN (SELECT
  (SELECT CAST(value AS {real}) FROM about WHERE key = 'points: zero') AS zero,
  (SELECT CAST(value AS {real}) FROM about WHERE key = 'points: unit') AS unit,
  (SELECT CAST(value AS {real}) FROM about WHERE key = 'points: relative') AS relative) AS points
LEFT JOIN (SELECT kind, AVG(mean) AS mean FROM slot
  WHERE games > 0 AND last_day >= (SELECT MAX(last_day) FROM slot) - """
    f"{REFERENCE_DAYS}"
    """ GROUP BY kind) AS level
  ON level.kind = slot.kind
WHERE slot.games > 0""",
}
