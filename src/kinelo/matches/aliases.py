"""Other names of the same side: renamed clubs, spellings, abbreviations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kinelo.errors import InputError
from kinelo.matches.loading import load_table
from kinelo.matches.names import as_text, clean_name


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
    return {old: _end_of(old, aliases) for old in aliases}


def _end_of(name: str, aliases: Mapping[str, str]) -> str:
    seen = {name}
    while name in aliases:
        name = aliases[name]
        if name in seen:
            raise InputError(f"The aliases of {name!r} lead back to it.")
        seen.add(name)
    return name
