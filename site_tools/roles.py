"""Docstrings as they are read for the site: roles such as ``:func:`` become code, and examples stand in blocks."""

import re
import textwrap

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):`~?([^`]+)`")

MATH = re.compile(r"^\.\. math::((?:.*\n?)(?:(?:[ \t]+\S.*|[ \t]*)(?:\n|$))*?)(?=^\S|\Z)", re.MULTILINE)
"""A displayed formula: what follows its directive, indented."""

EXAMPLE = re.compile(r"^>>> .*\n(?:(?!\n).+(?:\n|$))*|^>>> .*$", re.MULTILINE)
"""Lines from a prompt to the next empty line."""


def plain(text: str) -> str:
    """Text with roles as Markdown code."""
    return re.sub(r"``([^`]+)``", r"`\1`", ROLE.sub(r"`\1`", text))


def shown(text: str) -> str:
    """A docstring for Markdown; below a heading ``Examples`` the reader of docstrings finds examples by itself."""
    text = MATH.sub(lambda found: f"```latex\n{textwrap.dedent(found[1]).strip()}\n```\n\n", ROLE.sub(r"`\1`", text))
    head, heading, rest = text.partition("Examples\n----")
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", head) + heading + rest


def default_of(value: object) -> object:
    """The default that an argument of a rater is shown with: what its declaration makes of it, not the declaration."""
    if not isinstance(value, griffe.ExprCall):
        return value
    declared = value.canonical_path.rsplit(".", 1)[-1]
    if declared == "estimated" or (declared.isupper() and not value.arguments):
        return "None"
    return value.arguments[0] if declared in ("fixed", "switch") else value


def unwrapped(attribute: griffe.Attribute, package: griffe.Module) -> griffe.Function | None:
    """The function that an attribute of ``kn.plot`` wraps, under its own name; None where it wraps none."""
    call = attribute.value
    if not isinstance(call, griffe.ExprCall) or call.function.canonical_name != "_in_words":
        return None
    path = call.arguments[-1].canonical_path  # type: ignore[union-attr]
    drawn = package[path.removeprefix(f"{package.name}.")]
    return griffe.Function(
        attribute.name, parameters=drawn.parameters, returns=drawn.returns, docstring=drawn.docstring,
        lineno=attribute.lineno, endlineno=attribute.endlineno,
    )  # fmt: skip


class Roles(griffe.Extension):
    """Rewrites every docstring as it is read, shows arguments of raters with their defaults, and pictures with the
    signatures of what draws them.
    """

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """Called once all modules have been read."""
        plot = pkg.members.get("plot")
        for attribute in list(plot.attributes.values()) if isinstance(plot, griffe.Module) else []:
            function = unwrapped(attribute, pkg)
            if function is not None:
                plot.set_member(attribute.name, function)

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = shown(obj.docstring.value)
        if isinstance(obj, griffe.Attribute) and obj.path.startswith("kinelo.raters."):
            obj.value = default_of(obj.value)  # type: ignore[assignment]
