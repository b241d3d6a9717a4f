"""Plays a scenario that is no more than what is given and what is run, as the tests of the engine write it."""

from __future__ import annotations

from typing import Any

from processor_conformance import player
from processor_conformance.connection import Adapter
from processor_conformance.scenario import Item, Scenario
from processor_conformance.trace import Trace


def play(adapter: Adapter, name: str, raw: dict[str, Any], mode: str, **options: Any) -> Trace:
    return player.play(adapter, Item(Scenario(name, "any", raw), mode), **options)
