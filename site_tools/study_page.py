"""The study file key by key, from the schema that checks it."""

import re
import types
import typing
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from kinelo.errors import InputError
from kinelo.studies.study import Section, Study
from kinelo.studies.study import sections_in as sections

FINE, BELOW = (2, 0.5), -1
"""Numbers to ask laws with: some of which each accepts one, and one below what most do."""

HEAD = """# The study file

A study file is a TOML document that says what to compute. It is checked in full before anything runs: an unknown key,
a missing one or a number out of range is named in one sentence. `studies/` of the repository holds some to start from;
`kinelo study simulate`, `solve` and `diagnose` take one. Numbers are finite. Ranges are those that the schema checks,
and those that a law (ν, γ, σ …) answered when it was asked with a number below them.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD, "## At the top", table(Study)]
    for name, field in Study.model_fields.items():
        kinds = sections(field.annotation)
        if kinds:
            parts.append(f"## `[{name}]`\n\n" + ("Required." if field.is_required() else "Optional."))
            for kind in kinds:
                parts.append(f"### {heading(name, kind)}\n\n{meaning(kind)}\n\n{table(kind)}")
    return "\n\n".join(parts) + "\n"


def heading(name: str, kind: type[Section]) -> str:
    """How a section is written in the file."""
    if "kind" not in kind.model_fields:
        return f"`[{name}]` keys"
    return f'`{name}.kind = "{kind_of(kind)}"`'


def kind_of(section: type[Section]) -> str:
    """What ``kind`` says: a word, or where a law of a user's own is found."""
    words = get_args(section.model_fields["kind"].annotation)
    return words[0] if words else "MODULE:NAME"


def meaning(kind: type[Section]) -> str:
    """What the section's docstring says."""
    return " ".join((kind.__doc__ or "").replace("``", "`").split())


def table(kind: type[Section]) -> str:
    """One line per key."""
    rows = [
        f"| `{key}` | {words(field.annotation)} | {default(field)} | {limits(field) or asked(kind, key)} |"
        for key, field in kind.model_fields.items()
    ]
    return "\n".join(["| key | what is accepted | default | range |", "|---|---|---|---|", *rows])


def words(annotation: Any) -> str:
    """A type in a user's words."""
    plain = {float: "number", int: "whole number", str: "text", bool: "true or false", type(None): ""}
    if isinstance(annotation, type) and annotation in plain:
        return plain[annotation]
    if sections(annotation):
        names = [kind_of(section) for section in sections(annotation) if "kind" in section.model_fields]
        own = "section" + (", kind " + ", ".join(f"`{name}`" for name in names) if names else "")
        others = [words(part) for part in leaves(annotation) if not sections(part)]
        return " or ".join([*filter(None, others), own])
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return words(inner[0])
    if origin is Literal:
        return " or ".join(f'`"{value}"`' for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(filter(None, map(words, inner)))
    if origin is list:
        return f"list of {words(inner[0])}s" if get_origin(inner[0]) is None else f"list of ({words(inner[0])})"
    if origin is dict:
        return "section of keys and values"
    if origin is tuple:
        return "[" + ", ".join(map(words, inner)) + "]"
    raise TypeError(f"site_tools/study_page.py has no words for {annotation}")


def leaves(annotation: Any) -> list[Any]:
    """The alternatives of a union, Annotated taken off."""
    if get_origin(annotation) is typing.Annotated:
        return leaves(get_args(annotation)[0])
    if get_origin(annotation) in (typing.Union, types.UnionType):
        return [leaf for part in get_args(annotation) for leaf in leaves(part)]
    return [annotation]


def default(field: FieldInfo) -> str:
    """What stands where the key is left out."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, dict):
        return f"`{value['kind']}`"
    return f"`{list(value) if isinstance(value, tuple) else value!r}`".replace("'", '"')


def limits(field: FieldInfo) -> str:
    """The bounds that the schema itself checks."""
    signs = ((Ge, "ge", "≥"), (Gt, "gt", ">"), (Le, "le", "≤"), (Lt, "lt", "<"))
    found = [
        f"{sign} {getattr(bound, name)}"
        for bound in field.metadata
        for kind, name, sign in signs
        if isinstance(bound, kind)
    ]
    return ", ".join(found)


def asked(kind: type[Section], key: str) -> str:
    """The bound that the law behind a section names when ``key`` is below it; nothing where it has none."""
    if not is_number(kind.model_fields[key].annotation) or not hasattr(kind, "build"):
        return ""
    usual = {name: plain_value(field) for name, field in kind.model_fields.items()}
    if all(refusal(kind, usual | {key: value}) for value in FINE):
        return ""
    below = refusal(kind, usual | {key: BELOW})
    bound = re.search(rf"\b{key}\b.*?(greater than|at least|or more|between)", below)
    if not bound:
        return ""
    if bound[1] == "between":
        found = re.search(r"between (\S+) and ([^\s,.]+)", below)
        return f"{found[1]} to {found[2]}" if found else ""
    number = re.search(r"(?:greater than|at least) (-?[\d.]+\d|\d)", below)
    return f"{'>' if bound[1] == 'greater than' else '≥'} {number[1] if number else '0'}"


def refusal(kind: type[Section], values: dict[str, Any]) -> str:
    """What a law says of the values of its section; empty where it takes them."""
    try:
        kind.model_construct(**values).build()  # type: ignore[attr-defined]
    except InputError as said:
        return str(said)
    except (TypeError, ValueError, AttributeError) as said:
        return f"cannot be built: {said}"
    return ""


def is_number(annotation: Any) -> bool:
    """Whether a key takes a number, among other things perhaps."""
    return any(leaf in (int, float) for leaf in leaves(annotation))


def plain_value(field: FieldInfo) -> Any:
    """What a key holds where nothing is said: its default, or numbers that most laws accept."""
    if not field.is_required():
        return field.get_default(call_default_factory=True)
    return sample(next((leaf for leaf in leaves(field.annotation) if leaf is not type(None)), str))


def sample(annotation: Any) -> Any:
    """A value of a type: numbers, and lists of two of them."""
    inner = get_args(annotation)
    if get_origin(annotation) is list:
        return [sample(inner[0]), sample(inner[0])]
    if get_origin(annotation) is Literal:
        return inner[0]
    return 0.5 if annotation is float else 2
