"""Turns of the scripted model as the protocol's answers to `model/call`.

Flows in: a turn of a scenario (`text`, `toolCalls`, `parts` or `error`, and what goes with them). Flows out: its
parts for a streamed call, its content for one that is not, and the answer that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .faults import SuiteError
from .scripts import failure
from .words import Json

USAGE = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
TEXT = {"text-delta": "text", "reasoning-delta": "reasoning"}
WHOLE = ("tool-call", "tool-result", "source", "file")  # entries of the content that are one part of the stream
ABOUT = ("warnings", "request", "rawResponse")  # what a provider says of the call besides its answer


def parts(turn: dict[str, Json], model: str, number: int) -> list[Json]:
    """The parts of a streamed call; `number` counts the run's calls from 1."""
    if "parts" in turn:
        return list(turn["parts"])
    return [
        _part("response-metadata", id=f"response-{number}", modelId=model),
        *_block("reasoning", f"reasoning-{number}", turn.get("reasoning", [])),
        *_block("text", f"text-{number}", turn.get("text", [])),
        *(_part("tool-call", toolCallId=call["id"], toolName=call["name"], args=call.get("args", {}))
          for call in turn.get("toolCalls", [])),
        _part("finish", finishReason=_reason(turn), usage=turn.get("usage", USAGE)),
    ]  # fmt: skip


def answer(turn: dict[str, Json], mode: str, model: str, number: int, fresh: Callable[[str], str]) -> dict[str, Json]:
    """The answer to `model/call`; for a turn to be pulled the parts follow with `model/next`."""
    if "error" in turn and not turn.get("pull"):
        return {"error": failure(turn["error"], fresh)}
    given = parts(turn, model, number)
    if mode == "generate":
        return _content([part for part in given if "type" in part], turn, fresh)
    about = {name: turn[name] for name in ABOUT if name in turn}
    if turn.get("pull"):
        return {"pull": True, **about}
    if any("type" not in part for part in given):
        raise SuiteError('a gate stands among the parts of a turn that is not "pull": true')
    return {"parts": given, **about}


def _content(given: list[Json], turn: dict[str, Json], fresh: Callable[[str], str]) -> dict[str, Json]:
    """The same turn for a provider that is asked for everything at once."""
    broken = next((part["payload"].get("error") for part in given if part["type"] == "error"), turn.get("error"))
    if broken is not None:
        return {"error": failure(broken if isinstance(broken, dict) else {"message": str(broken)}, fresh)}
    finish: dict[str, Json] = next((part["payload"] for part in given if part["type"] == "finish"), {})
    return {
        "content": list(_entries(given)),
        "finishReason": finish.get("finishReason", _reason(turn)),
        "usage": finish.get("usage", USAGE),
        **{name: finish[name] for name in ("providerMetadata",) if name in finish},
        **{name: turn[name] for name in ABOUT if name in turn},
    }


def _entries(given: list[Json]) -> Iterator[Json]:
    texts: dict[tuple[str, Json], dict[str, Json]] = {}
    for part in given:
        kind, payload = part["type"], part.get("payload", {})
        if kind in TEXT:
            block = (kind, payload.get("id"))
            if block not in texts:
                texts[block] = {"type": TEXT[kind], "text": "".join(_deltas(given, block)), **_attached(given, block)}
                yield texts[block]
        elif kind in WHOLE:
            yield {"type": kind, **payload}


def _attached(given: list[Json], block: tuple[str, Json]) -> dict[str, Json]:
    """What the provider attached to a block, with whichever of its parts; the last one counts."""
    kind = block[0].removesuffix("delta")
    payloads = [part.get("payload", {}) for part in given if part["type"].startswith(kind)]
    own = [payload for payload in payloads if payload.get("id") == block[1] and "providerMetadata" in payload]
    return {"providerMetadata": own[-1]["providerMetadata"]} if own else {}


def _deltas(given: list[Json], block: tuple[str, Json]) -> Iterator[str]:
    return (
        part["payload"]["text"] for part in given if part["type"] == block[0] and part["payload"].get("id") == block[1]
    )


def _block(kind: str, name: str, deltas: list[str]) -> list[Json]:
    if not deltas:
        return []
    return [
        _part(f"{kind}-start", id=name),
        *(_part(f"{kind}-delta", id=name, text=text) for text in deltas),
        _part(f"{kind}-end", id=name),
    ]


def _part(kind: str, **payload: Json) -> Json:
    return {"type": kind, "payload": payload}


def _reason(turn: dict[str, Json]) -> str:
    return str(turn.get("finishReason", "tool-calls" if turn.get("toolCalls") else "stop"))
