"""The workloads of bench/run.py on the reference: the same requests as framework.mjs makes.

In: one JSON line a workload; out: one JSON line {seconds}, the mean of one request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from processor_contract import Agent, Processor, ScriptedModel, Tool

ADD = Tool("add", lambda args: {"sum": args["a"] + args["b"]}, "adds")
CALL = {"tool_calls": [{"name": "add", "args": {"a": 1, "b": 2}}]}


class Passing(Processor):
    """A processor that looks at every chunk and lets it pass."""

    def __init__(self, id: str) -> None:
        self.id = id

    def process_output_stream(self, args: Any) -> Any:
        return args.part


def generate(agent: Agent) -> int:
    return len(agent.generate("hi").text)


def stream(agent: Agent) -> int:
    return sum(len(chunk["payload"]["text"]) for chunk in agent.stream("hi") if chunk["type"] == "text-delta")


REQUESTS: dict[str, Callable[[Agent], int]] = {"generate": generate, "stream": stream}


def measure(workload: dict[str, Any]) -> float:
    """The mean seconds of a request, over as many as fit into `atLeast` seconds."""
    model = ScriptedModel([*[CALL] * workload["steps"], ["word "] * workload["chunks"]])
    agent = Agent(
        model,
        instructions="Be brief.",
        tools=[ADD],
        output_processors=[Passing(f"p{number}") for number in range(workload["processors"])],
        max_steps=workload["steps"] + 1,
    )
    request = REQUESTS[workload["mode"]]
    expected = len("word ") * workload["chunks"]
    started = perf_counter()
    count = 0
    while not count or perf_counter() - started < workload["atLeast"]:
        model.requests.clear()  # the log of one request, and so its turns, from the start
        length = request(agent)
        assert length == expected, f"{length} characters came, not {expected}"
        count += 1
    return (perf_counter() - started) / count


for line in sys.stdin:
    print(json.dumps({"seconds": measure(json.loads(line))}), flush=True)
