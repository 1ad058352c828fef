"""Days from whatever a column calls them: text in many orders, days of a spreadsheet, seconds since 1970.

Text such as ``01/02/03`` may be meant in three ways. What the column itself decides (a 31 that can only be a day, rows
that stand in order in one reading alone) is read so; where nothing decides, a note says what was taken for granted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import EARLIEST, LATEST
from kinelo.matches.names import encode_names

DateOrder = Literal["dmy", "mdy", "ymd"]
Days = NDArray[np.datetime64]
ORDERS = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y",
    "%m.%d.%Y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%y", "%m/%d/%y", "%m-%d-%y", "%y/%m/%d", "%y-%m-%d", "%y.%m.%d",
    "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
NOWHERE = np.datetime64("NaT", "D")
SPREADSHEET = 25_569
"""The day of a spreadsheet that is 1970-01-01."""

DATE_UNITS = (
    (20_000, 80_000, 1.0, SPREADSHEET, "days of a spreadsheet"),
    (1e8, 5e9, 86_400.0, 0, "seconds since 1970"),
    (1e11, 5e12, 86_400e3, 0, "milliseconds since 1970"),
    (1e14, 5e15, 86_400e6, 0, "microseconds since 1970"),
    (1e17, 5e18, 86_400e9, 0, "nanoseconds since 1970"),
)
"""Smallest and largest number, how many make a day, the number of 1970-01-01 in days, and what they are."""

MOST_OF = 0.9
"""Share of the different entries that must be such numbers."""

MOST_YEARS_AHEAD = 3
LEAST_DAYS_IN_ORDER = 5
"""Different days that must stand in order before their order decides anything."""


@dataclass(frozen=True)
class DaysRead:
    """Days (NaT where unreadable), the format of text, and what had to be decided."""

    days: Days
    form: str | None = None
    notes: list[str] = field(default_factory=list)


def check_date_order(order: str | None) -> None:
    """Refuse an order of dates that does not exist."""
    if order is not None and order not in list(ORDERS):
        raise InputError(f"dates={order!r:.40} is no order of dates; it is 'dmy', 'mdy' or 'ymd'.")


def read_dates(column: pl.Series, order: DateOrder | None = None, *, played: bool = True) -> DaysRead:
    """Days of a column; two-digit years of matches ``played`` do not lie in the future.

    >>> read = read_dates(pl.Series("day", ["44256", "44257"]))
    >>> read.days[0], read.notes
    (np.datetime64('2021-03-01'), ["the numbers in 'day' were read as days of a spreadsheet: 44256 is 2021-03-01"])
    """
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        # The day as written in the zone given, as it would stand in a file.
        local = column.dt.replace_time_zone(None) if isinstance(column.dtype, pl.Datetime) else column
        return DaysRead(local.cast(pl.Date).to_numpy().astype("datetime64[D]", copy=False))
    # A column has few different days, however many matches it has.
    (codes,), words = encode_names(column)
    text = pl.Series(column.name, words, dtype=pl.String)
    found = _from_numbers(text) or _from_text(text, codes, order, played)
    return DaysRead(np.append(found.days, NOWHERE)[codes], found.form, found.notes)


def _from_numbers(text: pl.Series) -> DaysRead | None:
    """Days that are counted from some day on; None where the column holds anything else."""
    numbers = text.cast(pl.Float64, strict=False).to_numpy()
    for least, most, length, epoch, words in DATE_UNITS:
        fits = (numbers >= least) & (numbers < most)
        if not fits.any() or fits.mean() < MOST_OF:
            continue
        count = np.floor(np.where(fits, numbers, 0.0) / length).astype(np.int64) - epoch
        days = np.where(fits, count.astype("datetime64[D]"), NOWHERE)
        first = int(np.flatnonzero(fits)[0])
        note = f"the numbers in {text.name!r} were read as {words}: {text[first]} is {days[first]}"
        return DaysRead(days, None, [note])
    return None


def _from_text(text: pl.Series, codes: NDArray[np.int32], order: DateOrder | None, played: bool) -> DaysRead:
    whole = pl.col("day").str.replace(r"^(\d{4})$", "$1-01-01")
    # A time of day after the date ("2024-05-01T18:00Z", "01/05/2024 18:00") is cut off.
    cut = whole.str.split(" ").list.first().str.split("T").list.first()
    text, short = text.to_frame("day").select(whole.alias("whole"), cut.alias("short"))
    rows = np.bincount(codes[codes >= 0], minlength=len(text))
    read: dict[str, Days] = {}
    for form in FORMATS:
        if order is None or _order_of(form) in (None, order):
            read[form] = _read(text if " " in form else short, form, played)
            if not np.isnat(read[form]).any() and _order_of(form) is None:
                break
    counts = {form: int(rows[~np.isnat(days)].sum()) for form, days in read.items()}
    best = max(counts, key=lambda form: counts[form])
    if counts[best] == 0:
        return DaysRead(np.full(len(text), NOWHERE))
    notes: list[str] = []
    rivals = [form for form in read if _order_of(best) is not None and _alike(form, best)]
    level = [f for f in rivals if counts[f] == counts[best] and not np.array_equal(read[f], read[best], equal_nan=True)]
    if level:
        best = _decided(text[0], best, level, {form: days[codes[codes >= 0]] for form, days in read.items()}, notes)
    elif others := [(int(rows[np.isnat(read[best]) & ~np.isnat(read[f])].sum()), f) for f in rivals]:
        number, form = max(others)
        if number:
            notes.append(
                f"dates are written in two orders: {number:,} can only be {_words(form)} and were set aside, and "
                f"others that were read as {_words(best)} may be wrong"
            )
    return DaysRead(read[best], best, notes)


def _read(text: pl.Series, form: str, played: bool) -> Days:
    """Days in one format; unlikely ones are none, and two-digit years lie in the past."""
    days = text.str.to_date(form, strict=False)
    if "%y" in form:
        latest = np.datetime64("today", "D") + (0 if played else 365 * MOST_YEARS_AHEAD)
        early = days.dt.offset_by("-100y")
        days = days.zip_with((days <= latest.item()).fill_null(True), early)
    found = days.to_numpy().astype("datetime64[D]")
    return np.where((found >= EARLIEST) & (found < LATEST), found, NOWHERE)


def _order_of(form: str) -> DateOrder | None:
    """The order of a format that another one could be mistaken for; None where the year or a word gives it away."""
    if "%b" in form or "%B" in form or form.startswith("%Y"):
        return None
    return {"%d": "dmy", "%m": "mdy", "%y": "ymd"}[form[:2]]  # type: ignore[return-value]


def _decided(shown: str, best: str, level: list[str], read: dict[str, Days], notes: list[str]) -> str:
    """Of formats that read as many dates, the one in which rows stand in order; else the usual one, with a note."""
    in_order = [form for form in (best, *level) if _in_order(read[form])]
    if len(in_order) == 1:
        notes.append(f"dates such as {shown!r} were read as {_words(in_order[0])}: so the rows stand in order")
        return in_order[0]
    others = " or ".join(_words(form) for form in level)
    said = _order_of(level[0])
    notes.append(
        f"nothing decides the order of dates such as {shown!r}: they were read as {_words(best)}, not as {others}; say "
        f"dates={said!r} (--dates {said} on the command line) if that is wrong"
    )
    return best


def _words(form: str) -> str:
    return ORDERS[_order_of(form) or "dmy"]


def _alike(form: str, best: str) -> bool:
    """Whether a format has the signs between numbers and the width of years of another one, in another order."""
    return _order_of(form) is not None and form[2] == best[2] and ("%y" in form) == ("%y" in best)


def _in_order(days: Days) -> bool:
    known = days[~np.isnat(days)]
    steps = np.diff(known).astype(np.int64)
    return bool(np.unique(known).size >= LEAST_DAYS_IN_ORDER and (np.all(steps >= 0) or np.all(steps <= 0)))
