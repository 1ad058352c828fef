"""A session in one file: the tables of a page, which column is what, and the rater, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from kinelo.errors import InputError
from kinelo.lab.rate.reading import ASKED_COLUMNS, ReadingPanel
from kinelo.lab.rate.tables import FIELDS, UploadedTable
from kinelo.runtime.reading import read_file

SESSION_VERSION = 1


def write_session(path: Path, tables: dict[str, UploadedTable], chosen: dict[str, Any]) -> None:
    """Write tables and choices; every cell as text, as it stood in the file."""
    content = {
        "kinelo_session": SESSION_VERSION,
        "tables": {
            kind: {
                "name": table.name,
                "header_lines": table.header_lines,
                "columns": {name: table.frame[name].cast(pl.String).to_list() for name in table.frame.columns},
            }
            for kind, table in tables.items()
        },
        **chosen,
    }
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_session(path: Path, name: str, rows: int, columns: int) -> tuple[dict[str, UploadedTable], dict[str, Any]]:
    """Read what :func:`write_session` wrote, refusing what is no session or too large."""
    try:
        content = json.loads(read_file(path))
        if content["kinelo_session"] != SESSION_VERSION:
            raise InputError(f"{name} is a session of another version of Kinelo.")
        tables = {kind: _table(kind, plain) for kind, plain in content["tables"].items()}
        chosen: dict[str, Any] = {"columns": dict(content["columns"]), "rater": str(content["rater"])}
        chosen |= {what: list(content.get(what, [])) for what in ASKED_COLUMNS}
        chosen["reading"] = ReadingPanel.read(content.get("reading", {})).to_dict()
        texts = [text for pair in chosen["columns"].items() for text in pair]
        texts += [column for what in ASKED_COLUMNS for column in chosen[what]]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
        raise InputError(f"{name} is no session that Kinelo saved.") from None
    for table in tables.values():
        if table.frame.height > rows or table.frame.width > columns:
            raise InputError(f"{name} is too large: at most {rows:,} rows and {columns:,} columns are accepted here.")
    return tables, chosen


def _table(kind: str, plain: dict[str, Any]) -> UploadedTable:
    if kind not in FIELDS:
        raise KeyError(kind)
    frame = pl.DataFrame(plain["columns"], schema=dict.fromkeys(plain["columns"], pl.String))
    if frame.height == 0 or frame.width < 2:
        raise ValueError(kind)
    return UploadedTable(kind, str(plain["name"])[:80], frame, int(plain["header_lines"]))
