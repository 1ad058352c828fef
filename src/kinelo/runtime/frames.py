"""Tables for pandas, without pyarrow: polars hands its own tables over only where pyarrow is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinelo.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def to_pandas(table: pl.DataFrame | Any) -> pd.DataFrame:
    """A table of Kinelo (``ratings_``, a leaderboard, a history, matches, forecasts) as a pandas frame.

    pandas is all it needs; ``table.to_pandas()`` of polars needs pyarrow too. What is missing becomes NaN, NaT or None.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
    >>> kn.runtime.to_pandas(kn.TeamElo.classic(k=20).update(matches).ratings_)[["name", "rating", "matches"]].round(1)
      name  rating  matches
    0    A  1519.4        2
    1    B  1480.6        2
    """
    import polars as pl

    if not isinstance(table, pl.DataFrame):
        table = table.to_polars() if hasattr(table, "to_polars") else None
    if table is None:
        raise InputError("to_pandas takes a table of Kinelo, such as ratings_ of a rater, matches or a forecast.")
    try:
        import pandas as pd
    except ImportError:
        raise InputError("to_pandas needs pandas, which is not installed.") from None
    return pd.DataFrame({name: _column(table[name]) for name in table.columns}, columns=table.columns)


def _column(series: pl.Series) -> Any:
    """Values as NumPy has them, or a list where it has none for what is missing."""
    plain = series.dtype.is_numeric() or series.dtype.is_temporal()
    if plain or (str(series.dtype) == "Boolean" and not series.null_count()):
        return series.to_numpy()
    return series.to_list()
