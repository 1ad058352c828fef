"""Files in, Matches out: reading, names, dates, rejects, line-ups, samples."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.matches.contests import Contests
    from kinelo.matches.dated import Rejects
    from kinelo.matches.lineups import Lineups
    from kinelo.matches.loading import tournament_players
    from kinelo.matches.matches import Matches
    from kinelo.matches.same_side import likely_names
    from kinelo.matches.sample import League, sample_contests
    from kinelo.matches.scan import ContestScan, MatchScan, scan_contests, scan_matches

_MODULE_OF = modules_of(
    {
        "matches.contests": ("Contests",),
        "matches.dated": ("Rejects",),
        "matches.lineups": ("Lineups",),
        "matches.loading": ("tournament_players",),
        "matches.matches": ("Matches",),
        "matches.same_side": ("likely_names",),
        "matches.sample": ("League", "sample_contests"),
        "matches.scan": ("ContestScan", "MatchScan", "scan_matches", "scan_contests"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
