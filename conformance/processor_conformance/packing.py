"""Recorded lanes in a fraction of their length, still to be read by eye.

Flows in: the events of a lane. Flows out: the same, each without what an event before it said already: `@same` lists
the members that are as in the last event that had them, `@own` those that are as in the last event of the same
processor, and a list that has grown is written `{"@plus": [what was added]}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .words import Json

Seen = dict[Any, Json]


def packed(events: list[Json]) -> list[Json]:
    """The events in short."""
    seen: Seen = {}
    return [_short(event, seen) for event in events]


def _short(event: dict[str, Json], seen: Seen) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    for key, value in event.items():
        before, own = seen.get(key), seen.get((_owner(event), key))
        if isinstance(value, dict | list) and value and value == before:
            kept.setdefault("@same", []).append(key)
        elif isinstance(value, dict | list) and value and value == own:
            kept.setdefault("@own", []).append(key)
        elif isinstance(value, list) and isinstance(before, list) and before and value[: len(before)] == before:
            kept[key] = {"@plus": value[len(before) :]}
        else:
            kept[key] = value
    _note(event, seen)
    return kept


def unpacked(events: list[Json]) -> Iterator[Json]:
    """The events as they were, but for the order of their members."""
    seen: Seen = {}
    for short in events:
        event = {key: _grown(value, seen.get(key)) for key, value in short.items() if key not in ("@same", "@own")}
        event.update({key: seen[key] for key in short.get("@same", ())})
        event.update({key: seen[_owner(event), key] for key in short.get("@own", ())})
        _note(event, seen)
        yield event


def _note(event: dict[str, Json], seen: Seen) -> None:
    seen.update(event)
    seen.update({(_owner(event), key): value for key, value in event.items()})


def _owner(event: dict[str, Json]) -> Json:
    return event.get("processor", event.get("tool"))


def _grown(value: Json, before: Json) -> Json:
    return [*before, *value["@plus"]] if isinstance(value, dict) and "@plus" in value else value
