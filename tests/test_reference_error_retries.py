"""Attempts that an API error ends: who has them repeated, and how often."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import Agent, APICallError, HookFailed, ScriptedModel
from reference_kit import kinds, message, part_kinds, processor, remembering, stored, texts

DATA = {"type": "data-x", "data": 1}


# -- API errors --------------------------------------------------------------------------------------------------------


def mending(**hooks: Any) -> Any:
    return processor("mender", process_api_error=lambda args: {"retry": True}, **hooks)


def test_partial_output_is_gone_before_the_error_hook() -> None:
    seen: list[Any] = []

    def mend(args: Any) -> Any:
        seen.extend(texts(args.messages))
        return {"retry": True}

    half = {
        "chunks": [{"type": "text-delta", "payload": {"text": "half"}}, {"type": "error", "payload": {"error": "cut"}}]
    }
    agent = Agent(ScriptedModel([half, "good"]), error_processors=[processor(process_api_error=mend)])

    assert (agent.generate("hi").text, seen) == ("good", ["user: hi"])


def test_data_of_the_error_hook_falls_with_the_attempt() -> None:
    def mend(args: Any) -> Any:
        args.writer.custom(DATA)
        return {"retry": True}

    agent = Agent(ScriptedModel([APICallError("down"), "good"]), error_processors=[processor(process_api_error=mend)])

    assert part_kinds(agent.generate("hi")) == ["text"]


def test_data_of_a_step_before_a_failed_call_falls_with_the_attempt() -> None:
    def send(args: Any) -> None:
        if args.retry_count == 0:
            args.writer.custom(DATA)

    agent = Agent(
        ScriptedModel([APICallError("down"), "good"]),
        input_processors=[processor(process_input_step=send)],
        error_processors=[mending()],
    )

    assert part_kinds(agent.generate("hi")) == ["text"]


def test_data_sent_on_the_step_finish_of_a_failed_attempt_falls_with_it() -> None:
    def send(args: Any) -> Any:
        if args.part["type"] == "step-finish" and args.part["payload"]["finishReason"] == "retry":
            args.writer.custom(DATA)
        return args.part

    agent = Agent(
        ScriptedModel([APICallError("down"), "good"]),
        output_processors=[processor(process_output_stream=send)],
        error_processors=[mending()],
    )

    assert part_kinds(agent.generate("hi")) == ["text"]


def test_messages_that_the_error_hook_added_stay() -> None:
    def mend(args: Any) -> Any:
        args.message_list.add([message("x", "please go on")], "input")
        return {"retry": True}

    agent, storage = remembering(APICallError("down"), "good", error_processors=[processor(process_api_error=mend)])
    agent.generate("hi", thread="t", resource="r")

    assert stored(storage) == ["user: hi", "user: please go on", "assistant: good"]


@pytest.mark.parametrize("returned", [True, [], {}, {"retry": 1}, {"retry": True, "more": 1}, "retry"])
def test_the_error_hook_returns_a_retry_or_nothing(returned: Any) -> None:
    agent = Agent(
        ScriptedModel([APICallError("down")]), error_processors=[processor(process_api_error=lambda args: returned)]
    )

    with pytest.raises(HookFailed, match=r"failed in processAPIError: returned a value .*\[ERR-16\]"):
        agent.generate("hi")


def failed_in_the_error_hook(hook: Any) -> tuple[HookFailed, APICallError]:
    error = APICallError("down")
    agent = Agent(ScriptedModel([error]), error_processors=[processor(process_api_error=hook)])
    with pytest.raises(HookFailed) as raised:
        agent.generate("hi")
    return raised.value, error


def chained(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None:
        assert len(chain) < 10
        chain.append(error)
        error = error.__cause__
    return chain


def reraise(args: Any) -> None:
    raise args.error


def wrap(args: Any) -> None:
    raise ValueError("wrapped") from args.error


def other(args: Any) -> None:
    raise ValueError("second") from KeyError("first")


@pytest.mark.parametrize("hook", [lambda args: 1 / 0, reraise, wrap, other])
def test_an_exception_in_the_error_hook_keeps_the_api_error_as_its_cause(hook: Any) -> None:
    failed, error = failed_in_the_error_hook(hook)

    assert error is chained(failed)[-1]


def test_the_error_hook_gets_the_error_itself() -> None:
    error = APICallError("down", status_code=400)
    seen: list[Any] = []
    agent = Agent(
        ScriptedModel([error]), error_processors=[processor(process_api_error=lambda args: seen.append(args.error))]
    )
    with pytest.raises(APICallError) as raised:
        agent.generate("hi")

    assert seen[0] is raised.value is error


def test_a_stream_reports_an_unrecovered_error_without_raising() -> None:
    error = APICallError("down")
    result = Agent(ScriptedModel([error])).stream("hi").result()

    assert (error, "error", "") == (result.error, result.finish_reason, result.text)


def test_an_unrecovered_error_ends_the_stream_in_order() -> None:
    stream = Agent(ScriptedModel([APICallError("down")])).stream("hi")

    assert kinds(stream) == ["start", "step-start", "error", "step-finish", "finish"]
