"""Values on the wire: tokens for live objects, tags for what JSON cannot hold, paths and templates.

Flows in: live arguments and the runner's templates. Flows out: JSON, and live values made of templates.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import math
import re
import threading
from collections.abc import Mapping
from typing import Any

from ..context import UNSET, AbortSignal, RequestContext, Writer
from ..data import Json, StreamParts, date_text
from ..errors import APICallError, ContractError, TripWire
from ..message_list import MessageList
from ..tracing import TracingContext

BEHAVING = (MessageList, Writer, AbortSignal, RequestContext, TracingContext)
ERROR_FIELDS = {
    "statusCode": "status_code",
    "isRetryable": "is_retryable",
    "url": "url",
    "responseBody": "response_body",
}
MARK = re.compile("(?<!^)(?=[A-Z])")
BIG = 2**53
NO_JSON = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # numbers, as the wire has them


class NoSuchPath(LookupError):
    """A path, a token or a member that the open call does not have."""


class ScriptedError(Exception):
    """An error that a scenario raises; `name` is what the scenario calls it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def camel(name: str) -> str:
    """`retry_count` as the wire spells it: `retryCount`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    """`retryCount` as Python spells it: `retry_count`."""
    return MARK.sub("_", name).lower()


class Objects:
    """Every live object the runner has seen, by its token."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._tokens: dict[int, str] = {}
        self._objects: dict[str, Any] = {}
        self._lock = threading.Lock()

    def token(self, value: Any) -> str:
        """The object's token; a new one at first sight."""
        with self._lock:
            if id(value) not in self._tokens:
                token = f"o{next(self._numbers)}"
                self._tokens[id(value)] = token
                self._objects[token] = value  # held, so that the id is never another object's
            return self._tokens[id(value)]

    def known(self, value: Any) -> str | None:
        """The object's token if it has one."""
        return self._tokens.get(id(value))

    def name(self, token: str, value: Any) -> None:
        """Gives an object the token the runner has chosen for it."""
        with self._lock:
            self._tokens[id(value)] = token
            self._objects[token] = value

    def find(self, token: str) -> Any:
        """The object with this token."""
        if token not in self._objects:
            raise NoSuchPath(f"no object has the token {token!r}")
        return self._objects[token]

    # -- outwards --------------------------------------------------------------------------------------------------

    def encode(self, value: Any, above: tuple[int, ...] = ()) -> Json:
        """A value as the wire carries it; `above` are the ids of what it stands in."""
        if isinstance(value, float) and not math.isfinite(value):
            return {"$number": NO_JSON[str(value)]}
        if value is None or isinstance(value, (str, bool, float)):
            return value
        if value is UNSET:
            return {"$undefined": True}
        if isinstance(value, int):
            return value if -BIG < value < BIG else {"$bigint": str(value)}
        if isinstance(value, StreamParts):
            return [self.encode(item) for item in value]
        if isinstance(value, (dict, list, tuple)):
            if id(value) in above:
                return {"$circular": True}
            above = (*above, id(value))
            if not isinstance(value, dict):
                return [self.encode(item, above) for item in value]
            encoded = {str(key): self.encode(item, above) for key, item in value.items()}
            return {"$literal": encoded} if any(key.startswith("$") for key in encoded) else encoded
        if isinstance(value, BEHAVING):
            return {"$object": self.token(value)}
        if isinstance(value, BaseException):
            return {"$error": self.error(value)}
        if isinstance(value, datetime.datetime):
            return {"$date": date_text(value)}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: self.encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if hasattr(value, "stream") and hasattr(value, "id"):
            return {"id": value.id}
        return {"$function": getattr(value, "__name__", type(value).__name__)}

    def error(self, error: BaseException) -> Json:
        """One error, without its causes."""
        name = error.name if isinstance(error, ScriptedError) else type(error).__name__
        described: dict[str, Json] = {"name": name, "message": str(error)}
        if isinstance(error, APICallError):
            described.update({wire: getattr(error, own) for wire, own in ERROR_FIELDS.items()})
        if getattr(error, "rule", None):
            described["rule"] = error.rule  # type: ignore[attr-defined]
        if self.known(error):
            described["token"] = self.known(error)
        return described

    def chain(self, error: BaseException | None) -> list[Json]:
        """An error and its causes."""
        chain: list[BaseException] = []
        while error is not None and not any(error is one for one in chain):
            chain.append(error)
            error = error.__cause__
        return [self.error(one) for one in chain]

    # -- inwards ---------------------------------------------------------------------------------------------------

    def decode(self, template: Json, scope: Mapping[str, Any]) -> Any:
        """The live value that a template describes; `scope` has the open call's arguments by their wire names."""
        if isinstance(template, list):
            return [self.decode(item, scope) for item in template]
        if not isinstance(template, dict):
            return template
        tag = next((key for key in template if key.startswith("$")), None)
        if tag is None:
            return {key: self.decode(item, scope) for key, item in template.items()}
        if tag not in TAGS:
            raise ContractError(f"the template tag {tag!r} is unknown")
        return TAGS[tag](self, template[tag], template, scope)

    def make_error(self, described: Mapping[str, Json]) -> BaseException:
        """The error that the runner describes, under the runner's token."""
        name, message = described.get("name", "Error"), described.get("message", "")
        error: BaseException
        if name == "APICallError":
            given = {own: described[wire] for wire, own in ERROR_FIELDS.items() if described.get(wire) is not None}
            error = APICallError(message, **given)
        elif name == "TripWire":
            error = TripWire(message, retry=described.get("retry"), metadata=described.get("metadata"))
        else:
            error = ScriptedError(name, message)
        if "token" in described:
            self.name(described["token"], error)
        return error


def follow(path: str, scope: Mapping[str, Any]) -> tuple[Any, str | int]:
    """The container and the key that a path ends in. Raises LookupError, naming what is missing."""
    steps = path.split("/")
    holder: Any = scope
    for step in steps[:-1]:
        holder = member(holder, step, path)
    last = steps[-1]
    if not isinstance(holder, (list, StreamParts)):
        return holder, last
    if not last.lstrip("-").isdigit():
        raise NoSuchPath(f"there is no {last!r} in {path!r}; a list has numbers")
    return holder, int(last)


def member(holder: Any, step: str | int, path: str) -> Any:
    """One member of a live value."""
    try:
        if isinstance(holder, (list, StreamParts)):
            return holder[int(step)]
        if isinstance(holder, Mapping):
            return holder[step]
        return getattr(holder, snake(str(step)))
    except (LookupError, AttributeError, ValueError):
        raise NoSuchPath(f"there is no {step!r} in {path!r}") from None


def read(path: str, scope: Mapping[str, Any]) -> Any:
    """The live value at a path."""
    holder, key = follow(path, scope)
    return member(holder, key, path)


def _circular(*_: Any) -> Any:
    made: dict[str, Any] = {}
    made["self"] = made
    return made


def _new_list(objects: Objects, messages: Json, template: Json, scope: Mapping[str, Any]) -> MessageList:
    made = MessageList()
    made.add(objects.decode(messages, scope), "input")
    return made


def _spread(objects: Objects, inner: Json, template: Json, scope: Mapping[str, Any]) -> Any:
    return {**objects.decode(inner, scope), **objects.decode(template.get("with", {}), scope)}


TAGS: dict[str, Any] = {
    "$ref": lambda objects, path, template, scope: read(path, scope),
    "$spread": _spread,
    "$token": lambda objects, token, template, scope: objects.find(token),
    "$object": lambda objects, token, template, scope: objects.find(token),
    "$tool": lambda objects, name, template, scope: scope["$tool"](name),
    "$model": lambda objects, model_id, template, scope: scope["$models"](model_id),
    "$list": _new_list,
    "$undefined": lambda *_: None,
    "$date": lambda objects, text, template, scope: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")),
    "$bigint": lambda objects, text, template, scope: int(text),
    "$number": lambda objects, text, template, scope: float(text),
    "$circular": _circular,
    "$function": lambda objects, name, template, scope: lambda *args: name,
    "$error": lambda objects, described, template, scope: objects.make_error(described),
    "$literal": lambda objects, inner, template, scope: {
        key: objects.decode(item, scope) for key, item in inner.items()
    },
}
