"""A secret that a processor took out is nowhere in what the run produced: every place, every style, both modes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mutants
from processor_contract import Agent, Memory, ScriptedModel, SQLiteStorage, Tool, Tracer
from processor_contract.data import clone
from reference_kit import processor

SECRET = "s3cr3t"
DEEP = {"list": [{"text": f"a {SECRET} b"}], f"key {SECRET}": 1}
FINISH = [{"type": "finish", "payload": {"finishReason": "stop"}}]
RAW = ("chunks", "raw_response")  # of processLLMResponse: the contract says that the raw value stays there (F-18)


def clean(value: Any) -> Any:
    """The value without the secret, in texts and in keys."""
    if isinstance(value, str):
        return value.replace(SECRET, "***")
    if isinstance(value, list):
        return [clean(one) for one in value]
    return {clean(key): clean(one) for key, one in value.items()} if isinstance(value, dict) else value


def broken(args: Any) -> None:
    raise ValueError(f"no {SECRET}")


def sends(args: Any, context: Any) -> str:
    context.writer.custom({"type": "data-note", "data": DEEP})
    return "sent"


def called(args: Any = None) -> Any:
    return {"tool_calls": [{"name": "look", "id": "c1", "args": args or {}}]}


def said(type: str, **payload: Any) -> Any:
    return {"chunks": [{"type": type, "payload": payload}, *FINISH]}


# Where the secret comes from: what the model says first, and what its tool does.
PLACES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "tool result": (called(), lambda args: DEEP),
    "tool result text": (called(), lambda args: f"it is {SECRET}"),
    "tool args": (called(DEEP), lambda args: args),
    "text": ({"text": ["a ", f"{SECRET} b"]}, broken),
    "reasoning": ({"reasoning": [f"so {SECRET}"], "text": "a"}, broken),
    "data part": (called(), sends),
    "source": (said("source", id="s", sourceType="url", url=f"https://{SECRET}", title=SECRET), broken),
    "file": (said("file", data=SECRET, mimeType="text/plain"), broken),
}


def returned(args: Any) -> Any:
    return clean(args.part)


def passing(args: Any) -> Any:
    return args.part


def in_place(args: Any) -> Any:
    changed = clean(args.part)
    args.part.clear()
    args.part.update(changed)
    return args.part


def dropped(args: Any) -> Any:
    return args.part if clean(args.part) == args.part else None


def by_update(args: Any) -> None:
    invocation = {"toolCallId": args.tool_call_id, "state": "result", "result": clean(args.result)}
    args.message_list.update_tool_invocation({"type": "tool-invocation", "toolInvocation": invocation})


def result_in_place(args: Any) -> None:
    redact(args, args.messages)


def result_returned(args: Any) -> Any:
    messages = clone(args.messages)
    redact(args, messages)
    return messages


def redact(args: Any, messages: Any) -> None:
    for part in (part for message in messages for part in message["content"]["parts"]):
        if part.get("toolInvocation", {}).get("toolCallId") == args.tool_call_id:
            part["toolInvocation"].update(state="result", result=clean(args.result))


STREAM_STYLES = {"returned": returned, "in place": in_place, "dropped": dropped}
RESULT_STYLES = {"update": by_update, "in place": result_in_place, "returned": result_returned}
CASES = [
    *((place, "process_tool_result", style) for place in PLACES if "result" in place for style in RESULT_STYLES),
    *((place, "process_output_stream", style) for place in PLACES if "result" not in place for style in STREAM_STYLES),
]


def leaves(value: Any, at: str, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Every text in a value, with where it stands."""
    if isinstance(value, str):
        yield at, value
    elif id(value) in seen:
        return
    elif isinstance(value, BaseException):
        yield at, repr(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield at, str(key)
            yield from leaves(one, f"{at}/{key}", seen | {id(value)})
    elif isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one, at, seen | {id(value)})
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from leaves(getattr(value, each.name), f"{at}.{each.name}", seen | {id(value)})


class Searched:
    """One run with a redactor, and everything that it produced."""

    def __init__(self, tmp_path: Path, mode: str, place: str, hook: str, style: str | None) -> None:
        turn, execute = PLACES[place]
        self.produced: list[tuple[str, str]] = []
        styles: dict[str, Any] = RESULT_STYLES if hook == "process_tool_result" else STREAM_STYLES
        redactor = processor("redactor", data=True, **{hook: styles[style] if style else passing})
        model = ScriptedModel([turn, "done"])
        path = tmp_path / "store"
        storage = SQLiteStorage(path)
        spans: list[Any] = []
        agent = Agent(
            model,
            tools=[Tool("look", execute)],
            output_processors=[redactor, self.observer()],
            memory=Memory(storage),
            tracer=Tracer(spans.append),
        )
        if mode == "stream":
            stream = agent.stream("x", thread="t", resource="r")
            self.keep("client", list(stream))
            self.keep("result", stream.result)
        else:
            self.keep("result", agent.generate("x", thread="t", resource="r"))
        self.keep("prompt", [request.prompt for request in model.requests])
        self.keep("spans", spans)
        self.keep("store", storage.read("t", "r"))
        for file in sorted(tmp_path.iterdir()):  # the write-ahead log too
            self.keep(f"bytes of {file.name}", file.read_bytes().decode("latin-1"))
        storage.close()

    def keep(self, name: str, value: Any) -> None:
        self.produced.extend(leaves(value, name, set()))

    def observer(self) -> Any:
        """A later processor with every hook of its array, which keeps all that it is given."""

        def keeping(hook: str) -> Callable[[Any], Any]:
            def keep(args: Any) -> Any:
                for each in dataclasses.fields(args):
                    if not (hook == "process_llm_response" and each.name in RAW):
                        self.keep(f"{hook}.{each.name}", getattr(args, each.name))
                self.keep(f"{hook}.messages", getattr(args, "messages", None))
                self.keep("observer", hook)
                return args.part if hook == "process_output_stream" else None

            return keep

        hooks = ("llm_response", "output_stream", "output_step", "tool_result", "output_result")
        return processor("observer", data=True, **{f"process_{hook}": keeping(f"process_{hook}") for hook in hooks})

    def leaks(self) -> list[str]:
        return sorted({at for at, text in self.produced if SECRET in text})


@pytest.mark.parametrize("mode", ["generate", "stream"])
@pytest.mark.parametrize(("place", "hook", "style"), CASES)
def test_what_was_taken_out_is_nowhere(tmp_path: Path, mode: str, place: str, hook: str, style: str) -> None:
    searched = Searched(tmp_path, mode, place, hook, style)

    assert searched.leaks() == []
    assert ("observer", "process_output_result") in searched.produced  # the run came to its end


@pytest.mark.parametrize("mode", ["generate", "stream"])
@pytest.mark.parametrize("place", PLACES)
def test_what_was_not_taken_out_is_found(tmp_path: Path, mode: str, place: str) -> None:
    leaks = Searched(tmp_path, mode, place, "process_output_stream", None).leaks()

    assert {"process_output_stream.part", "bytes of store-wal"} <= {at.split("/")[0] for at in leaks}


@pytest.mark.parametrize("name", ["accepted-steps-keep-the-tool-s-results", "the-model-gets-the-tool-s-results"])
def test_a_reference_that_leaks_is_caught(tmp_path: Path, name: str) -> None:
    with mutants.MUTANTS[name].applied():
        leaks = Searched(tmp_path, "stream", "tool result", "process_tool_result", "update").leaks()

    assert leaks != []
