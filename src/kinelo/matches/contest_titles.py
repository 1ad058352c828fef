"""What a file calls each contest beside its identifier: British Grand Prix, where the column of contests says 833."""

from __future__ import annotations

import numpy as np
import polars as pl

from kinelo.matches.contest_rows import ContestRows
from kinelo.matches.names import as_text


def read_titles(rows: ContestRows) -> None:
    """Read the titles, after contests are numbered; ``found`` loses a column that does not name contests.

    It does where it says one thing of each contest, and no two contests of one day have the same title.
    """
    column = rows.found.get("title")
    if column is None:
        return
    kinds = (*rows.options.slots.values(), *rows.options.advantages.values(), (rows.options.team,))
    there = rows.good & (rows.contest >= 0)
    text = as_text(rows.table[column]).str.strip_chars().fill_null("")
    table = pl.DataFrame({"contest": rows.contest, "title": text, "date": rows.date}).filter(pl.Series(there))
    table = table.filter(pl.col("title") != "").group_by("contest").agg(
        pl.col("title").first(), pl.col("title").n_unique().alias("titles"), pl.col("date").max()
    )  # fmt: skip
    asked = "title" in (rows.options.columns or {})
    names_contests = table.height > 0 and table["titles"].max() == 1
    names_contests &= asked or not table.select("title", "date").is_duplicated().any()
    if any(column in columns for columns in kinds) or not names_contests:
        if asked:
            rows.notes.append(f"{column!r} differs between rows of one contest, so that it names no contest")
        del rows.found["title"]
        return
    titles = np.array(rows.identifiers, object)
    titles[table["contest"].to_numpy()] = table["title"].to_numpy()
    rows.titles = tuple(titles.tolist())
