"""A secret that a processor took out is nowhere in what the run produced: every place, every style, both modes.

What the contract leaves raw is named by each case: `streamParts` hold chunks as they were before processOutputStream,
and `chunks` what the provider gave (F-18, F-25); what has gone to the client cannot be taken back.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import mutants
from processor_contract import Agent, Memory, MessageList, ScriptedModel, SQLiteStorage, Tool, Tracer
from processor_contract.data import clone
from reference_kit import processor

SECRET = "s3cr3t"
DEEP = {"list": [{"text": f"a {SECRET} b"}], f"key {SECRET}": 1}
GIVEN = ("process_llm_response.chunks",)  # the provider's own
STREAMED = (*GIVEN, "process_output_stream.stream_parts")
SENT = (*STREAMED, "client", "process_output_stream.part")  # it was looked at too late for these
ENDED = (
    "client",
    "prompt",
    "spans",
    "process_in",
    "process_llm",
    "process_output_s",
    "process_tool",
)  # all that ran before
FAILED = (*STREAMED, "process_output_stream.message_list", "spans")  # a trace says what the tool raised


def clean(value: Any) -> Any:
    """The value without the secret, in texts and in keys."""
    if isinstance(value, str):
        return value.replace(SECRET, "***")
    if isinstance(value, list):
        return [clean(one) for one in value]
    return {clean(key): clean(one) for key, one in value.items()} if isinstance(value, dict) else value


# -- where it comes from: what the model says first, what its tool does, what the user asks ----------------------------


def broken(args: Any) -> None:
    raise ValueError(f"no {SECRET}")


def sends(args: Any, context: Any) -> str:
    context.writer.custom({"type": "data-note", "data": DEEP})
    return "sent"


def called(args: Any = None) -> Any:
    return {"tool_calls": [{"name": "look", "id": "c1", "args": args or {}}]}


def said(*chunks: tuple[str, Any], reason: str = "stop") -> Any:
    made = [{"type": type, "payload": payload} for type, payload in chunks]
    return {"chunks": [*made, {"type": "finish", "payload": {"finishReason": reason}}]}


SEARCH = {"toolCallId": "p1", "toolName": "search", "providerExecuted": True}
FOUND = ("tool-result", {**SEARCH, "result": DEEP})
CALL = ("tool-call", {"toolCallId": "c1", "toolName": "look", "args": {}})


def harmless(args: Any) -> str:
    return "fine"


PLACES: dict[str, tuple[list[Any], Callable[..., Any]]] = {
    "result": ([called(), "done"], lambda args: DEEP),
    "result text": ([called(), "done"], lambda args: f"it is {SECRET}"),
    "result of the provider": ([said(("tool-call", {**SEARCH, "args": {}}), FOUND, CALL), "done"], harmless),
    "result in a later step": ([said(("tool-call", {**SEARCH, "args": {}}), CALL), said(FOUND)], harmless),
    "args": ([called(DEEP), "done"], harmless),
    "text": ([{"text": ["a ", f"{SECRET} b"]}], harmless),
    "reasoning": ([{"reasoning": [f"so {SECRET}"], "text": "a"}], harmless),
    "data": ([called(), "done"], sends),
    "source": ([said(("source", {"id": "s", "sourceType": "url", "url": f"https://{SECRET}"}))], harmless),
    "file": ([said(("file", {"data": SECRET, "mimeType": "text/plain"}))], harmless),
    "error": ([called(), "done"], broken),
    "question": ([called(), "done"], harmless),
}


# -- how it is taken out -----------------------------------------------------------------------------------------------


def of_chunk(change: Callable[[Any], Any]) -> dict[str, Any]:
    """Hooks that take it out of every chunk that has it."""
    return {"process_output_stream": lambda args: args.part if clean(args.part) == args.part else change(args)}


def chunk_in_place(args: Any) -> Any:
    changed = clean(args.part)
    args.part.clear()
    args.part.update(changed)
    return args.part


def updating(args: Any, **invocation: Any) -> None:
    invocation = {"toolCallId": args.tool_call_id, **invocation}
    assert args.message_list.update_tool_invocation({"type": "tool-invocation", "toolInvocation": invocation})


def result_in(args: Any, messages: Any, **state: Any) -> Any:
    for part in (part for message in messages for part in message["content"]["parts"]):
        if part.get("toolInvocation", {}).get("toolCallId") == args.tool_call_id:
            part["toolInvocation"].update(result=clean(args.result), **state)
    return messages


def parts_in_place(args: Any) -> None:
    for message in args.messages:
        message["content"]["parts"][:] = clean(message["content"]["parts"])


def messages_returned(args: Any) -> Any:
    return clean(args.messages)


def through_the_list(args: Any) -> None:
    for message in args.messages:
        args.message_list.add(clean(message), args.message_list.source_of(message["id"]))


RESULTS: dict[str, Any] = {
    "update": lambda args: updating(args, state="result", result=clean(args.result)),
    "withheld": lambda args: updating(args, state="output-error", errorText="not for you"),
    "in place": lambda args: result_in(args, args.messages, state="result") and None,
    "in place, without a state": lambda args: result_in(args, args.messages) and None,
    "returned": lambda args: result_in(args, clone(args.messages), state="result"),
    "removed": lambda args: args.message_list.clear("response") and None,
}
CHUNKS: dict[str, Any] = {
    "returned": lambda args: clean(args.part),
    "in place": chunk_in_place,
    "dropped": lambda args: None,
}
MESSAGES: dict[str, Any] = {"in place": parts_in_place, "returned": messages_returned, "list": through_the_list}


def cases() -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...]]]:
    """Place, style, the redactor's hooks, and what the contract leaves raw."""
    for place in PLACES:
        if place.startswith("result"):
            left = GIVEN if "provider" in place or "later" in place else ()
            yield from ((place, style, {"process_tool_result": hook}, left) for style, hook in RESULTS.items())
        elif place not in ("error", "question"):
            yield from ((place, style, of_chunk(hook), STREAMED) for style, hook in CHUNKS.items())
    for style, hook in MESSAGES.items():
        yield "question", style, {"process_input": hook}, ()
        yield "args", f"{style}, in processOutputStep", {"process_output_step": hook}, (*SENT, "process_llm_response")
        yield "text", f"{style}, in processOutputResult", {"process_output_result": hook}, ENDED
        yield "error", style, {**of_chunk(chunk_in_place), "process_input_step": hook}, FAILED


# -- what a run produces -----------------------------------------------------------------------------------------------


def leaves(value: Any, at: str, above: tuple[int, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every text in a value, keys and errors included, with where it stands."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, BaseException):
        yield at, repr(value)
        yield from leaves(value.__cause__, at)
    elif isinstance(value, MessageList):
        yield from leaves([value.get.all.db(), value.get_all_system_messages()], at)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield at, str(key)
            yield from leaves(one, f"{at}/{key}", above)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for one in value:
            yield from leaves(one, at, above)
    elif dataclasses.is_dataclass(value) and id(value) not in above:
        for each in dataclasses.fields(value):
            if not each.name.startswith("_"):
                yield from leaves(getattr(value, each.name), f"{at}.{each.name}", (*above, id(value)))


class Searched:
    """One run with a redactor, and everything that it produced."""

    def __init__(self, tmp_path: Path, mode: str, place: str, hooks: dict[str, Any]) -> None:
        turns, execute = PLACES[place]
        asked = f"is it {SECRET}?" if place == "question" else "x"
        self.produced: list[tuple[str, str]] = []
        redactor, observer = processor("redactor", data=True, **hooks), self.observer()
        inputs = [redactor] if any("input" in hook for hook in hooks) else []
        outputs = [redactor] if any("input" not in hook for hook in hooks) else []
        model, storage, spans = ScriptedModel(turns), SQLiteStorage(tmp_path / "store"), []  # type: ignore[var-annotated]
        agent = Agent(
            model,
            tools=[Tool("look", execute)],
            input_processors=[*inputs, observer],
            output_processors=[*outputs, observer],
            memory=Memory(storage),
            tracer=Tracer(spans.append),
        )
        if mode == "stream":
            stream = agent.stream(asked, thread="t", resource="r")
            self.keep("client", list(stream))
            self.keep("result", [stream.result(), stream.result().tool_results])
        else:
            self.keep("result", agent.generate(asked, thread="t", resource="r"))
        self.keep("prompt", [request.prompt for request in model.requests])
        self.keep("spans", spans)
        self.keep("store", storage.read("t", "r"))
        for file in sorted(tmp_path.iterdir()):  # the write-ahead log too
            self.keep(f"bytes of {file.name}", file.read_bytes().decode("latin-1"))
        storage.close()

    def keep(self, name: str, value: Any) -> None:
        self.produced.extend(leaves(value, name))

    def observer(self) -> Any:
        """A later processor with every hook, which keeps all that it is given."""

        def keeping(hook: str) -> Callable[[Any], Any]:
            def keep(args: Any) -> Any:
                self.produced.append(("observer", hook))
                for each in dataclasses.fields(args):
                    self.keep(f"{hook}.{each.name}", getattr(args, each.name))
                return args.part if hook == "process_output_stream" else None

            return keep

        names = ("input", "input_step", "llm_request", "llm_response", "output_stream", "output_step", "tool_result")
        hooks = {f"process_{name}": keeping(f"process_{name}") for name in (*names, "output_result")}
        return processor("observer", data=True, **hooks)

    def leaks(self, left: tuple[str, ...] = ()) -> list[str]:
        return sorted({at for at, text in self.produced if SECRET in text and not at.startswith(left or ("-",))})


CASES = list(cases())
NAMES = [f"{place}: {style}" for place, style, _, _ in CASES]


@pytest.mark.parametrize("mode", ["generate", "stream"])
@pytest.mark.parametrize(("place", "style", "hooks", "left"), CASES, ids=NAMES)
def test_what_was_taken_out_is_nowhere(
    tmp_path: Path, caplog: Any, capfd: Any, mode: str, place: str, style: str, hooks: dict[str, Any], left: Any
) -> None:
    with caplog.at_level(logging.DEBUG):
        searched = Searched(tmp_path, mode, place, hooks)

    assert searched.leaks(left) == []
    assert SECRET not in caplog.text + "".join(capfd.readouterr())
    assert ("observer", "process_output_result") in searched.produced  # the run came to its end


@pytest.mark.parametrize("mode", ["generate", "stream"])
@pytest.mark.parametrize("place", PLACES)
def test_what_was_not_taken_out_is_found(tmp_path: Path, mode: str, place: str) -> None:
    leaks = {at.split("/")[0] for at in Searched(tmp_path, mode, place, {"process_output_stream": passing}).leaks()}

    wanted = {
        "bytes of store-wal",
        "process_output_result.message_list",
        "result.messages" if mode == "generate" else "",
    }
    assert wanted - {""} - ({"result.messages"} if place == "question" else set()) <= leaks


def passing(args: Any) -> Any:
    return args.part


@pytest.mark.parametrize("name", ["accepted-steps-keep-the-tool-s-results", "the-model-gets-the-tool-s-results"])
def test_a_reference_that_leaks_is_caught(tmp_path: Path, name: str) -> None:
    with mutants.MUTANTS[name].applied():
        leaks = Searched(tmp_path, "stream", "result", {"process_tool_result": RESULTS["update"]}).leaks()

    assert leaks != []
