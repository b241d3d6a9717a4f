"""Whatever an adapter sends instead of one of its messages, the fault is the adapter's and comes in time."""

from __future__ import annotations

import contextlib
import json
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chaos import mini
from chaos.playing import play
from processor_conformance.connection import Adapter
from processor_conformance.faults import AdapterFault
from processor_conformance.words import Json

JUNK: list[Json] = [
    None, True, 0, -1, 1.5, "", "x", [], {}, [[]], [{}], {"a": {}}, ["x"], {"$undefined": True}, "\ud800", 10**30,
]  # fmt: skip
PLACE = {"thread": "t", "resource": "r"}
SCENARIO: dict[str, Json] = {
    "given": {
        "processors": {
            "one": {
                "processInput": [{"do": [{"op": "set", "at": "state/n", "value": 1}, {"op": "token", "at": "state"}]}],
                "processOutputStream": [{"when": {"part": {"type": "text-delta"}}}],
            }
        },
        "inputProcessors": ["one"],
        "outputProcessors": {"$callback": [{"return": ["one"]}]},
        "memory": {},
        "tools": {"look": {}},
        "model": [{"toolCalls": [{"id": "c", "name": "look", "args": {"a": 1}}]}, {"text": ["a", "b"]}],
    },
    "run": [
        {"input": "x", "options": {"memory": PLACE}},
        {"input": "y", "reading": [{"read": 1}, {"rest": True}, {"result": True}]},
    ],
    "stored": [{**PLACE, "messages": []}],
}


class Mutating(mini.Mini):
    """Changes one place in the message whose number was drawn."""

    def __init__(self, send: Callable[[str], None], chance: random.Random) -> None:
        super().__init__(send)
        self.chance = chance
        self.left = chance.randrange(1, 90)

    def send(self, **message: Json) -> None:
        self.left -= 1
        whole = json.loads(json.dumps({"jsonrpc": "2.0", **message}))
        if self.left == 0:
            holder, key = self.chance.choice(list(places(whole)))
            if isinstance(holder, dict) and self.chance.random() < 0.3:
                del holder[key]
            else:
                holder[key] = self.chance.choice(JUNK)
        self.send_line(json.dumps(whole))


def places(value: Json) -> Iterator[tuple[Json, Any]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@pytest.mark.parametrize("seed", range(100))
def test_a_mutated_message_is_never_the_suites_bug(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("chaos_mutating")
    module.connect = lambda send: Mutating(send, random.Random(seed)).receive  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "chaos_mutating", module)
    adapter = Adapter("python:chaos_mutating:connect", timeout=0.5)
    with contextlib.suppress(AdapterFault):  # anything else is what this test is about
        play(adapter, "x", SCENARIO, "stream", seed=3, timeout=0.5)
    adapter.close()
