"""Many requests: at once on one agent and after one another; nothing of one reaches another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from processor_contract import (
    Agent,
    InMemoryStorage,
    Memory,
    ModelRequest,
    Processor,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, inputs, message, processor, remembering, stored, texts

THREADS = 50


def at_once(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """What `work(number)` comes to, for all numbers, on as many threads that begin together."""
    together = threading.Barrier(count, timeout=30)
    results: dict[int, Any] = {}

    def run(number: int) -> None:
        together.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return [results[number] for number in range(count)]


class Noting(Processor):
    """Notes the request's text in its state wherever it can, and compares."""

    id = "noting"
    process_data_parts = True

    def process_input(self, args: Any) -> None:
        assert args.state == {}
        args.state["text"] = args.messages[-1]["content"]["parts"][0]["text"]
        args.state["seen"] = []

    def process_input_step(self, args: Any) -> None:
        args.state["seen"].append(f"step {args.step_number}")
        args.writer.custom({"type": "data-note", "data": args.state["text"]})

    def process_output_stream(self, args: Any) -> Any:
        if args.part["type"] == "data-note":
            assert args.part["data"] == args.state["text"]
        if args.part["type"] == "text-delta":
            args.part["payload"]["text"] = f"for {args.state['text']}"
        return args.part

    def process_tool_result(self, args: Any) -> None:
        args.state["seen"].append(f"tool {args.step_number}")

    def process_output_result(self, args: Any) -> Any:
        args.writer.custom({"type": "data-seen", "data": list(args.state["seen"])})


def answering(request: ModelRequest, number: int) -> Any:
    """A tool call first, then a text: for any number of requests at once."""
    return "hi" if request.prompt[-1]["role"] == "tool" else CALL


def test_requests_at_once_do_not_mix() -> None:
    one = Noting()
    agent = Agent(
        ScriptedModel(answering), tools=[Tool("add", lambda args: 1)], input_processors=[one], output_processors=[one]
    )
    results = at_once(lambda number: agent.generate(f"request {number}"))

    assert [result.text for result in results] == [f"for request {number}" for number in range(THREADS)]


def test_states_of_requests_at_once_are_each_complete() -> None:
    one = Noting()
    agent = Agent(
        ScriptedModel(answering), tools=[Tool("add", lambda args: 1)], input_processors=[one], output_processors=[one]
    )
    results = at_once(lambda number: agent.generate(f"request {number}"))
    seen = [result.messages[0]["content"]["parts"][-1]["data"] for result in results]

    assert seen == [["step 0", "tool 0", "step 1"]] * THREADS


def test_threads_of_one_agent_are_stored_apart() -> None:
    storage = InMemoryStorage()
    agent = Agent(ScriptedModel(lambda request, number: "hi"), memory=Memory(storage))
    at_once(lambda number: agent.generate(f"request {number}", thread=f"t{number}", resource="r"))

    assert [stored(storage, f"t{number}") for number in range(THREADS)] == [
        [f"user: request {number}", "assistant: hi"] for number in range(THREADS)
    ]


def test_requests_at_once_on_one_thread_are_stored_as_blocks() -> None:
    storage = InMemoryStorage()
    agent = Agent(ScriptedModel(lambda request, number: "hi"), memory=Memory(storage))
    at_once(lambda number: agent.generate(f"request {number}", thread="t", resource="r"))
    kept = stored(storage)
    blocks = [kept[at : at + 2] for at in range(0, len(kept), 2)]

    assert sorted(blocks) == sorted([f"user: request {number}", "assistant: hi"] for number in range(THREADS))


def test_two_agents_share_a_store() -> None:
    storage = InMemoryStorage()
    first, second = (Agent(ScriptedModel([name]), memory=Memory(storage)) for name in ("first", "second"))
    first.generate("a", thread="t", resource="r")
    second.generate("b", thread="t", resource="r")

    assert stored(storage) == ["user: a", "assistant: first", "user: b", "assistant: second"]


def test_one_processor_serves_many_agents() -> None:
    one = Noting()
    agents = [Agent(ScriptedModel(["hi"]), input_processors=[one], output_processors=[one]) for _ in range(10)]
    results = at_once(lambda number: agents[number].generate(f"request {number}"), 10)

    assert [result.text for result in results] == [f"for request {number}" for number in range(10)]


def test_some_of_many_requests_fail_and_the_others_do_not() -> None:
    def judge(args: Any) -> None:
        number = int(args.messages[-1]["content"]["parts"][0]["text"])
        if number % 3 == 0:
            args.abort("no")
        if number % 3 == 1:
            raise ValueError("broken")

    agent = Agent(ScriptedModel(lambda request, number: "hi"), input_processors=[processor(process_input=judge)])
    results = at_once(lambda number: agent.generate(str(number)))
    outcomes = ["failed" if isinstance(one, Exception) else "aborted" if one.tripwire else one.text for one in results]

    assert outcomes == [["aborted", "failed", "hi"][number % 3] for number in range(THREADS)]


# -- one after the other -----------------------------------------------------------------------------------------------


def test_a_message_that_a_processor_keeps_is_new_in_each_request() -> None:
    greeting = message(None, "Welcome!", role="assistant")
    agent, storage = remembering(
        "a", "b", input_processors=[processor(process_input=lambda args: [greeting, *args.messages])]
    )
    for thread in ("one", "two"):
        agent.generate("x", thread=thread, resource="r")
    kept = [storage.read(thread, "r")[0] for thread in ("one", "two")]

    assert (kept[0]["id"] != kept[1]["id"], [one["threadId"] for one in kept]) == (True, ["one", "two"])


def test_a_message_that_a_processor_keeps_stays_as_it_was() -> None:
    greeting = message(None, "Welcome!", role="assistant")
    agent = Agent(
        ScriptedModel(["a"]),
        input_processors=[
            processor(process_input=lambda args: args.message_list.add([greeting], "input")),
            processor("q", process_input=lambda args: args.messages[-1]["content"]["parts"].clear()),
        ],
    )
    agent.generate("x")

    assert greeting == message(None, "Welcome!", role="assistant")


def test_the_callers_message_stays_as_it_was() -> None:
    given = message(None, "hello")
    inputs("hi", process_input=lambda args: args.messages[0]["content"]["parts"][0].update(text="x")).generate([given])

    assert given == message(None, "hello")


def test_the_callers_context_stays_as_it_was() -> None:
    given = [message("c", "context")]
    inputs("hi", process_input=lambda args: args.messages[0]["content"]["parts"].clear()).generate("x", context=given)

    assert given == [message("c", "context")]


@pytest.mark.parametrize("name", ["active_tools", "tool_choice"])
def test_an_override_edited_in_place_is_gone_in_the_next_step(name: str) -> None:
    seen: list[Any] = []

    def hook(args: Any) -> None:
        value = getattr(args, name)
        seen.append(len(value))
        value.clear()

    given: Any = ["add"] if name == "active_tools" else {"type": "tool", "toolName": "add"}
    agent = Agent(
        ScriptedModel([CALL, "hi"]),
        tools=[Tool("add", lambda args: 1)],
        input_processors=[processor(process_input_step=hook)],
    )
    before = len(given)
    agent.generate("x", **{name: given})

    assert (seen, len(given)) == ([before] * 2, before)


def test_tools_edited_in_place_are_gone_in_the_next_step() -> None:
    model = ScriptedModel([CALL, CALL, "hi"])

    def hook(args: Any) -> None:
        if args.step_number == 1:
            args.tools.clear()

    agent = Agent(model, tools=[Tool("add", lambda args: 1)], input_processors=[processor(process_input_step=hook)])
    agent.generate("x")

    assert [len(request.tools) for request in model.requests] == [1, 0, 1]


def test_steps_that_a_hook_edits_stay_as_they_were() -> None:
    def hook(args: Any) -> None:
        for step in args.steps:
            step["text"] = step["finishReason"] = "spoiled"
            step["usage"]["inputTokens"] = 99
            step.get("toolCalls", [{}])[0].clear()
        args.steps.clear()

    agent = Agent(
        ScriptedModel([{"text": "first", **CALL}, "hi"]),
        tools=[Tool("add", lambda args: args)],
        input_processors=[processor(process_input_step=hook, process_llm_request=hook, process_llm_response=hook)],
        output_processors=[processor("q", process_output_step=hook, process_tool_result=hook)],
    )
    result = agent.generate("x")
    first = result.steps[0]

    assert (result.text, first["finishReason"], first["usage"]["inputTokens"]) == ("firsthi", "tool-calls", 1)
    assert result.tool_results[0]["result"] == {"a": 1}


def test_a_summary_that_a_hook_edits_is_new_for_the_next() -> None:
    seen: list[Any] = []

    def spoil(args: Any) -> None:
        args.result["text"] = "spoiled"
        args.result["steps"].clear()
        args.result["usage"].clear()

    agent = Agent(
        ScriptedModel(["hi"]),
        output_processors=[
            processor("a", process_output_result=spoil),
            processor("b", process_output_result=lambda args: seen.append(args.result)),
        ],
    )
    result = agent.generate("x")

    assert (seen[0]["text"], len(seen[0]["steps"]), result.text) == ("hi", 1, "hi")


def test_chunks_that_a_hook_edits_are_as_they_came_for_the_next() -> None:
    seen: list[Any] = []

    def spoil(args: Any) -> None:
        args.chunks[0].clear()
        del args.chunks[1:]

    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[
            processor("a", process_llm_response=spoil),
            processor("b", process_llm_response=lambda args: seen.extend(args.chunks)),
        ],
    )
    agent.generate("x")

    assert [chunk["type"] for chunk in seen] == ["text-start", "text-delta", "text-end", "finish"]


def test_a_prompt_kept_and_edited_later_is_what_it_was_for_the_provider() -> None:
    kept: list[Any] = []

    def hook(args: Any) -> Any:
        kept.append(args.prompt)
        return {"prompt": args.prompt}

    def stream(request: ModelRequest, number: int) -> str:
        kept[0].clear()
        return "hi"

    model = ScriptedModel(stream)
    Agent(model, input_processors=[processor(process_llm_request=hook)]).generate("x")

    assert len(model.requests[0].prompt) == 1


def test_a_prompt_edited_in_place_reaches_no_message() -> None:
    seen: list[Any] = []

    def spoil(args: Any) -> None:
        for one in args.prompt:
            one["content"].clear()

    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[processor(process_llm_request=spoil)],
        output_processors=[processor("q", process_output_step=lambda args: seen.extend(texts(args.messages)))],
    )
    agent.generate("hello")

    assert seen == ["user: hello", "assistant: hi"]
