"""Makes .venv and installs into it what a target of the Makefile needs; the second call finds nothing to do.

In: one word (`suite`, `dev` or `mastra`) and pyproject.toml, or the adapter's package.json files. Out: an environment
with a stamp that says what it was made from. What is missing is said in one line, with what to do.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON_STAMP = VENV / "stamp.json"
MASTRA = ROOT / "conformance" / "adapters" / "mastra"
NODE = MASTRA / "node_modules" / "node" / "bin" / "node"
OVER_HTTP = MASTRA / "over-http"  # the framework as a client of the mock provider; it stands below, and finds it above
NODE_STAMP = Path("node_modules", "stamp.json")
NODE_MAJOR = "v22."


class SetupError(Exception):
    """Something the user has to provide; the text says what and how."""


def main(what: str) -> int:
    with one_at_a_time():
        try:
            install_framework() if what == "mastra" else install_python(what)
        except SetupError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two makes in one checkout must not fill one environment at once."""
    with open(ROOT / "pyproject.toml", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_python(extra: str) -> None:
    made = read_stamp(PYTHON_STAMP)
    # A virtual environment holds absolute paths and a link to its interpreter: a moved checkout needs a new one.
    base = {"checkout": str(ROOT), "python": f"{sys.base_prefix} {sys.version.split()[0]}"}
    project = digest(ROOT / "pyproject.toml")
    kept = all(made.get(key) == value for key, value in base.items())
    if kept and made.get("project") == project and made.get("extra") in (extra, "dev"):
        return
    if not kept:
        make_environment()
        made = {}
    extra = "dev" if made.get("extra") == "dev" else extra
    announce(f"installing the project with its extra {extra!r} into .venv")
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run([*pip, "install", "-e", f".[{extra}]"], ROOT, "pip could not install it: is a package index within reach?")
    PYTHON_STAMP.write_text(json.dumps({**base, "project": project, "extra": extra}))


def make_environment() -> None:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"{sys.executable} has no venv module: install it (Debian, Ubuntu: apt install {version}-venv), "
            "or name another interpreter with PYTHON=/path/to/python3"
        ) from None
    announce(f"making .venv with Python {sys.version.split()[0]}")
    # Seen from inside .venv, sys.executable would be the interpreter that is about to be cleared.
    python = getattr(sys, "_base_executable", None) or sys.executable
    run([python, "-m", "venv", "--clear", VENV], ROOT, "the virtual environment could not be made")


def install_framework() -> None:
    if not (installed(MASTRA) and node_is_right()):
        install_packages(MASTRA, "the framework and Node 22")
        if not node_is_right():  # npm 11 runs no install script unasked, and Node comes by one
            modules = MASTRA / "node_modules"
            run(["node", "installArchSpecificPackage.js"], modules / "node", "Node 22's own install script failed")
        if not node_is_right():
            raise SetupError(f"{NODE.relative_to(ROOT)} is no working Node 22: remove node_modules there and try again")
        note_installed(MASTRA)
    if not installed(OVER_HTTP):
        install_packages(OVER_HTTP, "the framework's HTTP client")
        note_installed(OVER_HTTP)


def install_packages(folder: Path, what: str) -> None:
    if shutil.which("npm") is None:
        raise SetupError("no npm found: the framework and its own Node 22 come by it; install Node.js (any version)")
    announce(f"installing {what} from npm")
    run(["npm", "ci", "--no-audit", "--no-fund"], folder, "npm could not install it: is its registry within reach?")


def installed(folder: Path) -> bool:
    return read_stamp(folder / NODE_STAMP).get("project") == wanted(folder)


def note_installed(folder: Path) -> None:
    (folder / NODE_STAMP).write_text(json.dumps({"project": wanted(folder)}))


def wanted(folder: Path) -> str:
    return digest(folder / "package.json", folder / "package-lock.json")


def node_is_right() -> bool:
    try:
        return subprocess.run([NODE, "--version"], capture_output=True, text=True).stdout.startswith(NODE_MAJOR)
    except OSError:
        return False


def run(command: list[str | Path], folder: Path, failure: str) -> None:
    # What leads Python into another project must not lead pip there.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise SetupError(failure)


def digest(*files: Path) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def read_stamp(file: Path) -> dict[str, str]:
    try:
        stamp: dict[str, str] = json.loads(file.read_text())
        return stamp
    except (OSError, ValueError):
        return {}


def announce(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
