"""Where things are in the checkout, for the tests that hold its structure: paths in, parsed sources out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "reference" / "processor_contract"
RUNNER = ROOT / "conformance" / "processor_conformance"
PRODUCT = (ROOT / "reference", ROOT / "conformance")
PROGRAMS = (".py", ".mjs", ".js", ".sh")

# The order of the reference, top to bottom: a module imports only modules above it. A name that is a folder stands for
# all modules in it, which may import one another; `__init__` is the package's front.
ORDER = (
    "errors",
    "data",
    "keywords",
    "schema",
    "context",
    "settings",
    "tracing",
    "message",
    "prompt",
    "views",
    "placing",
    "system_messages",
    "message_list",
    "processor",
    "returns",
    "hooks",
    "response",
    "run_trace",
    "run",
    "pipeline",
    "models",
    "tools",
    "request",
    "results",
    "checks",
    "storage",
    "sqlite_storage",
    "memory",
    "processors",
    "loop",
    "structured",
    "stream",
    "agent",
    "storage_contract",
    "__init__",
    "adapter",
)
MAY_START_THREADS = ("tools.py", "stream.py", "adapter/", "models/server.py")


def files(*folders: Path, suffixes: tuple[str, ...] = PROGRAMS) -> Iterator[Path]:
    """The project's own files below the folders, without what was installed or compiled there."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in suffixes and not {"node_modules", "__pycache__"} & set(path.parts):
                yield path


def modules(*folders: Path) -> Iterator[tuple[str, ast.Module]]:
    """Every Python file below the folders: its path from the root, and its tree."""
    for path in files(*folders, suffixes=(".py",)):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that runs, also inside functions; those under `if TYPE_CHECKING` do not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from imports(other)
        else:
            yield from imports(node)


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The absolute modules an import names; a relative one names none."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level else [node.module or ""]
