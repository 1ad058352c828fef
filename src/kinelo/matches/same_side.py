"""Names of one side: those that a table of aliases joins, those that may be one, and those that may stand for two.

Two names are likely one side where one is the other with words left out, shortened or misspelt (``Fulham`` and
``Fulham FC``), and the matches agree: both meet the same opponents, they never meet one another, and they never play on
one day. ``Manchester City`` is another side than ``Manchester United`` by its words; ``Guinea`` than ``Equatorial
Guinea`` by its matches. Nothing is joined unless the user says so, by a table of aliases.

A column of few values cuts the matches into groups. Nobody plays across them, so that nothing in the results shows
whether a name that stands in two of them is one side or two: clubs with men's and women's teams, first and second
teams, leagues of one town. It is taken for one, and reported, where the column or its values speak of such a division,
where a name plays in two groups on one day, where the same pairs play a season of their own in each group, or where
names are strong in one group and weak in the other more than one side would be. A group is closed: its names are host
and guest in it. What follows from the host, the turf of a ground say, is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import listed, plain_name
from kinelo.matches.contests import Contests
from kinelo.matches.dated import check_played
from kinelo.matches.loading import load_table
from kinelo.matches.matches import Matches
from kinelo.matches.names import as_text, clean_name, encode_names
from kinelo.presentation import counted

if TYPE_CHECKING:
    from kinelo.matches.rows import MatchRows

CLUB_WORDS = frozenset({
    "fc", "afc", "cf", "sc", "ac", "cd", "ca", "as", "ss", "us", "sv", "fk", "sk", "bk", "if", "vfb", "vfl", "tsv",
    "tsg", "rc", "sd", "ud", "club", "team", "football", "soccer", "basketball", "calcio", "the", "de", "of", "ev",
})  # fmt: skip
"""Words that say what a side is, not which."""

TELLING_WORDS = re.compile(
    r"north|south|east|west|nord|sud|ost|northern|southern|eastern|western|republic|wom[ae]n|ladies|girls|men|boys|youth"
    r"|juniors?|jr|reserves?|u\d+|i+|iv|v|b|c|[abc]?\d+"
)
"""Words that tell one side from another of the same name."""

MOST_NAMES = 5_000
PAIRS_SHOWN = 3
LEAST_LETTERS = 5
"""Letters of a name in which one may be wrong."""

LONGEST_SHORTENED = 4
"""Letters of an abbreviation such as ``utd`` that leaves out letters within a word."""

NO_DIGITS = re.compile(r"\D")
LEAST_OPPONENTS = 2
SHARE = 0.5
"""Opponents of the one with fewer that must be opponents of the other too."""


def likely_names(matches: Matches | Contests) -> pl.DataFrame:
    """Pairs of names that may be one side, or one entrant of contests, to confirm and hand over as ``aliases=``.

    ``wanted`` has played more than ``found``.

    >>> import kinelo as kn
    >>> table = {"home": ["Man United", "Leeds", "Manchester United", "Leeds", "York"],
    ...          "away": ["Leeds", "York", "York", "Manchester United", "Man United"], "result": [1, 0, 1, 0, 1]}
    >>> kn.matches.likely_names(kn.read_matches(table)).rows()
    [('Man United', 'Manchester United')]
    """
    import polars as pl

    check_played(matches)
    day = matches.day if matches.dated else None
    if isinstance(matches, Matches):
        pairs = likely_pairs(matches.teams, matches.home, matches.away, day)
    else:
        contest = matches.contest
        pairs = likely_entrants(matches.entrants, matches.entrant, contest, None if day is None else day[contest])
    return pl.DataFrame(pairs, {"found": pl.String, "wanted": pl.String}, orient="row")


def likely_pairs(
    teams: tuple[str, ...], home: NDArray[np.int32], away: NDArray[np.int32], day: NDArray[np.int64] | None
) -> list[tuple[str, str]]:
    """Pairs of names that may be one side, each with the name that has played less first."""
    met = np.flatnonzero(np.bincount(home, minlength=len(teams)) + np.bincount(away, minlength=len(teams)))
    return _likely(teams, met, lambda wanted: Meetings(wanted, home, away, day))


def likely_entrants(
    entrants: tuple[str, ...], entrant: NDArray[np.int32], contest: NDArray[np.int64], day: NDArray[np.int64] | None
) -> list[tuple[str, str]]:
    """Pairs of names that may be one entrant; ``contest`` and ``day`` are those of each entry."""
    met = np.flatnonzero(np.bincount(entrant, minlength=len(entrants)))
    return _likely(entrants, met, lambda wanted: Fields(wanted, entrant, contest, day))


def _likely(
    names: tuple[str, ...], met: NDArray[np.int64], meetings_of: Callable[[set[int]], Meetings]
) -> list[tuple[str, str]]:
    if not 3 < met.size <= MOST_NAMES:
        return []
    words = {code: found for code in met.tolist() if (found := _words(names[code]))}
    close = [pair for pair in _candidates(words) if _one_name(words[pair[0]], words[pair[1]])]
    if not close:
        return []
    meetings = meetings_of({code for pair in close for code in pair})
    ordered = [tuple(sorted(pair, key=meetings.matches)) for pair in close]
    likely = []
    for rare, frequent in ordered:
        if not meetings.on_one_day(rare, frequent):
            opponents, others = meetings.opponents(rare), meetings.opponents(frequent)
            needed = max(min(LEAST_OPPONENTS, len(opponents)), SHARE * len(opponents))
            if frequent not in opponents and len(opponents & others) >= needed:
                likely.append((names[rare], names[frequent]))
    return likely


def note_of_likely(pairs: list[tuple[str, str]], side: str = "side") -> str:
    """What to say of names that may be one side."""
    shown = "; ".join(f"{one!r} and {other!r}" for one, other in pairs[:PAIRS_SHOWN])
    more = f" and {len(pairs) - PAIRS_SHOWN:,} more" if len(pairs) > PAIRS_SHOWN else ""
    one, other = pairs[0]
    return (
        f"names that may be one {side} count as two ({shown}{more}): they meet the same opponents and never one "
        f"another; aliases={{{one!r}: {other!r}}} joins them"
    )


def _words(name: str) -> tuple[str, ...]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(c))
    every = tuple(word for word in re.split(r"[^\w]+", plain) if word)
    return tuple(word for word in every if word not in CLUB_WORDS) or every


def _candidates(words: dict[int, tuple[str, ...]]) -> list[tuple[int, int]]:
    """Pairs of names of which :func:`_one_name` may hold, found without looking at every pair.

    They share all words in some order, or one is the beginning or end of the other, or each word of one may be the
    word of the other at its place. Of the last, names with the same telling words and initials are looked up by the
    place at which their words differ most, in an index of words that may be one (:func:`_related`).
    """
    whole: dict[tuple[str, ...], list[int]] = defaultdict(list)
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    initials: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for code, parts in words.items():
        whole[parts].append(code)
        alike[tuple(sorted(parts))].append(code)
        telling = frozenset(part for part in parts if TELLING_WORDS.fullmatch(part))
        initials[telling, tuple(part[0] for part in parts)].append(code)
    pairs = {pair for codes in alike.values() for pair in combinations(sorted(codes), 2)}
    related = _related({part for parts in words.values() for part in parts})
    for codes in initials.values():
        if len(codes) < 2:
            continue
        place = max(range(len(words[codes[0]])), key=lambda k: len({words[code][k] for code in codes}))
        by_word: dict[str, list[int]] = defaultdict(list)
        for code in codes:
            by_word[words[code][place]].append(code)
        pairs |= {pair for same in by_word.values() for pair in combinations(sorted(same), 2)}
        for word, same in by_word.items():
            for other in related[word] & by_word.keys():
                pairs |= {(min(one, two), max(one, two)) for one in same for two in by_word[other]}
    for code, parts in words.items():
        for k in range(1, len(parts)):
            pairs |= {(min(code, other), max(code, other)) for other in whole.get(parts[:k], [])}
            pairs |= {(min(code, other), max(code, other)) for other in whole.get(parts[k:], [])}
    return sorted(pairs)


def _related(words: set[str]) -> dict[str, set[str]]:
    """Words that may be each other shortened or misspelt: the pairs of :func:`_one_word`, from indexes.

    A word is looked up by its own beginnings, by what is left without one letter (two words one slip apart share
    that), and an abbreviation by its first and last letter.
    """
    relatives: dict[str, set[str]] = {word: set() for word in words}
    without: dict[str, list[str]] = defaultdict(list)
    ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for word in words:
        ends[word[0], word[-1]].append(word)
        for left in {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))} if len(word) >= LEAST_LETTERS else ():
            without[left].append(word)
    pairs = {pair for same in without.values() for pair in combinations(same, 2)}
    pairs |= {(word[:k], word) for word in words for k in range(1, len(word)) if word[:k] in words}
    for first, last in ends:
        same = ends[first, last]
        pairs |= {(a, b) for a in same if len(a) <= LONGEST_SHORTENED for b in same if len(b) > len(a)}
    for one, other in pairs:
        if _one_word(one, other):
            relatives[one].add(other)
            relatives[other].add(one)
    return relatives


def _one_name(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one name is the other with words left out, shortened or misspelt.

    >>> _one_name(("man", "utd"), ("manchester", "united")), _one_name(("manchester", "city"), ("manchester", "united"))
    (True, False)
    >>> _one_name(("newcastle",), ("newcastle", "united")), _one_name(("munchen", "bayern"), ("bayern", "munchen"))
    (True, True)
    """
    if sorted(first) == sorted(second):
        return True
    short, long = sorted((first, second), key=len)
    if any(TELLING_WORDS.fullmatch(part) for part in {*first} ^ {*second}):
        return False
    if len(short) == len(long):
        # At most one letter is wrong, and initials stand beside a whole word.
        wrong = [(a, b) for a, b in zip(short, long) if not _shortened(a, b)]
        whole = any(a == b or (min(len(a), len(b)) >= 3 and _shortened(a, b)) for a, b in zip(short, long))
        enough = whole if len(short) > 1 else min(map(len, (*short, *long))) >= 4
        return enough and len(wrong) <= 1 and all(_one_word(a, b) for a, b in zip(short, long))
    # Words left out at the end or at the beginning: what is left says which side it is.
    left = len("".join(short)) >= LEAST_LETTERS
    return left and (long[: len(short)] == short or long[-len(short) :] == short)


def _one_word(a: str, b: str) -> bool:
    """Whether one word may be the other; numbers in them tell, so that ``player_1`` is not ``player_10``.

    >>> _one_word("schalke", "schalke04"), _one_word("player_1", "player_10"), _one_word("player_1", "player_2")
    (True, False, False)
    """
    if not (a.isalpha() or b.isalpha()) and len({NO_DIGITS.sub("", a), NO_DIGITS.sub("", b)} - {""}) == 2:
        return False
    if _shortened(a, b) or min(len(a), len(b)) < LEAST_LETTERS or abs(len(a) - len(b)) > 1 or a[0] != b[0]:
        return _shortened(a, b)
    # One letter is wrong, missing, added or exchanged with its neighbour.
    k = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    rest = {a[k + 1 :] == b[k + 1 :], a[k:] == b[k + 1 :], a[k + 1 :] == b[k:]}
    return True in rest or (a[k : k + 2] == b[k : k + 2][::-1] and a[k + 2 :] == b[k + 2 :])


def _shortened(a: str, b: str) -> bool:
    """Whether the shorter word has letters of the longer one in their order, the first and, of few, the last."""
    short, long = sorted((a, b), key=len)
    if short == long or long.startswith(short):
        return True
    letters = iter(long)
    return (
        2 <= len(short) <= LONGEST_SHORTENED
        and short[0] == long[0]
        and short[-1] == long[-1]
        and all(c in letters for c in short)
    )


class Meetings:
    """Whom each of some names meets, on which days it plays and how often, from one pass over all matches."""

    def __init__(
        self, wanted: Iterable[int], home: NDArray[np.int32], away: NDArray[np.int32], day: NDArray[np.int64] | None
    ) -> None:
        self.home, self.away, self.day = home, away, day
        self.codes = np.array(sorted(wanted), np.int64)
        place = np.full(int(max(home.max(), away.max())) + 1, -1, np.int64)
        place[self.codes] = np.arange(self.codes.size)
        rows = [np.flatnonzero(place[side] >= 0) for side in (home, away)]
        # Sorting one number for place and row is faster than sorting places and carrying rows along.
        keys = [place[side[at]] * home.size + at for side, at in zip((home, away), rows)]
        ordered = np.sort(np.concatenate(keys))
        self.rows = ordered % home.size
        begins = np.searchsorted(ordered, np.arange(self.codes.size + 1) * home.size).tolist()
        self.span = {code: slice(a, b) for code, a, b in zip(self.codes.tolist(), begins, begins[1:])}
        self._days: dict[int, NDArray[np.int64]] = {}

    def matches(self, code: int) -> int:
        """How often a name plays."""
        return self.span[code].stop - self.span[code].start

    def days(self, code: int) -> NDArray[np.int64]:
        """Days on which a name plays, in order; none where there are no days."""
        if code not in self._days:
            days = np.empty(0, np.int64) if self.day is None else np.sort(self.day[self.rows[self.span[code]]])
            self._days[code] = days[np.append(days[:-1] != days[1:], True)[: days.size]]
        return self._days[code]

    def opponents(self, code: int) -> set[int]:
        """Names that a name meets."""
        rows = self.rows[self.span[code]]
        return {*np.where(self.home[rows] == code, self.away[rows], self.home[rows]).tolist()}

    def on_one_day(self, one: int, other: int) -> bool:
        """Whether two names play on the same day, once at least."""
        days, others = sorted((self.days(one), self.days(other)), key=len)
        return bool(np.any(np.append(others, -(1 << 62))[np.searchsorted(others, days)] == days))


class Fields(Meetings):
    """The same of contests: whom each of some names meets in them, from one pass over all entries."""

    def __init__(
        self,
        wanted: Iterable[int],
        entrant: NDArray[np.int32],
        contest: NDArray[np.int64],
        day: NDArray[np.int64] | None,
    ) -> None:
        order = np.argsort(contest, kind="stable")
        self.entrant, self.contest, self.day = entrant[order], contest[order], None if day is None else day[order]
        rows = np.argsort(self.entrant, kind="stable")
        begins = np.searchsorted(self.entrant[rows], [(code, code + 1) for code in wanted]).tolist()
        self.rows = rows
        self.span = {code: slice(*span) for code, span in zip(wanted, begins)}
        self._days = {}

    def opponents(self, code: int) -> set[int]:
        """Names that a name meets."""
        contests = np.unique(self.contest[self.rows[self.span[code]]])
        first, last = (np.searchsorted(self.contest, contests, side=side) for side in ("left", "right"))
        return {*np.concatenate([self.entrant[a:b] for a, b in zip(first, last)]).tolist()} - {code}


def read_aliases(source: Mapping[str, str] | str | Path | None) -> dict[str, str]:
    """Names to be replaced and the names they get; chains are followed to their end.

    >>> read_aliases({"Bombay": "Mumbai City", "Mumbai City": "Mumbai"})
    {'Bombay': 'Mumbai', 'Mumbai City': 'Mumbai'}
    """
    if source is None:
        return {}
    if isinstance(source, Mapping):
        pairs = list(source.items())
    else:
        table = load_table(source)
        if table.width != 2:
            raise InputError(
                f"A file of aliases has two columns, the name found and the name wanted; {source} has {table.width}."
            )
        pairs = list(zip(*(as_text(table[column]).to_list() for column in table.columns)))
    aliases: dict[str, str] = {}
    for old, new in pairs:
        before, after = (clean_name(str(name)) if name is not None else "" for name in (old, new))
        if not before or not after:
            raise InputError(f"The alias {old!r} → {new!r} lacks a name.")
        if aliases.setdefault(before, after) != after:
            raise InputError(f"{before!r} has two aliases, {aliases[before]!r} and {after!r}.")
    ends = {}
    for old in aliases:
        name, seen = old, {old}
        while name in aliases:
            name = aliases[name]
            if name in seen:
                raise InputError(f"The aliases of {name!r} lead back to it.")
            seen.add(name)
        ends[old] = name
    return ends


DIVISIONS = ("gender", "sex", "division", "category", "leaguegender", "menswomens", "agegroup", "geschlecht", "genero")
OF_DIVISIONS = re.compile(
    r"\b(?:wom[ae]n'?s?|m[ae]n'?s?|ladies|girls|boys|female|male|damen|herren|frauen|männer|fémin\w*|femin\w*|femen\w*"
    r"|mascul\w*|donne|uomini|vrouwen|mannen|u-?\d{2}|under-?\s?\d{2}|youth|juniors?|reserves?|seniors?)\b"
)
LETTERS = ({"m", "f"}, {"m", "w"}, {"h", "d"})
MOST_LEVELS = 20
MOST_ROWS = 50_000
MOST_COLUMNS = 60
LEAST_IN_GROUP = 4
LEAST_NAMES = 5
LEAST_DAYS = 3
SEASON_DAYS = 330
NEARLY_ALL = 0.8
HARDLY_ANY = 0.25
"""Share of the agreement within groups below which there is hardly any across them, and of hosts in more than one."""


SIDE_WORDS = (("home", "away"), ("white", "black"), ("winner", "loser"), ("1", "2"))
"""How columns call the first and the second side."""


def columns_of_sides(present: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Columns that say something of one side each, and not of the match, by what they say: two names that differ in the
    side alone.

    >>> columns_of_sides(["Event", "White category", "Black category", "AwayClub", "home_club", "WhiteElo"])
    {'category': ('White category', 'Black category'), 'club': ('home_club', 'AwayClub')}
    """
    plain = {plain_name(column): column for column in present}
    return {
        re.sub(first, "", column, count=1, flags=re.IGNORECASE).strip(" _-.") or column: (column, plain[other])
        for name, column in plain.items()
        for first, second in SIDE_WORDS
        if first in name and (other := name.replace(first, second, 1)) in plain
    }


def note_of_groups(rows: MatchRows, good: NDArray[np.int64], columns: Sequence[str], order: set[str]) -> list[str]:
    """What to say of columns in which the same names seem to stand for different sides."""
    notes, known = [], order.union(*columns_of_sides(columns).values())
    for column in [one for one in columns if one not in known][:MOST_COLUMNS]:
        if rows.table[column].n_unique() > MOST_LEVELS + 1:
            continue
        (level,), levels = encode_names(rows.table[column].gather(good[:MOST_ROWS]))
        if not 2 <= len(levels) <= MOST_LEVELS:
            continue
        at, level = good[:MOST_ROWS][level >= 0], level[level >= 0]
        # One row for each side of each match.
        table = pl.DataFrame(
            {
                "side": np.concatenate([rows.home[at], rows.away[at]]),
                "level": np.tile(level, 2),
                "day": np.tile(rows.date[at].view(np.int64), 2),
                "points": np.concatenate([rows.result[at], 1.0 - rows.result[at]]),
                "against": np.concatenate([rows.away[at], rows.home[at]]),
                "at_home": np.repeat([True, False], at.size),
            }
        )
        shared = table.group_by("side").agg(pl.col("level").n_unique()).filter(pl.col("level") > 1)["side"].sort()
        if len(shared) and (why := _why(column, levels, table.filter(pl.col("side").is_in(shared.implode())))):
            names = [rows.teams[k] for k in shared[:3]]
            rest = ", …" if len(shared) > len(names) else ""
            as_one = "counts as one side" if len(shared) == 1 else "count as one side each"
            notes.append(
                f"{counted(len(shared), 'name plays', 'names play')} in more than one {column!r} "
                f"({', '.join(levels[:4])}) and {as_one}, {why}: {listed(names)}{rest}; say "
                f"columns={{'group': {column!r}}} if they are different sides"
            )
    return notes


def _why(column: str, levels: tuple[str, ...], table: pl.DataFrame) -> str:
    """Why a name may stand for two sides; empty where nothing speaks for it."""
    words = {level.lower() for level in levels}
    if plain_name(column) in DIVISIONS or words in LETTERS or any(OF_DIVISIONS.search(word) for word in words):
        return "though this column names divisions"
    # Where hardly any name plays at home in more than one group, the column says where a match was.
    hosts = table.filter("at_home").group_by("side").agg(pl.col("level").n_unique(), pl.len())
    hosts = hosts.filter(pl.col("len") > 1)
    if int((hosts["level"] > 1).sum()) <= HARDLY_ANY * hosts.height:
        return ""
    # Do names play in two groups on one day, and hardly ever twice in one?
    days = table.group_by("side", "day").agg(pl.col("level").n_unique(), pl.len())
    across, within = int((days["level"] > 1).sum()), int((days["len"] > days["level"]).sum())
    if table["day"].n_unique() >= LEAST_DAYS and across >= LEAST_DAYS and across > 3 * within:
        return "though some play in two on one day"
    # Does nearly every pair meet in two groups within a year, once at each place in each?
    both = table.filter(pl.col("at_home") & pl.col("against").is_in(table["side"].unique().implode()))
    year = both.filter(pl.col("day") < pl.col("day").min() + SEASON_DAYS)
    pairs = year.group_by("side", "against").agg(pl.col("level").n_unique(), pl.len())
    once = (pairs["level"] > 1) & (pairs["len"] == pairs["level"])
    if pairs.height >= LEAST_NAMES * (LEAST_NAMES - 1) and float(once.mean() or 0.0) > NEARLY_ALL:  # type: ignore[arg-type]
        return "though the same sides meet in each of them in the same year"
    return "though they are not as strong in one as in another" if _unlike(table) else ""


def _unlike(table: pl.DataFrame) -> bool:
    """Whether points in two groups agree less than those of two halves of each group do, beyond chance."""
    first, second = table.group_by("level").len().sort("len", "level", descending=[True, False])["level"][:2]
    spans = [table.filter(pl.col("level") == k)["day"].quantile(q) for k in (first, second) for q in (0.05, 0.95)]
    begin, end = max(spans[0], spans[2]), min(spans[1], spans[3])  # type: ignore[type-var]
    if end - begin < 0.5 * min(spans[1] - spans[0], spans[3] - spans[2]):  # type: ignore[operator]
        return False  # one came after the other, and strengths move
    halves = (
        table.filter(pl.col("level").is_in([first, second]))
        .with_columns(half=pl.int_range(pl.len()).over("side", "level") % 2)
        .group_by("side", "level", "half")
        .agg(pl.col("points").mean(), pl.len())
        .filter(pl.col("len") * 2 >= LEAST_IN_GROUP)
        .pivot("half", index=["side", "level"], values="points")
        .drop_nulls()
    )
    one, other = (halves.filter(pl.col("level") == k) for k in (first, second))
    both = one.join(other, on="side", suffix="_other")
    if both.height < LEAST_NAMES or not {"0", "1", "0_other", "1_other"} <= set(both.columns):
        return False
    a, b, c, d = (both[name].to_numpy() for name in ("0", "1", "0_other", "1_other"))
    with np.errstate(invalid="ignore", divide="ignore"):
        within = [2 * r / (1 + r) for r in (np.corrcoef(a, b)[0, 1], np.corrcoef(c, d)[0, 1])]
        across = np.corrcoef(a + b, c + d)[0, 1]
    if not np.all(np.array(within) > 0.3) or not np.isfinite(across):
        return False
    expected = min(float(np.sqrt(within[0] * within[1])), 0.98)
    beyond_chance = (np.arctanh(expected) - np.arctanh(across)) * np.sqrt(both.height - 3) > 2.6
    return bool(beyond_chance and across < HARDLY_ANY * expected)
