"""What the mock provider says: a script, as a file of JSON lines, one turn a line.

Flows in: the lines. Flows out: for each request the first turn that fits it and is not used up. Empty lines, and those
that begin with `#`, are for people. Every member of a turn is optional, and any other is refused:

- `text`, `reasoning`: a text, or a list of the pieces in which it is streamed;
- `json`: any value, which is said as text; for JSON mode;
- `toolCalls`: a list of `{"name", "args", "id"}`; `args` may be a text, which is sent as it is, be it JSON or not;
- `finishReason`: `stop`, `length`, `tool-calls`, `content-filter`, or a text of your own, which is sent as it is;
  without it `tool-calls` where there are some, else `stop`;
- `usage`: any of `inputTokens`, `outputTokens`, `cachedInputTokens`, `reasoningTokens` (10, 5, 0 and 0);
- `when`: which requests the turn is for: any of `model`, `api` (`openai` or `anthropic`), `says` (a text in the last
  message of the request), `stream` (true or false);
- `times`: how many requests it answers, 1 without it; 0: any number;
- `fault`: what goes wrong. Any of
  - `status` (200 to 599), `body` (a JSON value, or a text that is sent as it is; without it an error in the provider's
    form), `retryAfter` (seconds, or a date as HTTP writes it);
  - `delay` and `chunkDelay`: seconds before the answer, and between its events;
  - `cutAfter`: the connection ends after that many events, the first ones of the API (a role, a `message_start`)
    counted; with `"reset": true` by a reset. An answer that is not streamed ends in its middle;
  - `hangUp`: true: the connection ends without an answer; a `delay` and `"reset": true` may stand beside it;
  - `malformedAfter`: after that many events comes one that is no JSON; an answer that is not streamed is none;
  - `errorAfter`: after that many events comes an error event, which says `body`, and nothing else;
  - `contentType`: the answer's content type, wrong or not;
  - `splitCharacters`: true: every packet ends in mid-character where it can;
  - `slowRead`: seconds before each 64 bytes of the request that are read. It holds for the turn that is next, whatever
    its `when`: which request it is, is not known before it is read.

A fault due after more events than its answer has does nothing; the log of requests calls such an answer `unspoilt`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import Json
from ..errors import ContractError

USAGE = {"inputTokens": 10, "outputTokens": 5, "cachedInputTokens": 0, "reasoningTokens": 0}
APIS = ("openai", "anthropic")
LONGEST_PAUSE = 3600


class ScriptError(ContractError):
    """A script that cannot be played: which file, which line, and why."""


@dataclass(slots=True)
class Fault:
    """What goes wrong with an answer; the module's docstring says what each member means."""

    status: int
    body: Json
    retry_after: str | None
    delay: float
    chunk_delay: float
    reset: bool
    hang_up: bool
    content_type: str | None
    split_characters: bool
    slow_read: float
    cut_after: int | None
    malformed_after: int | None
    error_after: int | None


@dataclass(slots=True)
class Call:
    """A tool call. `arguments` is JSON, or what was written in its place."""

    name: str
    arguments: str
    id: str | None


@dataclass(slots=True)
class Turn:
    """One answer. `line` is where it stands in its file, from 1."""

    line: int
    text: list[str]
    reasoning: list[str]
    calls: list[Call]
    finish_reason: str
    usage: dict[str, int]
    when: dict[str, Json]
    times: int
    fault: Fault


class Script:
    """Turns, and how often each has been played. Safe under threads."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self._played = [0] * len(self.turns)
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: str | Path) -> Script:
        """The script in a file. Raises `ScriptError` for one that cannot be read or played."""
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise ScriptError(f"{path}: {error.strerror or error}") from None
        return cls(read_turns(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), str(path)))

    @classmethod
    def of(cls, turns: Iterable[dict[str, Any]]) -> Script:
        """The script that has these turns as its lines."""
        return cls(read_turns([json.dumps(turn).encode() for turn in turns], "script"))

    def take(self, request: dict[str, Json]) -> Turn | None:
        """The first turn for a request (`model`, `api`, `says`, `stream`) that is not used up; None where there is
        none.
        """
        with self._lock:
            for number, turn in enumerate(self.turns):
                if self._left(number) and fits(turn.when, request):
                    self._played[number] += 1
                    return turn
        return None

    def next(self) -> Turn | None:
        """The first turn that is not used up, whomever it is for."""
        with self._lock:
            return next((turn for number, turn in enumerate(self.turns) if self._left(number)), None)

    def rewind(self) -> None:
        """Begins again."""
        with self._lock:
            self._played = [0] * len(self.turns)

    def models(self) -> list[str]:
        """The models that the script knows by name, or one called `mock`."""
        return list(dict.fromkeys(turn.when["model"] for turn in self.turns if "model" in turn.when)) or ["mock"]

    def _left(self, number: int) -> bool:
        times = self.turns[number].times
        return times == 0 or self._played[number] < times


def fits(when: dict[str, Json], request: dict[str, Json]) -> bool:
    """Whether a turn is for a request."""
    return all(value in request["says"] if key == "says" else value == request[key] for key, value in when.items())


# -- reading -----------------------------------------------------------------------------------------------------------


def read_turns(lines: Sequence[bytes], name: str) -> list[Turn]:
    """The turns in a script's lines. Raises `ScriptError` with the name, the line and the reason."""
    turns = []
    for number, raw in enumerate(lines, 1):
        try:
            line = raw.decode().strip()
            if line and not line.startswith("#"):
                turns.append(read_turn(parsed(line), number))
        except UnicodeDecodeError:
            raise ScriptError(f"{name}:{number}: the line is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise ScriptError(f"{name}:{number}: {error}") from None
    if not turns:
        raise ScriptError(f"{name}:{len(lines)}: the script has no turn; write at least one, as a line of JSON")
    return turns


def parsed(line: str) -> Json:
    """The JSON value of a line: no name twice, no number JSON does not know, no half of a character."""

    def members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for name, value in pairs:
            if name in found:
                raise ValueError(f"{name!r} stands there twice")
            found[name] = value
        return found

    def constant(name: str) -> Json:
        raise ValueError(f"{name} is no JSON number")

    try:
        value = json.loads(line, object_pairs_hook=members, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} (column {error.colno})") from None
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half of a surrogate pair") from None
    return value


def read_turn(given: Json, line: int) -> Turn:
    """A turn as it is written. Raises ValueError with the reason why it is none."""
    members(given, "a turn", TURN)
    if "json" in given and "text" in given:
        raise ValueError("a turn has 'text' or 'json', not both")
    text = [json.dumps(given["json"], ensure_ascii=False)] if "json" in given else texts(given, "text")
    calls = [read_call(call) for call in listed(given, "toolCalls")]
    turn = Turn(
        line,
        text,
        texts(given, "reasoning"),
        calls,
        worded(given, "finishReason", "tool-calls" if calls else "stop"),
        {**USAGE, **members(given.get("usage", {}), "usage", USAGE)},
        read_when(given.get("when", {})),
        whole(given, "times", 1),
        read_fault(given.get("fault", {})),
    )
    for name in USAGE:
        whole(turn.usage, name, 0)
    return turn


def read_call(given: Json) -> Call:
    """A tool call as it is written."""
    members(given, "a tool call", ("name", "args", "id"))
    name = worded(given, "name", "")
    if not name:
        raise ValueError("a tool call has no name")
    args = given.get("args", {})
    arguments = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    return Call(name, arguments, worded(given, "id", "") or None)


def read_when(given: Json) -> dict[str, Json]:
    """Which requests a turn is for, as it is written."""
    members(given, "when", ("model", "api", "says", "stream"))
    for name in ("model", "says"):
        worded(given, name, "")
    if given.get("api", "openai") not in APIS:
        raise ValueError(f"'api' of when is {given['api']!r}; use one of {', '.join(APIS)}")
    flag(given, "stream")
    return dict(given)


def read_fault(given: Json) -> Fault:
    """A fault as it is written."""
    members(given, "a fault", FAULT)
    status = whole(given, "status", 200)
    if not 200 <= status <= 599:
        raise ValueError(f"'status' is {status}; use 200 to 599")
    after = given.get("retryAfter")
    if after is not None and not isinstance(after, str):
        after = str(number(given, "retryAfter")).removesuffix(".0")
    fault = Fault(
        status=status,
        body=given.get("body"),
        retry_after=header("retryAfter", after),
        delay=number(given, "delay"),
        chunk_delay=number(given, "chunkDelay"),
        reset=flag(given, "reset"),
        hang_up=flag(given, "hangUp"),
        content_type=header("contentType", given.get("contentType")),
        split_characters=flag(given, "splitCharacters"),
        slow_read=number(given, "slowRead"),
        **{place: whole(given, name, 0) if name in given else None for place, name in AFTER.items()},
    )
    rest = [name for name in given if name not in BESIDE_HANG_UP]
    if fault.hang_up and rest:
        raise ValueError(f"a connection that hangs up has no answer, and so no {rest[0]!r}")
    if fault.malformed_after is not None and (fault.status != 200 or fault.body is not None):
        raise ValueError("'malformedAfter' stands without 'status' and 'body'; a 'body' may itself be malformed")
    if fault.reset and fault.cut_after is None and not fault.hang_up:
        raise ValueError("'reset' says how a connection ends; add 'cutAfter' or 'hangUp'")
    if sum(name in given for name in AFTER.values()) > 1:
        raise ValueError(f"a fault has one of {', '.join(AFTER.values())}, not several")
    return fault


AFTER = {"cut_after": "cutAfter", "malformed_after": "malformedAfter", "error_after": "errorAfter"}
FAULT = (
    "status", "body", "retryAfter", "delay", "chunkDelay", "reset", "hangUp", "contentType", "splitCharacters",
    "slowRead", *AFTER.values(),
)  # fmt: skip
BESIDE_HANG_UP = ("hangUp", "reset", "delay", "slowRead")
TURN = ("text", "json", "reasoning", "toolCalls", "finishReason", "usage", "when", "times", "fault")


def members(given: Json, what: str, known: Iterable[str]) -> dict[str, Json]:
    """The object, which may have these members and no others."""
    if not isinstance(given, dict):
        raise ValueError(f"{what} is no object")
    for name in given:
        if name not in known:
            raise ValueError(f"{what} has no member {name!r}; known: {', '.join(known)}")
    return given


def texts(given: dict[str, Json], name: str) -> list[str]:
    """A text, or a list of its pieces."""
    value = given.get(name, [])
    pieces = [value] if isinstance(value, str) else value
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise ValueError(f"{name!r} is neither a text nor a list of texts")
    return pieces


def listed(given: dict[str, Json], name: str) -> list[Json]:
    """A list."""
    value = given.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"{name!r} is no list")
    return value


def worded(given: dict[str, Json], name: str, default: str) -> str:
    """A text."""
    value = given.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is no text")
    return value


def header(name: str, value: Json) -> str | None:
    """A text that an HTTP header can hold."""
    if value is not None and not (isinstance(value, str) and value.isascii() and value.isprintable()):
        raise ValueError(f"{name!r} is no text that a header can hold")
    return value


def flag(given: dict[str, Json], name: str) -> bool:
    """True or false."""
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name!r} is neither true nor false")
    return value


def whole(given: dict[str, Json], name: str, default: int) -> int:
    """A whole number from 0 on."""
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name!r} is no whole number from 0 on")
    return value


def number(given: dict[str, Json], name: str) -> float:
    """Seconds, up to an hour."""
    value = given.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LONGEST_PAUSE:
        raise ValueError(f"{name!r} is no number of seconds from 0 to {LONGEST_PAUSE}")
    return float(value)
