"""The project's pages lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys

from layout import PRODUCT, ROOT, RUNNER, files

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")  # relative ones only
SUBCOMMAND = re.compile(r"^\s*processor-conformance ([a-z-]+)", re.MULTILINE)


def pages() -> dict[str, str]:
    found = [*ROOT.glob("*.md"), *files(*PRODUCT, ROOT / "fixtures", suffixes=(".md",))]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in found}


def test_every_link_leads_to_a_file() -> None:
    dead = [
        f"{name}: {target}"
        for name, text in pages().items()
        for target in LINK.findall(text)
        if not (ROOT / name).parent.joinpath(target).exists()
    ]

    assert dead == []


def test_every_make_target_of_the_readme_exists() -> None:
    named = set(re.findall(r"`?make ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))
    offered = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

    assert named - offered == set()


def test_every_command_of_the_readme_exists() -> None:
    named = set(SUBCOMMAND.findall((ROOT / "README.md").read_text("utf-8")))
    ours = [sys.executable, "-m", "processor_conformance"]

    asked = {name: subprocess.run([*ours, name, "--help"], capture_output=True, check=False) for name in named}
    codes = {name: done.returncode for name, done in asked.items()}

    assert codes == dict.fromkeys(named, 0)


def test_the_tour_of_the_runner_has_every_module() -> None:
    text = (RUNNER / "README.md").read_text("utf-8")

    assert [path.name for path in RUNNER.glob("[a-z]*.py") if f"]({path.name})" not in text] == []
