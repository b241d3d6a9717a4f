"""What the Makefile says when something it needs is missing: one line, with what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from layout import ROOT

MASTRA = "conformance/adapters/mastra"
PACKAGE = ("package.json", "package-lock.json")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, in a folder with a space in its name, of which only what the set-up reads is there."""
    root = tmp_path / "a checkout"
    shutil.copytree(ROOT / "tools", root / "tools")
    (root / MASTRA / "over-http").mkdir(parents=True)
    packages = [f"{folder}/{name}" for folder in (MASTRA, f"{MASTRA}/over-http") for name in PACKAGE]
    for name in ("pyproject.toml", *packages):
        shutil.copy(ROOT / name, root / name)
    (root / "programs").mkdir()
    return root


def provide(checkout: Path, name: str, script: str) -> None:
    """Puts a program on the path of the set-up, which has no others."""
    program = checkout / "programs" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def setup(checkout: Path, what: str, **environment: str) -> tuple[int, str]:
    """Exit code and stderr of `tools/setup`."""
    path = {"PATH": str(checkout / "programs"), **environment}
    done = subprocess.run(
        ["/bin/sh", "tools/setup", what], cwd=checkout, env=path, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_no_python_at_all(checkout: Path) -> None:
    said = "no Python 3.10 or newer found: install one, or say where it is with PYTHON=/path/to/python3\n"

    assert setup(checkout, "suite") == (1, said)


def test_an_old_python_is_passed_over(checkout: Path) -> None:
    provide(checkout, "python3", "exit 1")  # what the question for the version would answer

    assert setup(checkout, "dev")[1].startswith("no Python 3.11 or newer found")


def test_a_named_python_that_is_none(checkout: Path) -> None:
    said = "PYTHON=/no/python is not Python 3.10 or newer: name another, or leave PYTHON out to have one found\n"

    assert setup(checkout, "suite", PYTHON="/no/python") == (1, said)


def test_a_python_without_venv(checkout: Path) -> None:
    (checkout / "broken").mkdir()
    (checkout / "broken" / "ensurepip.py").write_text("raise ImportError")

    code, said = setup(checkout, "suite", PYTHON=sys.executable, PYTHONPATH=str(checkout / "broken"))

    assert (code, said.count("\n")) == (1, 1)
    assert "has no venv module: install it (Debian, Ubuntu: apt install python3." in said


def test_no_npm(checkout: Path) -> None:
    said = "no npm found: the framework and its own Node 22 come by it; install Node.js (any version)\n"

    assert setup(checkout, "mastra", PYTHON=sys.executable) == (1, said)


def test_what_npm_says_is_shown_when_it_fails(checkout: Path) -> None:
    provide(checkout, "npm", "echo registry is down >&2; exit 1")

    code, said = setup(checkout, "mastra", PYTHON=sys.executable)

    assert code == 1
    assert said.endswith("registry is down\nnpm could not install it: is its registry within reach?\n")
