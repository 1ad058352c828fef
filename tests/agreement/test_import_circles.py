"""Raters and advice: no module needs another that needs it, not even inside a function."""

import ast
import graphlib
from pathlib import Path

import pytest

import kinelo

ROOT = Path(kinelo.__file__).parent


def needed(text: str) -> set[str]:
    """Modules that a module imports, anywhere but for type checkers; ``import_module`` of a name counts too."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module}, (f"{node.module}.{one.name}" for one in node.names))
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found.update(one.value for one in node.args if isinstance(one, ast.Constant))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(text))
    return found


@pytest.mark.parametrize("package", ["raters", "advice"])
def test_no_module_needs_another_that_needs_it(package):
    modules = {
        ".".join(("kinelo", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in (ROOT / package).rglob("*.py")
    }
    graph = {name: needed(path.read_text(encoding="utf-8")) & modules.keys() - {name} for name, path in modules.items()}
    # A package that only lists names needs nobody: they are loaded when they are asked for.
    graph |= {name: set() for name, path in modules.items() if path.name == "__init__.py"}
    assert sum(map(len, graph.values())) > len(graph), "what they need is seen"
    order = {name: k for k, name in enumerate(graphlib.TopologicalSorter(graph).static_order())}
    assert all(order[other] < order[name] for name, others in graph.items() for other in others)


def test_a_circle_inside_a_function_is_seen():
    graph = {
        "a": needed("def late():\n    from importlib import import_module\n    return import_module('b')"),
        "b": needed("from a import x"),
    }
    with pytest.raises(graphlib.CycleError):
        list(graphlib.TopologicalSorter(graph).static_order())
