"""Notebooks from jupytext sources: run in one namespace, shown with what they print and draw."""

import ast
import base64
import contextlib
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode, v4


@dataclass
class Cell:
    """One cell as it ran."""

    kind: str
    source: str
    text: str = ""
    pictures: list[tuple[str, bytes]] = field(default_factory=list)


def read(source: Path) -> list[Cell]:
    """The cells as they are written, not run."""
    return [Cell(cell.cell_type, cell.source) for cell in jupytext.read(source).cells]


def run(source: Path, folder: Path) -> list[Cell]:
    """Run every cell in an empty folder, as a reader would, and keep what it says and draws."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, before = read(source), Path.cwd()
    os.chdir(folder)
    try:
        for number, cell in enumerate(cells):
            if cell.kind == "code":
                _run_cell(cell, names, f"{source.name}, cell {number}")
    finally:
        os.chdir(before)
    return cells


def _run_cell(cell: Cell, names: dict[str, Any], place: str) -> None:
    tree, last = ast.parse(cell.source, place), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, place, "exec"), names)
        value = eval(compile(last, place, "eval"), names) if last else None
    picture = _picture(value)
    if picture:
        cell.pictures.append(picture)
    elif value is not None:
        said.write(repr(value) + "\n")
    cell.text = said.getvalue()


def _picture(value: object) -> tuple[str, bytes] | None:
    from matplotlib.figure import Figure

    if isinstance(value, Figure):
        from kinelo.pictures.style import picture_bytes

        return "png", picture_bytes(value)
    if isinstance(value, Path) and value.suffix in (".png", ".gif"):
        return value.suffix[1:], value.read_bytes()
    return None


def as_markdown(cells: list[Cell], stem: str) -> tuple[str, dict[str, bytes]]:
    """The page, and the pictures it shows by their names."""
    parts, pictures = [], {}
    for cell in cells:
        if cell.kind != "code":
            parts.append(cell.source)
            continue
        parts.append(f"```py\n{cell.source}\n```")
        if cell.text:
            parts.append(f"``` {{ .text .output }}\n{cell.text.rstrip()}\n```")
        for kind, content in cell.pictures:
            name = f"{stem}-{len(pictures) + 1}.{kind}"
            pictures[name] = content
            parts.append(f"![What these lines draw]({name})")
    return "\n\n".join(parts) + "\n", pictures


def as_notebook(cells: list[Cell]) -> NotebookNode:
    """The same with its outputs, to open in Jupyter."""
    made = []
    for cell in cells:
        if cell.kind != "code":
            made.append(v4.new_markdown_cell(cell.source))
            continue
        outputs = [v4.new_output("stream", text=cell.text)] if cell.text else []
        for kind, content in cell.pictures:
            outputs.append(v4.new_output("display_data", {f"image/{kind}": base64.b64encode(content).decode()}))
        made.append(v4.new_code_cell(cell.source, outputs=outputs))
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    return v4.new_notebook(cells=made)
