"""Recordings: what an implementation did, kept to be read and to be compared with.

Flows in: traces of plays with seed 0. Flows out: `fixtures/recordings/<implementation>/<family>.jsonl`: a header of
provenance, then one line for each item with all lanes of each run, the outcomes and the store, made-up values
replaced by placeholders. Lanes are kept apart, because only within a lane the order is the same each time; `@step`
says to which model step an event belongs.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib.util
import itertools
import json
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import player
from .connection import Adapter, Hello
from .faults import AdapterFault
from .normal import Normaliser
from .packing import packed, unpacked
from .scenario import Item, Scenario, natural
from .trace import Event, Trace
from .words import HOOKS, LANES, PROTOCOL, REVISION, TERMINAL, Json

MORE_PLAYS = 8  # of an item that differs from its recording
FEW = 20  # changed items are named one by one up to this number
MARKS = ("@step", "@late")
STEPLESS = ("opened", "start", *TERMINAL)


@dataclass(slots=True)
class Recording:
    """One file: its header, and a line for each item by the item's id."""

    header: dict[str, Json]
    lines: dict[str, Json]

    @classmethod
    def read(cls, path: Path) -> Recording:
        header, *lines = map(json.loads, path.read_text("utf-8").rstrip("\n").split("\n"))
        return cls(header, {line["item"]: line for line in lines})

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        values = [self.header, *self.lines.values()]
        text = "".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values)
        path.write_text(text, "utf-8", "backslashreplace")  # half a character stays the escape it is in JSON


def keep(
    adapter: Adapter, items: Iterable[Item], folder: Path, *, timeout: float, check: bool, whole: bool
) -> tuple[list[str], list[str]]:
    """Records these items below `folder`: what was done, and which items of the same version changed.

    `check` writes nothing. `whole` says that `items` is all there is, so that other lines are out of date. A file
    whose lines stay as they are keeps its header, date included. Raises AdapterFault and SuiteError.
    """
    said: list[str] = []
    changed: list[str] = []
    played = list(_played(adapter, items, timeout))
    hello = adapter.start()
    before = {path.stem: Recording.read(path) for path in (folder / hello.implementation).glob("*.jsonl")}
    files = {item.scenario.family: Recording(header(hello, adapter.command), {}) for item, _ in played}
    for item, line in played:
        old = before.get(item.scenario.family, Recording({}, {}))
        same = old.header.get("version") == hello.version
        files[item.scenario.family].lines[item.id] = _again(adapter, item, old, line, timeout) if same else line
    for family, new in files.items():
        path = folder / hello.implementation / f"{family}.jsonl"
        old = before.get(family, Recording({}, {}))
        lines = new.lines if whole else {**old.lines, **new.lines}
        lines |= {item: old.lines[item] for item in lines if alike(old.lines.get(item), lines[item])}
        differing = [item for item in {**old.lines, **lines} if old.lines.get(item) != lines.get(item)]
        same_version = old.header.get("version") == hello.version
        changed += differing if same_version or not old.header else []
        if not check and (differing or not same_version):
            Recording(new.header, dict(sorted(lines.items(), key=lambda one: natural(one[0])))).write(path)
        since = f" since version {old.header['version']}" if old.header and not same_version else ""
        said.append(f"{path.name}: {len(lines)} plays of version {hello.version}, {len(differing)} changed{since}")
    few = changed if len(changed) <= FEW or check else []
    return said + [f"  changed: {item}" for item in few], changed


def _again(adapter: Adapter, item: Item, old: Recording, line: Json, timeout: float) -> Json:
    """What was recorded, where it comes again in one of a few plays: a race may end in more than one way.

    There are fewer of them where each takes long: a gate that stays shut takes the timeout by itself.
    """
    recorded = old.lines.get(item.id)
    ends = time.monotonic() + timeout
    for _ in range(MORE_PLAYS if recorded is not None else 0):
        if alike(recorded, line):
            return recorded
        if time.monotonic() >= ends:
            break
        line = next((came for _, came in _played(adapter, [item], timeout)), line)
    return line


def alike(old: Json, new: Json) -> bool:
    """Whether two lines say the same, but for the order in which requests at the same time were stored."""
    if old is not None and new.get("atOnce"):
        old, new = _without_order(old), _without_order(new)
    return bool(old == new)


def _without_order(line: Json) -> Json:
    stored = [{**place, "messages": sorted(map(_sortable, place["messages"]))} for place in line.get("stored", [])]
    return {**line, "stored": stored}


def _sortable(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _played(adapter: Adapter, items: Iterable[Item], timeout: float) -> Iterator[tuple[Item, Json]]:
    """Plays each item that the implementation can be asked, and gives its line; none where that does not end."""
    for item in items:
        hello = adapter.start()
        if not (hello.undeclared(item) or hello.lacking(item)):
            try:
                trace = player.play(adapter, item, seed=0, timeout=timeout)
            except AdapterFault as fault:
                if fault.kind != "hung" or fault.trace is None:
                    raise
                adapter.close()  # a run that does not end leaves nothing to record; the others go on
                continue
            yield item, line(item.scenario, trace)


def header(hello: Hello, command: str | list[str]) -> dict[str, Json]:
    """Where a recording comes from."""
    return {
        "implementation": hello.implementation,
        "version": hello.version,
        "adapter": fingerprint(command),
        "protocol": PROTOCOL,
        "revision": REVISION,
        "date": datetime.date.today().isoformat(),
    }


def fingerprint(command: str | list[str]) -> str:
    """A hash of the adapter's own files: the folders of the files and Python modules that its command names."""
    digest = hashlib.sha256()
    for folder in sorted(set(_folders(command))):
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.suffix in (".py", ".mjs", ".js", ".cjs", ".ts", ".json", ""):
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _folders(command: str | list[str]) -> Iterator[Path]:
    words = command.split(":") if isinstance(command, str) and command.startswith("python:") else _words(command)
    for before, word in itertools.pairwise(["", *words]):
        if before in ("-m", "python"):
            yield from _module(word)
        elif Path(word).is_file() and (before or _is_script(Path(word))):
            yield Path(word).resolve().parent


def _is_script(program: Path) -> bool:
    """Whether the program that a command starts is the adapter's own, and not an interpreter."""
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def _module(name: str) -> Iterator[Path]:
    """The folder that a module's file lies in, found without importing anything."""
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    if spec and spec.origin:
        path = Path(spec.origin).parent.joinpath(*inner)
        yield path if path.is_dir() else path.parent


def _words(command: str | list[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else command


def line(scenario: Scenario, trace: Trace) -> Json:
    """One play as it is kept."""
    normal = Normaliser.of(scenario.raw)
    runs = {name: _run(trace, name) for name in scenario.run_names}
    stored = [{"thread": place[0], "resource": place[1], "messages": found} for place, found in trace.stored.items()]
    normal.take([runs, stored])
    kept: dict[str, Json] = {"item": f"{scenario.id}[{trace.mode}]", "runs": {}}
    for name, lanes in normal.give(runs).items():
        kept["runs"][name] = {lane: packed(found) if lane in LANES else found for lane, found in lanes.items()}
    kept |= {"stored": normal.give(stored)} if stored else {}
    kept |= {"atOnce": True} if "concurrent-runs" in scenario.capabilities(trace.mode) else {}
    return kept | ({"stuck": trace.stuck_gates} if trace.stuck_gates else {})


def _run(trace: Trace, name: str) -> Json:
    steps = step_numbers(trace, name)
    lanes: dict[str, Json] = {}
    for lane in LANES:
        events = trace.lane(name, lane)
        if not events and lane == "spans":
            continue  # most scenarios are not traced
        lanes[lane] = [
            {
                **event.data,
                **({"@step": steps[event.at]} if event.at in steps else {}),
                **({"@late": True} if event.late else {}),
            }
            for event in (_settled(events) if lane == "work" else events)
        ]
    return {**lanes, **({"outcome": trace.outcomes[name]} if name in trace.outcomes else {})}


def _settled(events: list[Event]) -> list[Event]:
    """Tool calls that follow each other overlap and come in any order: the recording has them by their ids."""
    settled: list[Event] = []
    for tool, group in itertools.groupby(events, key=lambda event: event.name == "tool"):
        together = list(group)
        settled += sorted(together, key=lambda event: str(event.data.get("toolCallId"))) if tool else together
    return settled


def step_numbers(trace: Trace, run: str) -> dict[int, int]:
    """The model step, by `at`, of each event that belongs to one: as it says itself, or by the model calls until then.

    A model call that repeats a rejected attempt begins no step; the retryCount of the hooks that follow it says so.
    """
    events = [event for event in trace.events if event.run == run and event.lane in ("work", "provider")]
    calls = list(itertools.accumulate(event.name == "model" for event in events))
    attempts: dict[int, int] = {}
    for event, call in zip(events, calls, strict=True):
        if "retryCount" in event.data and _of_attempt(event) and not _opens_step(event):
            attempts.setdefault(call, event.data["retryCount"])
    steps: dict[int, int] = {}
    openings: Counter[str] = Counter()  # by processor: one that sees no step-start must not set back those that do
    for event, call in zip(events, calls, strict=True):
        begun = sum(not attempts.get(one) for one in range(1, call + 1))
        opens = _opens_step(event) and not event.data.get("retryCount")
        openings[str(event.data.get("processor"))] += opens
        if isinstance(event.data.get("stepNumber"), int):
            steps[event.at] = event.data["stepNumber"]
        elif event.name in ("processOutputStream", "tool", "model"):
            ahead = opens and max(openings.values()) > begun
            steps[event.at] = begun if ahead else max(begun - 1, 0)
    spans = {span.at: span.data["stepNumber"] for span in trace.lane(run, "spans") if span.name == "step"}
    return steps | spans | _chunk_steps(trace.lane(run, "client"))


def _of_attempt(event: Event) -> bool:
    return event.name in HOOKS and HOOKS[event.name].of_attempt


def _chunk_steps(chunks: list[Event]) -> dict[int, int]:
    """The step of each chunk that has one, by the steps that have finished before it."""
    steps: dict[int, int] = {}
    finished = 0
    for chunk in chunks:
        if chunk.name not in STEPLESS:
            steps[chunk.at] = finished
        if chunk.name == "step-finish" and chunk.data.get("payload", {}).get("finishReason") != "retry":
            finished += 1
    return steps


def _opens_step(event: Event) -> bool:
    """Whether it is the chunk that opens a step: before its model call, as the contract has it, or after it."""
    part = event.data.get("part")
    return isinstance(part, dict) and part.get("type") == "step-start"


def replay(line: Json) -> tuple[Trace, dict[int, int]]:
    """The trace that a line keeps (its order across lanes is not that of the play), and its events' steps by `at`."""
    steps: dict[int, int] = {}
    name, _, mode = line["item"].rpartition("[")
    trace = Trace(name, mode.rstrip("]"), stuck_gates=line.get("stuck", []))
    for run, lanes in line["runs"].items():
        for lane in LANES:
            for kept in unpacked(lanes.get(lane, [])):
                if "@step" in kept:
                    steps[len(trace.events)] = kept["@step"]
                data = {key: value for key, value in kept.items() if key not in MARKS}
                trace.events.append(Event(len(trace.events), run, lane, _name(data, lane), data, "@late" in kept))
        if "outcome" in lanes:
            trace.outcomes[run] = lanes["outcome"]
    for entry in line.get("stored", []):
        trace.stored[entry["thread"], entry["resource"]] = entry["messages"]
    return trace, steps


def _name(data: dict[str, Json], lane: str) -> str:
    """What a lens selects an event by, from what it holds."""
    if lane == "provider":
        return "model/aborted" if "aborted" in data else "model"
    if lane == "client":
        return "opened" if "opened" in data else str(data.get("type"))
    if lane == "spans":
        return str(data["kind"])
    if "store" in data:
        return f"store/{data['store']}"
    if "warning" in data:
        return "warning"
    return "tool" if "tool" in data else str(data.get("hook", data.get("callback")))
