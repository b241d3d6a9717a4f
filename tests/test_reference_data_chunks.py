"""Data chunks: who may send what, who gets it, and where it is kept."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest

from processor_contract import Agent, HookFailed, ScriptedModel, Tool
from reference_kit import CALL, inputs, kinds, message, outputs, part_kinds, processor, remembering

DATA = {"type": "data-x", "data": {"n": 1}}


def sending(*chunks: Any, on: str = "text-delta", **options: Any) -> Any:
    """A processOutputStream hook that sends data when a chunk of this type comes."""

    def hook(args: Any) -> Any:
        if args.part["type"] == on:
            for chunk in chunks:
                args.writer.custom(chunk, **options)
        return args.part

    return hook


# -- what may be sent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [{"type": "text-delta"}, {"type": "data"}, {"type": "xdata-"}, {"type": None}, {}, "data-x", None, 5, {"type": 5}],
)
def test_only_data_may_be_sent(bad: Any) -> None:
    with pytest.raises(HookFailed, match=r"writer.custom got a chunk of type .*has to begin with 'data-' \[DAT-2\]"):
        inputs(process_input_step=lambda args: args.writer.custom(bad)).generate("x")


def test_a_refused_chunk_may_be_caught() -> None:
    def hook(args: Any) -> None:
        with contextlib.suppress(Exception):
            args.writer.custom({"type": "text"})

    assert inputs("hi", process_input_step=hook).generate("x").text == "hi"


def test_what_was_sent_is_copied() -> None:
    chunk = {"type": "data-x", "data": {"n": 1}}

    def hook(args: Any) -> None:
        args.writer.custom(chunk)
        chunk["data"] = {"n": 2}

    result = inputs("hi", process_input_step=hook).generate("x")

    assert result.messages[0]["content"]["parts"][0] == {"type": "data-x", "data": {"n": 1}}


def test_a_data_chunk_goes_out_as_it_was_given() -> None:
    sent = next(
        chunk
        for chunk in inputs("hi", process_input_step=lambda args: args.writer.custom({**DATA, "extra": 1})).stream("x")
        if chunk["type"] == "data-x"
    )

    assert sent == {**DATA, "extra": 1}


# -- who gets it -------------------------------------------------------------------------------------------------------


def test_without_the_opt_in_no_data_comes() -> None:
    seen: list[str] = []
    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[processor("sender", process_input_step=lambda args: args.writer.custom(DATA))],
        output_processors=[processor(process_output_stream=lambda args: seen.append(args.part["type"]) or args.part)],  # type: ignore[func-returns-value]
    )
    agent.generate("x")

    assert "data-x" not in seen


def test_a_sender_that_opted_in_gets_its_own_data_once() -> None:
    seen: list[str] = []

    def hook(args: Any) -> Any:
        seen.append(args.part["type"])
        if args.part["type"] == "text-delta":
            args.writer.custom(DATA)
        return args.part

    outputs("hi", data=True, process_output_stream=hook).generate("x")

    assert seen.count("data-x") == 1


def test_data_sent_while_data_is_handled_passes_nobody() -> None:
    seen: list[str] = []

    def hook(args: Any) -> Any:
        seen.append(args.part["type"])
        if args.part["type"] == "data-x":
            args.writer.custom({"type": "data-nested"})
        return args.part

    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[processor("sender", process_input_step=lambda args: args.writer.custom(DATA))],
        output_processors=[
            processor("a", data=True, process_output_stream=hook),
            processor("b", data=True, process_output_stream=hook),
        ],
    )
    got = kinds(agent.stream("x"))

    assert (got[1:4], seen.count("data-nested")) == (["data-nested", "data-nested", "data-x"], 0)


def test_a_helper_thread_may_send_while_its_data_is_handled() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "data-x":
            helper = threading.Thread(target=lambda: args.writer.custom({"type": "data-nested"}))
            helper.start()
            helper.join(10)
        return args.part

    agent = outputs(CALL, "hi", data=True, process_output_stream=hook)
    agent._tools["add"] = Tool("add", lambda args, context: context.writer.custom(DATA))

    assert "data-nested" in kinds(agent.stream("x"))


def test_a_chunk_that_became_data_passes_over_those_who_did_not_opt_in() -> None:
    seen: list[str] = []
    agent = Agent(
        ScriptedModel(["hi"]),
        output_processors=[
            processor("a", process_output_stream=lambda args: DATA if args.part["type"] == "text-delta" else args.part),
            processor("b", process_output_stream=lambda args: seen.append(args.part["type"]) or args.part),  # type: ignore[func-returns-value]
        ],
    )
    agent.generate("x")

    assert ("text-delta" in seen, "data-x" in seen) == (False, False)


# -- where it is kept --------------------------------------------------------------------------------------------------


def test_data_in_mid_text_stands_before_the_text() -> None:
    result = outputs(["a", "b"], process_output_stream=sending(DATA)).generate("x")

    assert (part_kinds(result), result.text) == (["data-x", "data-x", "text"], "ab")


def test_data_stands_before_a_text_that_is_open_though_not_last() -> None:
    chunks = [
        {"type": "text-delta", "payload": {"id": "a", "text": "x"}},
        {"type": "source", "payload": {"url": "u"}},
        {"type": "text-delta", "payload": {"id": "a", "text": "y"}},
        {"type": "finish", "payload": {"finishReason": "stop", "usage": {}}},
    ]
    result = outputs({"chunks": chunks}, process_output_stream=sending(DATA, on="source")).generate("x")

    assert part_kinds(result) == ["data-x", "text", "source"]


def test_data_for_the_message_being_streamed_does_not_split_its_text() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.writer.custom(
                DATA,
                message_id=args.message_list.get.response.db()[0]["id"]
                if args.part["payload"]["text"] == "b"
                else None,
            )
        return args.part

    result = outputs(["a", "b"], process_output_stream=hook).generate("x")

    assert (part_kinds(result), len(result.messages)) == (["data-x", "data-x", "text"], 1)


@pytest.mark.parametrize(("kind", "expected"), [("text-end", ["data-x", "text"]), ("step-finish", ["text", "data-x"])])
def test_a_text_is_open_until_its_end_has_passed(kind: str, expected: list[str]) -> None:
    assert expected == part_kinds(outputs("hi", process_output_stream=sending(DATA, on=kind)).generate("x"))


def test_transient_data_is_not_kept() -> None:
    stream = outputs("hi", process_output_stream=sending({**DATA, "transient": True})).stream("x")

    assert ("data-x" in kinds(stream), ["text"]) == (True, part_kinds(stream.result()))


def test_an_unknown_message_id_opens_a_message() -> None:
    result = inputs("hi", process_input_step=lambda args: args.writer.custom(DATA, message_id="mine")).generate("x")

    assert result.messages[0]["id"] == "mine"


def test_the_id_of_a_users_message_is_refused() -> None:
    agent = inputs(process_input_step=lambda args: args.writer.custom(DATA, message_id="u"))

    with pytest.raises(HookFailed, match=r"message 'u' is no assistant's.*\[DAT-25\]"):
        agent.generate(message("u", "hi"))


@pytest.mark.parametrize("kind", ["step-start", "text-start", "text-end", "step-finish"])
def test_a_chunk_that_became_data_is_kept(kind: str) -> None:
    agent, storage = remembering(
        "hi",
        output_processors=[
            processor(process_output_stream=lambda args: DATA if args.part["type"] == kind else args.part)
        ],
    )
    agent.generate("x", thread="t", resource="r")

    assert DATA in storage.read("t", "r")[-1]["content"]["parts"]


@pytest.mark.parametrize("kind", ["step-start", "tool-result", "step-finish"])
def test_a_chunk_that_became_text_is_said(kind: str) -> None:
    def hook(args: Any) -> Any:
        return (
            {"type": "text-delta", "payload": {"id": "mine", "text": "!"}} if args.part["type"] == kind else args.part
        )

    agent = outputs(CALL, {}, process_output_stream=hook)
    agent._tools["add"] = Tool("add", lambda args: 1)
    stream = agent.stream("x")
    said = "".join(chunk["payload"]["text"] for chunk in stream if chunk["type"] == "text-delta")

    assert said == stream.result().text != ""


def test_data_that_became_text_is_said() -> None:
    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[processor("sender", process_input_step=lambda args: args.writer.custom(DATA))],
        output_processors=[
            processor(
                data=True,
                process_output_stream=lambda args: (
                    {"type": "text-delta", "payload": {"text": "data: "}}
                    if args.part["type"] == "data-x"
                    else args.part
                ),
            )
        ],
    )

    assert agent.generate("x").text == "data: hi"


def test_data_of_the_last_hook_comes_before_finish_and_is_kept() -> None:
    stream = outputs("hi", process_output_result=lambda args: args.writer.custom(DATA)).stream("x")

    assert (kinds(stream)[-2:], part_kinds(stream.result())) == (["data-x", "finish"], ["text", "data-x"])


# -- while tools work --------------------------------------------------------------------------------------------------


def test_a_tools_data_comes_while_it_works() -> None:
    release = threading.Event()

    def work(args: Any, context: Any) -> str:
        context.writer.custom(DATA)
        return "in time" if release.wait(10) else "too late"

    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", work)]).stream("x")
    next(chunk for chunk in stream if chunk["type"] == "data-x")
    release.set()

    assert [one["result"] for one in stream.result().tool_results] == ["in time"]


def test_a_tool_that_works_on_after_the_end_sends_nothing() -> None:
    release, done, kept = threading.Event(), threading.Event(), []

    def work(args: Any, context: Any) -> None:
        kept.append(context)
        release.wait(10)
        context.writer.custom(DATA)
        done.set()

    def judge(args: Any) -> Any:
        return args.part

    stream = Agent(
        ScriptedModel([CALL]),
        tools=[Tool("add", work)],
        output_processors=[processor(data=True, process_output_stream=judge)],
    ).stream("x")
    next(chunk for chunk in stream if chunk["type"] == "tool-call")
    reader: list[str] = []
    thread = threading.Thread(target=lambda: reader.extend(kinds(stream)))
    thread.start()
    while not kept:
        pass
    stream.close()
    thread.join(10)
    release.set()

    assert (done.wait(10), reader[-1:]) == (True, ["abort"])


@pytest.mark.parametrize("odd", [5, "", ["a"]])
def test_a_message_id_is_a_text(odd: Any) -> None:
    with pytest.raises(HookFailed, match=r"message id .* is no text.*\[DAT-25\]"):
        inputs("hi", process_input_step=lambda args: args.writer.custom(DATA, message_id=odd)).generate("x")
