"""The reference's speed beside the real framework's, in one run.

In: the workloads below, each given in turn to two processes that wait (so that neither disturbs the other), round after
round. Out: a table of medians, ratios and targets. A chunk and a tool step cost what a request grows by for each one
more: the slope between a request with few and one with many.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
NODE = HERE.parent / "conformance" / "adapters" / "mastra" / "node_modules" / "node" / "bin" / "node"
FEW_CHUNKS = 10
SIDES: dict[str, list[str | Path]] = {
    "reference": [sys.executable, HERE / "reference.py"],
    "framework": [NODE, HERE / "framework.mjs"],
}


@dataclass(frozen=True)
class Workload:
    """One request: its mode, text deltas, output processors, and steps with one tool call before the text."""

    mode: str
    chunks: int
    processors: int = 0
    steps: int = 0


@dataclass(frozen=True)
class Cost:
    """A line of the table: what `many` takes more than `few`, by the number of units between them."""

    title: str
    many: Workload
    few: Workload | None = None
    units: int = 1
    target: int | None = None  # how many times faster than the framework the reference aims to be


def chunk(count: int, processors: int, title: str, target: int | None = None) -> Cost:
    many, few = (Workload("stream", chunks, processors) for chunks in (count, FEW_CHUNKS))
    return Cost(title, many, few, count - FEW_CHUNKS, target)


def tool_step(count: int, title: str, target: int | None = None) -> Cost:
    many, few = (Workload("generate", 3, steps=steps) for steps in (count, 1))
    return Cost(title, many, few, count - 1, target)


COSTS = (
    chunk(1000, 0, "chunk, no processor"),
    chunk(1000, 1, "chunk, 1 processor", target=12),
    chunk(1000, 4, "chunk, 4 processors"),
    Cost("plain request", Workload("generate", 3), target=20),
    tool_step(10, "tool step", target=25),
)
FLAT = (
    [chunk(count, 1, f"chunk of {count}") for count in (100, 1000, 4000)],
    [tool_step(count, f"step of {count}") for count in (2, 10, 40)],
)


class Side:
    """One implementation's process, which answers a workload with the mean seconds of a request."""

    def __init__(self, command: list[str | Path]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds: dict[Workload, list[float]] = {}

    def measure(self, workload: Workload, at_least: float) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({**asdict(workload), "atLeast": at_least}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.process.args!r} ended in the middle of {workload}")
        self.seconds.setdefault(workload, []).append(json.loads(answer)["seconds"])

    def cost(self, cost: Cost) -> float:
        """Seconds a unit, from the medians over all rounds."""
        few = median(self.seconds[cost.few]) if cost.few else 0.0
        return (median(self.seconds[cost.many]) - few) / cost.units


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1, help="the least time for a workload in a round")
    given = parser.parse_args()

    sides = {name: Side(command) for name, command in SIDES.items()}
    costs = [*COSTS, *FLAT[0], *FLAT[1]]
    workloads = dict.fromkeys(one for cost in costs for one in (cost.many, cost.few) if one)
    for number in range(given.rounds + 1):
        for workload in workloads:
            for side in sides.values():
                side.measure(workload, given.seconds)
        if not number:  # the first round warms up
            for side in sides.values():
                side.seconds.clear()
    report(sides)
    return 0


def report(sides: dict[str, Side]) -> None:
    print(f"{'':22}{'reference':>14}{'framework':>14}{'times faster':>15}{'target':>9}")
    for cost in COSTS:
        ours, theirs = (side.cost(cost) for side in sides.values())
        times = theirs / ours
        verdict = "" if cost.target is None else f"{cost.target:>9}  {'met' if times >= cost.target else 'missed'}"
        print(f"{cost.title:22}{micro(ours):>14}{micro(theirs):>14}{times:>15.1f}{verdict}")
    print("\nflat as they grow (a chunk with 1 processor)")
    for name, side in sides.items():
        for line in FLAT:
            print(f"  {name:11}" + "".join(f"{cost.title:>16} {micro(side.cost(cost)):>11}" for cost in line))


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} µs"


if __name__ == "__main__":
    sys.exit(main())
