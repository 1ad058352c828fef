"""FIDE's Rating Regulations in force since 1 March 2024, as amended on 1 October 2025, for standard chess.

Paragraphs are those of the FIDE Handbook, B.02. All of it is whole numbers, hundredths of a point, so that nothing is
rounded but where the regulations round:

- 8.1.1, 8.1.2: the two tables, as printed.
- 8.2: a first rating is ``Ru = Ra + dp`` from at least five games against rated opponents and two hypothetical draws
  with opponents rated 1800; at most 2200, and published from 1400 on.
- 8.3.1: a difference above 400 points counts as 400; since 1 October 2025 not for a player rated 2650 or above.
- 8.3.2 to 8.3.4: ``ΔR = score − PD`` game by game, ``K ΣΔR`` over a period, rounded with halves away from zero.
- 8.3.3: K is 40, 20 or 10, and ``K n`` of a period is at most 700.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date

from kinelo.errors import InputError
from kinelo.model.steps import ELITE as ELITE_FROM
from kinelo.model.steps import JUNIOR_LINE as JUNIORS_BELOW
from kinelo.model.steps import K_ELITE, K_NEW, K_SETTLED, NEW_GAMES

IN_FORCE = date(2024, 3, 1)
"""The first day of these regulations; games before it went by others."""
FULL_DIFFERENCE_SINCE = date(2025, 10, 1)
"""From this day on the differences of a player rated 2650 or above are no longer cut to 400."""

FLOOR = 1400
HIGHEST_FIRST = 2200
LEAST_GAMES = 5
POOLED_MONTHS = 26
MOST_DIFFERENCE = 400
UNCUT = 2650
ELITE, JUNIOR_LINE = int(ELITE_FROM), int(JUNIORS_BELOW)
JUNIOR_AGE = 18
MOST_K_TIMES_GAMES = 700
HYPOTHETICAL = (1800, 1800)

# 8.1.2: the smallest difference of each row, from .50 of the higher rated player on, a hundredth at a time.
ROWS = (
    0, 4, 11, 18, 26, 33, 40, 47, 54, 62, 69, 77, 84, 92, 99, 107, 114, 122, 130, 138, 146, 154, 163, 171, 180, 189,
    198, 207, 216, 226, 236, 246, 257, 268, 279, 291, 303, 316, 329, 345, 358, 375, 392, 412, 433, 457, 485, 518, 560,
    620, 736,
)  # fmt: skip
# 8.1.1: dp of p = .50, .51, … 1.00; below .50 it is the same with the other sign.
DP = (
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184, 193,
    202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538, 589,
    677, 800,
)  # fmt: skip


def score_probability(difference: int) -> int:
    """PD of 8.1.2 in hundredths, for a player rated so many points above the opponent (below, where negative).

    >>> score_probability(100), score_probability(-100), score_probability(736)
    (64, 36, 100)
    """
    higher = 49 + bisect_right(ROWS, abs(difference))
    return higher if difference >= 0 else 100 - higher


def counted_difference(rating: int, opponent: int, day: date) -> int:
    """The difference that counts, 8.3.1, for the player rated ``rating`` in an event that began on this day.

    >>> counted_difference(2500, 1900, date(2024, 5, 1)), counted_difference(2700, 1900, date(2025, 10, 1))
    (400, 800)
    """
    difference = rating - opponent
    if rating >= UNCUT and day >= FULL_DIFFERENCE_SINCE:
        return difference
    return max(-MOST_DIFFERENCE, min(MOST_DIFFERENCE, difference))


def rating_difference(hundredths: int) -> int:
    """Table 8.1.1: dp of a score of so many hundredths.

    >>> rating_difference(57), rating_difference(43), rating_difference(100)
    (50, -50, 800)
    """
    return DP[hundredths - 50] if hundredths >= 50 else -DP[50 - hundredths]


def first_rating(opponents: Sequence[int], halves: int) -> int | None:
    """The rating of a new player who scored so many half points against these, 8.2; None where none is published.

    Where ``p`` lies halfway between two hundredths, or Ru between two whole numbers, it is rounded up.

    >>> first_rating([1850, 1900, 1920, 1937, 1900], halves=6)
    1922
    >>> first_rating([1850, 1900, 1920, 1937], halves=8) is None
    True
    """
    if len(opponents) < LEAST_GAMES:
        return None
    met = [*opponents, *HYPOTHETICAL]
    n, score = len(met), halves + len(HYPOTHETICAL)
    hundredths = (100 * score + n) // (2 * n)  # p to the nearest hundredth
    doubled = 2 * (sum(met) + n * rating_difference(hundredths)) + n
    rating = min(doubled // (2 * n), HIGHEST_FIRST)
    return rating if rating >= FLOOR else None


def development_coefficient(games: int, highest: int, born: int | None, year: int) -> int:
    """K on a list of this year, 8.3.3, of a player with so many games and this highest published rating.

    A published rating of 2400 goes before all else; then a junior who never reached 2300; then the first 30 games.

    >>> [development_coefficient(*one, year=2025) for one in [(99, 2400, 2010), (99, 2100, 2007), (3, 1500, None)]]
    [10, 40, 40]
    >>> development_coefficient(99, 2100, 2006, year=2025)
    20
    """
    if highest >= ELITE:
        return int(K_ELITE)
    young = born is not None and year - born <= JUNIOR_AGE and highest < JUNIOR_LINE
    return int(K_NEW if young or games < NEW_GAMES else K_SETTLED)


def coefficient_of_period(k: int, games: int) -> int:
    """K of a period in which a player has so many games: the largest whole number with ``K n`` at most 700.

    >>> coefficient_of_period(20, 35), coefficient_of_period(20, 39)
    (20, 17)
    """
    return k if k * games <= MOST_K_TIMES_GAMES else MOST_K_TIMES_GAMES // games


def rounded_change(hundredths: int) -> int:
    """A change of rating to the nearest whole number, halves away from zero, 8.3.4.

    >>> rounded_change(-250), rounded_change(249)
    (-3, 2)
    """
    size = (abs(hundredths) + 50) // 100
    return size if hundredths >= 0 else -size


def check_in_force(day: date) -> None:
    """Refuse games that went by earlier regulations.

    >>> check_in_force(date(2023, 5, 1))
    Traceback (most recent call last):
    kinelo.errors.InputError: A match of 2023-05-01 went by earlier regulations: those that Kinelo knows are in force \
since 2024-03-01. To rate all matches by the rules of one day, say which: as_of="2025-10-01".
    """
    if day < IN_FORCE:
        raise InputError(
            f"A match of {day} went by earlier regulations: those that Kinelo knows are in force since {IN_FORCE}. To "
            'rate all matches by the rules of one day, say which: as_of="2025-10-01".'
        )
