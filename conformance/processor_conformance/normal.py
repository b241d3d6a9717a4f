"""What an implementation makes up anew each time: object tokens, ids, uuids, dates.

Flows in: values as they came, and the scenario whose own words must stay. Flows out: the same values with
placeholders, numbered in the order in which the made-up values first appear, so that two plays of one scenario give
the same text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .rename import NAMED, WHOLE
from .words import Json

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")
DATED = re.compile(r"(At|Date|timestamp|Timestamp)$")  # members that hold points in time
MEASURED = re.compile(r"(Ms\b|Ms_|[dD]uration)")  # members that hold how long something took
IDS = re.compile(r"(^id|Id|ID)$")  # members that hold ids
LONG = 8  # a made-up id of this length or more is also found inside texts


@dataclass(slots=True)
class Normaliser:
    """Replaces what was made up; one for each play. `own` is all that the scenario says, `texts` its texts joined."""

    own: str
    texts: str = ""
    names: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: Json) -> Normaliser:
        return cls(json.dumps(raw, ensure_ascii=False), "".join(_texts(raw)))

    def take(self, value: Json) -> None:
        """Notes every made-up value inside, in order."""
        for kind, text in self._made_up(value, ""):
            self._name(kind, text)

    def give(self, value: Json, key: str = "") -> Json:
        """The value with a placeholder for each made-up one."""
        if isinstance(value, dict):
            if value.keys() == {"$object"}:  # one that no token names is of no interest, but that it is there
                return {"$object": self.names.get(value["$object"], "<object>")}
            if value.keys() == {"$date"}:
                return value if self._said(value["$date"]) else {"$date": "<date>"}
            return {name: self.give(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.give(inner) for inner in value]
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value, key)
        return value

    def stable(self, value: Json, key: str = "") -> Json:
        """A pattern for the value that says nothing of what is made up."""
        if isinstance(value, dict) and value.keys() != {"$date"}:
            parts = {name: self.stable(inner, name) for name, inner in value.items() if name not in ("tokens", "token")}
            return {name: inner for name, inner in parts.items() if inner not in ({"$any": True}, {})} or {"$any": True}
        if isinstance(value, list):
            return [self.stable(inner, key) for inner in value]
        return {"$any": True} if self.generated({key: value}) or self._foreign(value, key) else value

    def generated(self, value: Json) -> bool:
        """Whether anything inside is made up."""
        return self.give(value) != value or bool(list(self._made_up(value, "")))

    def _made_up(self, value: Json, key: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                if key == "tokens" or name == "token":
                    if isinstance(inner, str) and f'"token": {json.dumps(inner)}' not in self.own:
                        yield "object", inner
                else:
                    yield from self._made_up(inner, name)
        elif isinstance(value, list):
            for inner in value:
                yield from self._made_up(inner, key)
        elif isinstance(value, str):
            if IDS.search(key) and not self._said(value):
                yield "id", value
            yield from (("id", found[0]) for found in UUID.finditer(value) if not self._said(found[0]))

    def _foreign(self, value: Json, key: str) -> bool:
        """Whether it is a text of the implementation's own wording, which comes back garbled by the renaming."""
        if not isinstance(value, str) or key in NAMED or key in WHOLE or not any(map(str.isalpha, value)):
            return False
        return value not in self.texts and not self._said(value)

    def _number(self, value: float, key: str) -> Json:
        """Points in time and measured durations are made up; other numbers count."""
        if DATED.search(key) and value > 10**9:
            return "<date>"
        measured = MEASURED.search(key) or (isinstance(value, float) and not value.is_integer())
        return "<number>" if measured and not self._said(json.dumps(value)) else value

    def _said(self, text: str) -> bool:
        return json.dumps(text, ensure_ascii=False)[1:-1] in self.own

    def _name(self, kind: str, text: str) -> None:
        if text and text not in self.names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self.names[text] = f"<{kind} {self._counts[kind]}>"

    def _text(self, text: str, key: str) -> str:
        if text in self.names:
            return self.names[text]
        for made_up, name in self.names.items():
            if len(made_up) >= LONG and made_up in text:
                text = text.replace(made_up, name)
        return DATE.sub(lambda found: found[0] if self._said(found[0]) else "<date>", text)


def _texts(value: Json) -> Iterator[str]:
    """Every text inside, in order: deltas of one answer stand side by side."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)
