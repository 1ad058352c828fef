"""Days, times of a day and rounds, whatever a column calls them.

Days are text in many orders, days of a spreadsheet or seconds since 1970. A style is a property of a cell: one column
may hold ``01.02.2016``, ``02/02/16``, ``2016-02-03`` and ``44256``. Only the order of day, month and year is one of the
column. Text such as ``01/02/03`` may be meant in three ways. What the
column itself decides (a 31 that can only be a day, rows that stand in order in one reading alone) is read so; where
nothing decides, a note says what was taken for granted.

Rounds are ranked whatever a file calls them: qualifying comes first, then groups, then numbered rounds, then rounds of
128, 64, …, quarter-finals, semi-finals, the match for the third place and the final.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.dated import EARLIEST, LATEST
from kinelo.matches.names import as_text, encode_names, read_numbers
from kinelo.presentation import counted

DateOrder = Literal["dmy", "mdy", "ymd"]
Days = NDArray[np.datetime64]
ORDERS: dict[DateOrder, str] = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
PLAIN_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d-%B-%Y",
    "%d %b %y", "%b %d %Y", "%B %d %Y", "%b-%d-%Y", "%Y %b %d",
)  # fmt: skip
"""Formats in which the year or a word tells day from month."""

ORDERED_FORMATS: dict[str, tuple[str, ...]] = {
    "dmy": ("%d/%m/%Y", "%d/%m/%y"),
    "mdy": ("%m/%d/%Y", "%m/%d/%y"),
    "ymd": ("%y/%m/%d",),
}
"""Formats of three numbers in each order, whatever the sign between them."""

USUAL = r"^(\d{4}-\d{2}-\d{2})(?:[Tt ]\d{2}:.*)?$"
"""Dates that nearly all files write, perhaps with a time."""

NUMBERS = r"^\d{1,2}([-/.])\d{1,2}([-/.])(\d{4}|\d{2})$"
WEEKDAYS = {
    word: day
    for day, words in enumerate((
        "mo mon lun seg maa", "di tu tue mar die ter din", "mi we wed mer mie mit qua wo woe",
        "do th thu jeu jue don qui gio", "fr fri ven vie fre sex vr vri", "sa sat sam sab za zat",
        "so su sun dim dom son zo zon",
    ))
    for word in words.split()
}  # fmt: skip
"""The first letters of the days of a week in English, German, French, Spanish, Portuguese, Italian and Dutch."""

WEEKDAY_COLUMNS = (
    "weekday", "dayofweek", "dow", "day", "wochentag", "tag", "jour", "dia", "diasemana", "giorno", "dag",
)  # fmt: skip
WEEKDAY = r"^\s*([^\W\d_]{2,})(?:-feira)?\.?,?\s+"
WEEKDAY_BEHIND = r"\d[\s,]+\(?([^\W\d_]{2,})\.?\)?\s*$"
TIME_BEHIND = r"(?i)[t ,]+\d{1,2}:\d{2}.*$"
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

LARGEST_YEAR = 9999
MOST_YEARS_AHEAD = 3
LEAST_DAYS_IN_ORDER = 5
"""Different days that must stand in order before their order decides anything."""

LEAST_COUNTED = 20_000
"""Numbers above this count days or seconds from some day on."""

TIME = r"(?i)(?:^|[t ])(\d{1,2})[:h.](\d{2})(?:[:.](\d{2}))?\s*([ap])?\.?m?"


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
    text = pl.Series(words, dtype=pl.String)
    usual = _read(text.str.extract(USUAL, 1), "%Y-%m-%d", played)
    if not np.isnat(usual).any():
        return DaysRead(np.append(usual, NOWHERE)[codes], "%Y-%m-%d")
    cells = _Cells(column.name, text, played)
    rows = np.bincount(codes[codes >= 0], minlength=len(words))
    notes = [note] if (note := cells.read_counted()) else []
    for form in PLAIN_FORMATS:
        # The year or month stands in a place or word that gives it away.
        left = np.flatnonzero(np.isnat(cells.days) & ~cells.three_numbers)
        if not left.size:
            break
        cells.days[left] = _read((cells.timeless if " " in form else cells.short).gather(left), form, played)
        cells.style[left[~np.isnat(cells.days[left])]] = form
    if cells.three_numbers.any():
        chosen, days = _best_order(cells, codes, rows, order, notes)
        three = cells.three_numbers & ~np.isnat(days)
        cells.days = np.where(three, days, cells.days)
        letters = ["%" + letter for letter in chosen]
        for k in np.flatnonzero(three).tolist():
            cells.style[k] = cells.sign[k].join(letters).replace("%y", "%Y" if len(cells.year[k]) == 4 else "%y")
    styles = {style: k for k, style in reversed(list(enumerate(cells.style))) if style and style != COUNTED}
    if len(styles) > 1:
        shown = " and ".join(repr(words[k]) for k in sorted(styles.values())[:3])
        notes.append(f"dates are written in {len(styles)} ways, such as {shown}: each cell was read by its own")
    form = next(iter(styles)) if len(styles) == 1 else None
    return DaysRead(np.append(cells.days, NOWHERE)[codes], form, notes)


COUNTED = "counted"
"""The style of a cell that counts days or seconds."""


class _Cells:
    """The different entries of a column of dates: what is read of each so far (NaT for nothing), and its style."""

    def __init__(self, name: str, text: pl.Series, played: bool) -> None:
        self.name, self.text, self.played = name, text, played
        self.days: Days = np.full(len(text), NOWHERE)
        self.style: NDArray[np.object_] = np.full(len(text), "", object)
        plain = text.str.replace_all("[\u2212\u2013]", "-").str.replace(r"^(\d{4})$", "$1-01-01")
        before = _weekdays(plain.str.extract(WEEKDAY))
        # Mar 5 is a day in March, mar. 05/03 a Tuesday.
        before[before == 1] = np.where(plain.str.contains(r"\d[-/.]\d").to_numpy(), 1, -1)[before == 1]
        self.weekday = np.maximum(before, _weekdays(plain.str.extract(WEEKDAY_BEHIND)))
        plain = plain.zip_with(pl.Series(before < 0), plain.str.replace(WEEKDAY, "")).str.replace(
            r"(?i)^(\d{1,2})(?:st|nd|rd|th|\.)( )", "$1$2"
        )
        plain = plain.str.replace(TIME_BEHIND, "")
        self.timeless = plain.str.replace_all(",", " ").str.replace_all(r"\s+", " ").str.strip_chars()
        # A zone behind the date ("2024-05-01Z", "2024-05-01 UTC") is cut off.
        self.short = self.timeless.str.split(" ").list.first().str.split("T").list.first()
        parts = self.short.str.extract_groups(NUMBERS).struct
        self.sign, self.year = parts.field("1"), parts.field("3")
        self.three_numbers = (self.sign == parts.field("2")).fill_null(False).to_numpy()

    def read_counted(self) -> str | None:
        """Days that are counted from some day on: by spreadsheets, or in seconds; how they were read."""
        numbers = self.text.cast(pl.Float64, strict=False).to_numpy()
        counted = np.isfinite(numbers) & ~((numbers >= 1e7) & (numbers < 1e8)) & (numbers > LARGEST_YEAR)
        for least, most, length, epoch, words in DATE_UNITS:
            fits = counted & (numbers >= least) & (numbers < most)
            if not fits.any() or fits.sum() < MOST_OF * counted.sum():
                continue
            count = np.floor(np.where(fits, numbers, 0.0) / length).astype(np.int64) - epoch
            self.days = np.where(fits, count.astype("datetime64[D]"), NOWHERE)
            self.style[fits] = COUNTED
            first = int(np.flatnonzero(fits)[0])
            return f"the numbers in {self.name!r} were read as {words}: {self.text[first]} is {self.days[first]}"
        return None

    def in_order(self, order: DateOrder) -> Days:
        """Days of cells of three numbers, in this order; NaT for those that it does not make a day of."""
        days = np.full(len(self.text), NOWHERE)
        text = self.short.str.replace_all(r"[-.]", "/")
        for form in ORDERED_FORMATS[order]:
            read = _read(text, form, self.played)
            days = np.where(self.three_numbers & np.isnat(days), read, days)
        return days


def _weekdays(words: pl.Series) -> NDArray[np.int64]:
    """The day of the week (0 for Monday) of each word, -1 for none."""
    plain = {word: plain_name(word) for word in words.unique().drop_nulls().to_list()}
    days = {word: WEEKDAYS.get(name[:3] if len(name) > 2 else name, -1) for word, name in plain.items()}
    return words.replace_strict(days, default=-1, return_dtype=pl.Int64).to_numpy().copy()


def with_weekdays(dates: pl.Series, column: pl.Series) -> pl.Series | None:
    """Dates with the weekdays that stand in a column beside them; None where it holds something else."""
    words = as_text(column).str.strip_chars()
    known = pl.Series(_weekdays(words) >= 0)
    if dates.dtype != pl.String or not known.any() or not (known | words.is_null()).all():
        return None
    return dates.zip_with(~known, words + " " + dates.str.strip_chars()).alias(dates.name)


def _best_order(
    cells: _Cells, codes: NDArray[np.int32], rows: NDArray[np.int64], order: DateOrder | None, notes: list[str]
) -> tuple[DateOrder, Days]:
    """The order in which most cells of three numbers are days, and these; a note where others could be meant."""
    if order is not None:
        return order, cells.in_order(order)
    days: dict[DateOrder, Days] = {each: cells.in_order(each) for each in ORDERS}
    counts: dict[DateOrder, int] = {each: int(rows[~np.isnat(days[each])].sum()) for each in days}
    best: DateOrder = max(counts, key=lambda each: counts[each])
    if (with_weekday := cells.three_numbers & (cells.weekday >= 0)).any():
        fits = {
            o: with_weekday & ((days[o].astype(np.int64) + 3) % 7 == cells.weekday) & ~np.isnat(days[o]) for o in days
        }
        right: dict[DateOrder, int] = {o: int(rows[fits[o]].sum()) for o in days}
        most: list[DateOrder] = [order for order in days if right[order] == max(right.values())]
        if wrong := int(rows[with_weekday].sum()) - max(right.values()):
            notes.append(f"{counted(wrong, 'date contradicts its', 'dates contradict their')} weekday")
        if len(most) == 1:
            shown = cells.text[int(np.flatnonzero(fits[most[0]])[0])]
            notes.append(f"dates such as {shown!r} were read as {ORDERS[most[0]]}: so their weekdays are right")
            return most[0], days[most[0]]
    others: list[tuple[int, DateOrder]] = [
        (int(rows[np.isnat(days[best]) & ~np.isnat(days[o])].sum()), o) for o in days if o != best
    ]
    number, other = max(others)
    if number:
        notes.append(
            f"dates are written in two orders: {number:,} can only be {ORDERS[other]} and were set aside, and "
            f"others that were read as {ORDERS[best]} may be wrong"
        )
    shown = cells.text[int(np.flatnonzero(cells.three_numbers)[0])]
    level: list[DateOrder] = [o for o in days if counts[o] == counts[best] and not _same(days[o], days[best])]
    if level and counts[best] and not number:
        rows_read = codes[codes >= 0]
        whole: dict[DateOrder, Days] = {
            each: np.where(cells.three_numbers, days[each], cells.days)[rows_read] for each in days
        }
        best = _decided(shown, best, level, whole, notes)
    return best, days[best]


def _read(text: pl.Series, form: str, played: bool) -> Days:
    """Days in one format; unlikely ones are none, and two-digit years lie in the past."""
    days = text.str.to_date(form, strict=False)
    if "%y" in form:
        latest = np.datetime64("today", "D") + (0 if played else 365 * MOST_YEARS_AHEAD)
        early = days.dt.offset_by("-100y")
        days = days.zip_with((days <= latest.item()).fill_null(True), early)
    found = days.to_numpy().astype("datetime64[D]")
    return np.where((found >= EARLIEST) & (found < LATEST), found, NOWHERE)


def _decided(
    shown: str, best: DateOrder, level: list[DateOrder], days: dict[DateOrder, Days], notes: list[str]
) -> DateOrder:
    """Of orders that read as many dates, the one in which rows stand in order; else the usual one, with a note."""
    in_order: list[DateOrder] = [order for order in (best, *level) if _in_order(days[order])]
    if len(in_order) == 1:
        notes.append(f"dates such as {shown!r} were read as {ORDERS[in_order[0]]}: so the rows stand in order")
        return in_order[0]
    others = " or ".join(ORDERS[order] for order in level)
    notes.append(
        f"nothing decides the order of dates such as {shown!r}: they were read as {ORDERS[best]}, not as {others}; say "
        f"dates={level[0]!r} if that is wrong"
    )
    return best


def _same(one: Days, other: Days) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _in_order(days: Days) -> bool:
    known = days[~np.isnat(days)]
    steps = np.diff(known).astype(np.int64)
    return bool(np.unique(known).size >= LEAST_DAYS_IN_ORDER and (np.all(steps >= 0) or np.all(steps <= 0)))


def times_of_day(column: pl.Series) -> NDArray[np.float64]:
    """Seconds into the day as a column of times, of text or of numbers tells them; NaN where it does not."""
    if column.dtype == pl.Date:
        return np.full(len(column), np.nan)
    if isinstance(column.dtype, pl.Datetime):
        column = column.dt.replace_time_zone(None).dt.time()
    if column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e9
    if column.dtype.is_numeric():
        return read_numbers(column)
    # A day has many matches: each text is looked at once.
    (codes,), values = encode_names(column)
    text = pl.Series([*values, None], dtype=pl.String)
    numbers = read_numbers(text)  # seconds since 1970, or days and parts of a day of a spreadsheet
    counted_time = np.where(numbers > LEAST_COUNTED, numbers, np.nan)
    parts = text.str.extract_groups(TIME).struct
    hour, minute, second = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
    half = parts.field("4").str.to_lowercase().fill_null("").to_numpy()
    hour = np.where(half == "", hour, hour % 12 + np.where(half == "p", 12, 0))
    time = hour * 3600.0 + minute * 60.0 + np.where(np.isnan(second), 0.0, second)
    return np.where(np.isnan(time), counted_time, time)[codes]


QUALIFYING, GROUP_ORDER, NUMBERED, KNOCK_OUT = 0.0, 100.0, 200.0, 100_000.0
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
GROUP_STAGE = re.compile(
    r"(rr|round robin|league|liga|pool|group|groups|gruppe|gruppenphase|grupo|groupe|poule|girone|groep|fase de grupos)"
    r"( stage| phase| play)?( [a-z0-9]{1,2})?"
)
QUALIFIER = re.compile(r"(?:q|qual|qualif\w*|quali\w*|prelim\w*|vorrunde|preliminar\w*)(?: round| runde)? ?(\d*)")
ROUND_NUMBER = re.compile(
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
    for number, word in enumerate(ORDINALS, 1):
        name = re.sub(rf"\b{word}\b(?! place)", str(number), name)
    return name


def _rank(name: str, knock_out: bool) -> float:
    """Rank of one name; ``r16`` is a round of sixteen only beside finals."""
    for before_final, pattern in FINALS.items():
        if re.fullmatch(pattern, name):
            return KNOCK_OUT - before_final
    if parts := SIDES.fullmatch(name):
        sides = int(parts[1]) if parts[1] else 2 * int(parts[2])
        if sides >= 2 and sides & (sides - 1) == 0 and (knock_out or not re.fullmatch(r"r ?\d+", name)):
            return KNOCK_OUT + 1.0 - math.log2(sides)
    if parts := QUALIFIER.fullmatch(name):
        return QUALIFYING + float(parts[1] or 0)
    if GROUP_STAGE.fullmatch(name) and not re.fullmatch(r"(?:poule|league|liga) \d+", name):
        return GROUP_ORDER
    parts = ROUND_NUMBER.fullmatch(name)
    return NUMBERED + float(parts[1]) if parts and len(parts[1]) < 5 else math.nan
