"""The structure a reader relies on: which module may import which, and which may start a thread."""

from __future__ import annotations

import ast
import sys

from layout import MAY_START_THREADS, ORDER, PRODUCT, REFERENCE, ROOT, RUNNER, imported, imports, modules

STARTS_A_THREAD = {
    "Thread",
    "ThreadPoolExecutor",
    "ThreadingHTTPServer",
    "ThreadingMixIn",
    "Timer",
    "start_new_thread",
    "to_thread",
}


def reference_modules() -> list[tuple[tuple[str, ...], ast.Module]]:
    """(path inside the package, tree) of each module; the path of `models/scripted.py` is `("models", "scripted")`."""
    prefix = len(REFERENCE.relative_to(ROOT).parts)
    return [(tuple(name.removesuffix(".py").split("/")[prefix:]), tree) for name, tree in modules(REFERENCE)]


def targets(module: tuple[str, ...], node: ast.ImportFrom) -> list[str]:
    """The places in ORDER that a relative import reaches."""
    folder = module[: len(module) - node.level]
    path = [*folder, *(node.module.split(".") if node.module else [])]
    names = path[:1] or [alias.name for alias in node.names]
    return [name if name in ORDER else "__init__" for name in names]


def test_every_module_of_the_reference_has_a_place_in_the_order() -> None:
    places = {module[0] for module, _ in reference_modules()}

    assert places ^ set(ORDER) == set()


def test_a_module_of_the_reference_imports_only_modules_above_it() -> None:
    wrong = [
        f"{'/'.join(module)} line {node.lineno} imports {target}"
        for module, tree in reference_modules()
        if module[0] in ORDER
        for node in imports(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for target in targets(module, node)
        if target != module[0] and target not in ORDER[: ORDER.index(module[0])]
    ]

    assert wrong == []


def test_the_reference_imports_the_standard_library_and_itself_alone() -> None:
    foreign = [
        f"{'/'.join(module)} line {node.lineno} imports {name}"
        for module, tree in reference_modules()
        for node in imports(tree)
        for name in imported(node)
        if name.split(".")[0] not in sys.stdlib_module_names
    ]

    assert foreign == []


def test_nothing_imports_a_source_root() -> None:
    wrong = [
        f"{name} line {node.lineno}"
        for name, tree in modules(*PRODUCT, ROOT / "tests", ROOT / "tools", ROOT / "bench")
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for target in imported(node)
        if target.split(".")[0] in ("reference", "conformance")
    ]

    assert wrong == []


def test_the_runner_never_imports_the_reference() -> None:
    wrong = [
        f"{name} line {node.lineno}"
        for name, tree in modules(RUNNER)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for target in imported(node)
        if target.split(".")[0] == "processor_contract"
    ]

    assert wrong == []


def test_the_reference_does_not_ask_where_it_lies() -> None:
    wrong = [
        f"{'/'.join(module)} line {node.lineno}"
        for module, tree in reference_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "__file__"
    ]

    assert wrong == []


def test_the_reference_is_python_files_alone() -> None:
    others = [
        path.relative_to(REFERENCE).as_posix()
        for path in REFERENCE.rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]

    assert others == ["py.typed"]


def used(node: ast.Call | ast.ClassDef) -> list[str]:
    """The last names of what is called, or inherited from."""
    return [ast.unparse(one).split(".")[-1] for one in ([node.func] if isinstance(node, ast.Call) else node.bases)]


def test_threads_are_started_in_few_places() -> None:
    wrong = [
        f"{'/'.join(module)} line {node.lineno}"
        for module, tree in reference_modules()
        if not ("/".join(module) + ".py").startswith(MAY_START_THREADS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call | ast.ClassDef) and STARTS_A_THREAD.intersection(used(node))
    ]

    assert wrong == []
