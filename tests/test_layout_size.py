"""The house's limits: a module, a function and a docstring that one can hold in mind, and nothing left undone."""

from __future__ import annotations

import ast
import re

from layout import PRODUCT, REFERENCE, ROOT, RUNNER, files, modules

MODULE_LINES = 400
FUNCTION_LINES = 60
UNDONE = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")


def test_no_module_is_too_long() -> None:
    sizes = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in files(*PRODUCT)}

    assert {name: lines for name, lines in sizes.items() if lines >= MODULE_LINES} == {}


def test_no_function_is_too_long() -> None:
    sizes = {
        f"{name}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for name, tree in modules(*PRODUCT)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: lines for name, lines in sizes.items() if lines > FUNCTION_LINES} == {}


def test_every_module_says_its_job() -> None:
    silent = [name for name, tree in modules(REFERENCE, RUNNER) if tree.body and not ast.get_docstring(tree)]

    assert silent == []


def test_nothing_is_left_undone() -> None:
    undone = [
        f"{path.relative_to(ROOT).as_posix()}:{number} {line.strip()}"
        for path in files(*PRODUCT)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNDONE.search(line)
    ]

    assert undone == []
