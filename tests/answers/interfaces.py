"""What commands and requests take, in lines: every option and every field with its default and its limits."""

from __future__ import annotations

from typing import Any


def options() -> None:
    """Print each command's arguments and options: how they are written, whether several, default and range."""
    import typer

    from kinelo.cli import app

    def tell(command: Any, name: str) -> None:
        for inner, one in getattr(command, "commands", {}).items():
            tell(one, f"{name} {inner}")
        print(name)
        for one in command.params:
            words = [" ".join([*one.opts, *one.secondary_opts])]
            words += ["several"] * bool(getattr(one, "multiple", False)) + ["needed"] * one.required
            if one.default is not None and one.name != "help":
                words.append(f"default {one.default}")
            if isinstance(one.show_default, str):
                words.append(f"shown as {one.show_default}")
            for end in ("min", "max"):
                limit = getattr(one, end, getattr(getattr(one, "type", None), end, None))
                words += [f"{end} {limit}"] * (limit is not None)
            print(" ", ", ".join(words))

    tell(typer.main.get_command(app), "kinelo")


def requests(said: dict[str, Any]) -> str:
    """What a service's description says of each request and of each record: fields, defaults, limits, no words."""
    lines = []
    for path, methods in said["paths"].items():
        for method, one in methods.items():
            lines.append(f"{path} {method.upper()} {' '.join(sorted(one['responses']))}")
            for asked in one.get("parameters", ()):
                lines.append(f" {asked['name']}{' needed' * asked['required']} {_said(asked['schema'])}")
    for name, one in sorted(said["components"]["schemas"].items()):
        lines.append(f"{name} {_said({key: one[key] for key in one if key not in ('properties', 'required')})}")
        for field, kind in one.get("properties", {}).items():
            lines.append(f" {field}{' needed' * (field in one.get('required', ()))} {_said(kind)}")
    return "\n".join(lines)


def _said(schema: Any) -> str:
    """A schema in one line, without its words."""
    if not isinstance(schema, dict):
        return str(schema)
    words = {"anyOf": " | ", "oneOf": " | ", "prefixItems": ", "}
    inner = {"items": "of", "additionalProperties": "each", "propertyNames": "names"}
    parts = []
    for key, value in schema.items():
        if key in words:
            parts.append(f"({words[key].join(map(_said, value))})")
        elif key in inner:
            parts.append(f"{inner[key]} ({_said(value)})")
        elif key in ("$ref", "type"):
            parts.append(value.rpartition("/")[2])
        elif key not in ("title", "description"):
            parts.append(f"{key} {value}")
    return " ".join(parts)
