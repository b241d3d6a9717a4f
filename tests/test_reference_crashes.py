"""What a crash leaves of the SQLite store: whole requests, and every request that had ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import killed_writes
import processor_contract
from processor_contract import SQLiteStorage
from reference_kit import ids

SOURCE_ROOT = Path(processor_contract.__file__).parent.parent
TESTS = Path(__file__).parent
REQUESTS = 200

# Each request is done by a child for each of its writes, which is killed there; then by the parent, so that the next
# request begins where this one has ended. A child works on copies of the files, as a crash of the parent would leave
# them.
KILLING = """
import json, os, shutil, sys
from killed_writes import killed_at
from processor_contract import Agent, Memory, ScriptedModel, SQLiteStorage, Tool

folder, requests = sys.argv[1], int(sys.argv[2])
kept, crashed = (os.path.join(folder, name) for name in ("kept.db", "crashed.db"))

def ask(storage, number):
    turns = [{"tool_calls": [{"name": "look", "args": {}, "id": f"c{number}"}]}, f"answer {number}"]
    look = Tool("look", lambda args: "x" * (number % 7) * 300)
    agent = Agent(ScriptedModel(turns), tools=[look], memory=Memory(storage))
    agent.generate(f"question {number}", thread="t", resource="r")

def asked(number, begin):
    if number == 0:
        begin()  # the file is made, too
    storage = SQLiteStorage(crashed)
    if number > 0:
        begin()
    ask(storage, number)

def found():
    storage = SQLiteStorage(crashed)
    texts = [message["content"]["content"] for message in storage.read("t", "r")]
    storage.close()
    return texts

def copied():
    for suffix in ("", "-wal"):
        if os.path.exists(kept + suffix):
            shutil.copyfile(kept + suffix, crashed + suffix)

def cleared():
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(crashed + suffix):
            os.remove(crashed + suffix)

def whole(count):
    return [text for number in range(count) for text in (f"question {number}", f"answer {number}")]

storage, kills, wrong, unsaved, saved = None, 0, [], 0, 0
for number in range(requests):
    place, going = 0, True
    while going:
        copied()
        going = killed_at(place, lambda begin: asked(number, begin))
        texts = found()
        cleared()
        kills, unsaved, saved = kills + going, unsaved + (texts == whole(number)), saved + (texts == whole(number + 1))
        if texts != whole(number + 1) and not (going and texts == whole(number)):
            wrong.append([number, place, len(texts)])
        place += 1
    storage = storage or SQLiteStorage(kept)
    ask(storage, number)
storage.close()
print(json.dumps({"kills": kills, "wrong": wrong, "unsaved": unsaved, "saved": saved}))
"""


def may_trace() -> bool:
    """Whether this machine lets a process watch its child."""
    try:
        return killed_writes.SUPPORTED and killed_writes.killed_at(99, lambda begin: begin()) is False
    except OSError:
        return False


@pytest.mark.skipif(not may_trace(), reason="a process may not watch its child here")
def test_a_crash_at_any_write_of_two_hundred_requests_leaves_whole_ones(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE_ROOT), str(TESTS)])}
    memory = Path("/dev/shm")  # a crash of a process needs no disk: what it wrote is with the kernel
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        command = [sys.executable, "-c", KILLING, folder, str(REQUESTS)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout)

    assert (told["wrong"], told["kills"] > 5 * REQUESTS) == ([], True)
    assert told["unsaved"] >= REQUESTS <= told["saved"]


WRITER = """
import itertools, sys
from processor_contract import SQLiteStorage
storage = SQLiteStorage(sys.argv[1])
for number in itertools.count():
    storage.append("t", "r", [
        {"id": f"{number}-{place}", "role": "user", "content": {"parts": [{"type": "text", "text": "x" * 2000}]}}
        for place in range(5)
    ])
    print(number, flush=True)
"""


def killed(path: Path, after: Callable[[int], bool]) -> int:
    """The last request that a writer says it has stored before it is killed; `after` says when that is due."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    command = [sys.executable, "-c", WRITER, str(path)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    assert writer.stdout is not None
    last = next(number for number in map(int, writer.stdout) if after(number))
    writer.send_signal(signal.SIGKILL)
    said = [*map(int, writer.stdout.read().split())]
    writer.stdout.close()
    writer.wait()
    return max([last, *said])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("count", [1, 8, 21])
def test_a_crash_leaves_whole_requests_and_loses_none_that_ended(tmp_path: Path, count: int) -> None:
    last = killed(tmp_path / "store.db", lambda number: number >= count)
    storage = SQLiteStorage(tmp_path / "store.db")
    stored = ids(storage.read("t", "r"))
    storage.close()
    whole = len(stored) // 5

    assert [f"{number}-{place}" for number in range(whole) for place in range(5)] == stored
    assert whole > last
