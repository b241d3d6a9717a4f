"""What users get: a wheel that works anywhere, a source distribution that is whole, a folder that can be copied."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from layout import REFERENCE, ROOT

PLAIN_REQUEST = """
import sys
sys.path.insert(0, {folder!r})
from vendored._contract import Agent, Processor, ScriptedModel

class Shout(Processor):
    id = "shout"

    def process_output_stream(self, args):
        if args.part["type"] == "text-delta":
            args.part["payload"]["text"] = args.part["payload"]["text"].upper()
        return args.part

agent = Agent(name="parrot", model=ScriptedModel([{{"text": ["he", "llo"]}}]), output_processors=[Shout()])
assert "processor_contract" not in sys.modules
print(agent.generate("hi").text)
"""
ADAPTER = """
import runpy, sys
sys.path.insert(0, {folder!r})
runpy.run_module("vendored._contract.adapter", run_name="__main__")
"""


def hatchling(target: str, folder: Path, project: Path = ROOT) -> Path:
    """Builds one distribution of the project into the folder, as a build front end would, without an index."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hatchling("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(hatchling("sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        archive.extractall(folder, filter="data")
    (project,) = folder.iterdir()
    return project


@pytest.fixture
def vendored(tmp_path: Path) -> str:
    """A folder whose package `vendored` has a copy of the reference under another name."""
    shutil.copytree(REFERENCE, tmp_path / "vendored" / "_contract", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "vendored" / "__init__.py").touch()
    return str(tmp_path)


def isolated(program: str) -> list[str]:
    """The command for a program in a Python that sees neither site-packages nor the environment."""
    return [sys.executable, "-I", "-S", "-c", program]


def test_the_wheel_holds_the_two_packages_and_the_suites_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {"processor_contract", "processor_conformance"} == {
        name.split("/")[0] for name in names if ".dist-info/" not in name
    }
    assert "processor_conformance/data/SPEC.md" in names
    assert {"processor_contract/py.typed", "processor_conformance/py.typed"} <= set(names)


def test_an_installed_wheel_lists_the_scenarios_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*pip, wheel], check=True)
    # pytest is lent from here, so that no index is needed; a mere path entry brings no editable install with it.
    lent = {**os.environ, "PYTHONPATH": str(Path(pytest.__file__).parent.parent)}

    listed = subprocess.run(
        [environment / "bin" / "processor-conformance", "list"],
        cwd=tmp_path,
        env=lent,
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    scenarios = [path.stem for path in (ROOT / "fixtures" / "scenarios").glob("*/*.json")]
    assert [name for name in scenarios if name not in listed] == []


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, unpacked_sdist: Path, tmp_path: Path) -> None:
    again = hatchling("wheel", tmp_path, unpacked_sdist)

    assert sorted(zipfile.ZipFile(wheel).namelist()) == sorted(zipfile.ZipFile(again).namelist())


def test_the_source_distribution_is_the_whole_project(unpacked_sdist: Path) -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("this checkout is not a git repository")

    missing = [name for name in tracked.stdout.splitlines() if not (unpacked_sdist / name).exists()]

    assert missing == []


def test_a_copy_of_the_reference_under_another_name_answers_a_request(vendored: str) -> None:
    program = isolated(PLAIN_REQUEST.format(folder=vendored))

    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)

    assert (done.stderr, done.stdout) == ("", "HELLO\n")


def test_a_copy_of_the_reference_speaks_the_protocol(vendored: str) -> None:
    params = {"protocols": [1], "revision": "nine-hook"}
    request = json.dumps({"jsonrpc": "2.0", "id": "r1", "method": "initialize", "params": params}) + "\n"
    program = isolated(ADAPTER.format(folder=vendored))

    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as adapter:
        assert adapter.stdin
        assert adapter.stdout
        adapter.stdin.write(request)
        adapter.stdin.flush()
        answer = json.loads(adapter.stdout.readline())
        adapter.stdin.close()
        code = adapter.wait(timeout=5)

    assert (answer["id"], answer["result"]["protocol"], code) == ("r1", 1, 0)
