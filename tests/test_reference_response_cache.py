"""ResponseCache: what finds an answer again, what is kept, where, and what nobody's edits reach."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from processor_contract import AbortSignal, Agent, InvalidAgent, RequestContext, ScriptedModel, Tool
from processor_contract.context import Clock
from processor_contract.processors import InMemoryCache, ResponseCache
from reference_kit import at_once, processor

ADD = Tool("add", lambda args: args["a"] + 1)
CALL = {"tool_calls": [{"name": "add", "args": {"a": 1}}]}


class Watch(Clock):
    time = 0.0

    def now(self) -> float:
        return self.time


def cached(*turns: Any, cache: Any = None, **options: Any) -> tuple[ScriptedModel, Agent]:
    model = ScriptedModel(turns)
    options.setdefault("input_processors", [cache or ResponseCache()])
    return model, Agent(model, **options)


def test_the_same_question_is_asked_once() -> None:
    model, agent = cached("hi")

    assert ([agent.generate("x").text for _ in range(3)], len(model.requests)) == (["hi", "hi", "hi"], 1)


def test_both_modes_and_several_agents_share_the_answers() -> None:
    cache = ResponseCache()
    cached("hi", cache=cache)[1].generate("x")

    assert cached(cache=cache)[1].stream("x").text == "hi"


def test_every_step_has_an_answer_of_its_own() -> None:
    model, agent = cached(CALL, "two", tools=[ADD])
    first, second = agent.generate("x"), agent.generate("x")

    assert (second.steps, len(model.requests)) == (first.steps, 2)


def test_a_replay_costs_nothing_and_says_that_it_is_one() -> None:
    flags: list[bool] = []
    log = processor("log", process_llm_response=lambda args: flags.append(args.from_cache))
    _, agent = cached("hi", input_processors=[log, ResponseCache()])
    agent.generate("x")

    assert (agent.generate("x").usage["totalTokens"], flags) == (0, [False, True])


@pytest.mark.parametrize(
    "other",
    [
        {"input": "y"},
        {"system": "be brief"},
        {"model": ScriptedModel(["two"], id="mock/two")},
        {"tools": [Tool("add", ADD.execute, "adds")]},
        {"tool_choice": "required"},
        {"active_tools": []},
        {"model_settings": {"temperature": 1}},
        {"provider_options": {"mock": {"user": "u"}}},
        {"structured_output": {"schema": {"type": "object"}}},
        {"prepare_step": lambda args: {"model_settings": {"temperature": 1}}},
        {"prepare_step": lambda args: {"tools": {}}},
    ],
    ids=lambda other: next(iter(other)),
)
def test_whatever_reaches_the_provider_is_part_of_the_key(other: Any) -> None:
    _, agent = cached("one", "two", tools=[ADD])
    agent.generate("x")

    assert agent.generate(**{"input": "x", **other}).text == "two"


def test_a_prompt_that_was_rewritten_is_asked_for_as_it_goes_out() -> None:
    def greets(args: Any) -> Any:
        name = args.request_context.get("name")
        return {"prompt": [*args.prompt, {"role": "user", "content": [{"type": "text", "text": name}]}]}

    _, agent = cached("Ann", "Bob", input_processors=[processor("greets", process_llm_request=greets), ResponseCache()])

    assert [agent.generate("x", request_context=RequestContext({"name": name})).text for name in ("a", "b", "a")] == [
        "Ann",
        "Bob",
        "Ann",
    ]


@pytest.mark.parametrize("made", [list, lambda array: lambda context: array])
def test_a_place_before_another_request_hook_is_refused(made: Any) -> None:
    array = [ResponseCache(), processor("late", process_llm_request=lambda args: None)]

    with pytest.raises(InvalidAgent, match=r"'response-cache' has to stand behind all others .* before 'late'"):
        cached("hi", input_processors=made(array))[1].generate("x")


def test_what_a_scope_keeps_apart_is_not_shared() -> None:
    cache = ResponseCache(scope=lambda context: str(context.get("tenant")))
    _, agent = cached("one", "two", cache=cache)

    assert [agent.generate("x", request_context=RequestContext({"tenant": each})).text for each in "aba"] == [
        "one",
        "two",
        "one",
    ]


def test_it_holds_what_no_output_processor_has_seen_and_replays_it_through_them() -> None:
    def stars(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.part["payload"]["text"] = args.part["payload"]["text"].replace("secret", "***")
        return args.part

    kept: dict[str, str] = {}
    backend: Any = type(
        "Dict", (), {"get": lambda self, key: kept.get(key), "set": lambda self, *pair: kept.update([pair])}
    )
    cache = ResponseCache(backend())
    _, agent = cached("a secret", cache=cache, output_processors=[processor("stars", process_output_stream=stars)])
    texts = [agent.generate("x").text for _ in range(3)]

    assert (texts, ["secret" in text for text in kept.values()]) == (["a ***"] * 3, [True])


@pytest.mark.parametrize("reason", ["length", "content-filter", "other", "tool-use", None])
def test_an_answer_without_a_good_end_is_not_kept(reason: Any) -> None:
    _, agent = cached({"text": "cut", "finish_reason": reason}, "whole")

    assert [agent.generate("x").text for _ in range(2)] == ["cut", "whole"]


def test_a_failed_call_is_not_kept() -> None:
    cache = ResponseCache()
    _, agent = cached(RuntimeError("down"), "hi", cache=cache)
    with pytest.raises(RuntimeError):
        agent.generate("x")

    assert agent.generate("x").text == "hi"


def test_a_request_that_is_no_json_is_not_kept() -> None:
    _, agent = cached("one", "two")
    odd = {"seen": object()}

    assert [agent.generate("x", model_settings=odd).text for _ in range(2)] == ["one", "two"]


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        "[1]",
        '[{"type": "finish"}]',
        7,
        '[{"type": "text-end", "payload": {}}]',
        '[{"type": "error", "payload": {}}, {"type": "finish", "payload": {"finishReason": "stop"}}]',
    ],
)
def test_what_the_backend_makes_of_a_text_is_no_answer(broken: Any) -> None:
    backend: Any = type("Broken", (), {"get": lambda self, key: broken, "set": lambda self, key, text: None})

    assert cached("live", cache=ResponseCache(backend()))[1].generate("x").text == "live"


def test_a_backend_that_fails_stops_no_request() -> None:
    def fails(self: Any, *args: Any) -> None:
        raise ConnectionError("down")

    errors: list[str] = []
    backend: Any = type("Down", (), {"get": fails, "set": fails})
    cache = ResponseCache(backend(), on_error=lambda error: errors.append(str(error)))

    assert (cached("live", cache=cache)[1].generate("x").text, errors) == ("live", ["down", "down"])


def test_a_backend_needs_get_and_set() -> None:
    with pytest.raises(InvalidAgent, match="use an object with `get` and `set`"):
        ResponseCache({})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"backend": InMemoryCache}, "the backend of 'response-cache' is a value of type type; use an object with"),
        ({"scope": "tenant"}, "the scope of 'response-cache' is 'tenant'; use a function, or None"),
        ({"on_error": 5}, "the on_error of 'response-cache' is a value of type int; use a function, or None"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(wrong: Any, what: str) -> None:
    with pytest.raises(InvalidAgent, match=what):
        ResponseCache(**wrong)


@pytest.mark.parametrize("odd", [(1, 2), {1: 2}, float("inf"), b"x", 10**5000], ids=lambda odd: type(odd).__name__)
def test_an_answer_that_json_would_change_is_not_kept(odd: Any) -> None:
    source = {"type": "source", "payload": {"id": "s", "sourceType": "url", "url": "http://x.test", "seen": odd}}
    finish = {"type": "finish", "payload": {"finishReason": "stop"}}
    turn = {"chunks": [source, finish]}
    model, agent = cached(turn, turn)

    assert ([agent.generate("x").sources == [source["payload"]] for _ in range(2)], len(model.requests)) == (
        [True, True],
        2,
    )


def test_edits_of_a_replay_do_not_reach_the_cache() -> None:
    def edits(args: Any) -> Any:
        args.messages[0]["content"]["parts"].clear()

    cache = ResponseCache()
    cached("hi", cache=cache)[1].generate("x")
    cached(cache=cache, output_processors=[processor("edits", process_output_result=edits)])[1].generate("x")

    assert cached(cache=cache)[1].generate("x").text == "hi"


def test_many_threads_share_one_cache() -> None:
    cache = ResponseCache(InMemoryCache(max_size=2_000))
    agent = Agent(ScriptedModel(lambda request, number: str(request.prompt)), input_processors=[cache])
    wrong: list[str] = []

    def ask(first: int) -> None:
        for number in range(first, first + 40):
            text = agent.generate(f"<{number % 8}>", abort_signal=AbortSignal()).text
            if f"<{number % 8}>" not in text:
                wrong.append(text)

    at_once(*(partial(ask, first) for first in range(6)))

    assert wrong == []


def test_the_longest_unasked_is_forgotten_first() -> None:
    cache = InMemoryCache(max_size=6)
    for key in "abc":
        cache.set(key, key * 2)
    cache.get("a")
    cache.set("d", "dd")

    assert [cache.get(key) for key in "abcd"] == ["aa", None, "cc", "dd"]


def test_a_text_too_long_is_not_kept_and_one_replaced_counts_once() -> None:
    cache = InMemoryCache(max_size=3)
    cache.set("a", "aaaa")
    cache.set("b", "bb")
    cache.set("b", "bbb")

    assert (cache.get("a"), cache.get("b"), len(cache)) == (None, "bbb", 1)


def test_a_text_too_old_is_forgotten() -> None:
    clock = Watch()
    cache = InMemoryCache(max_age=10, clock=clock)
    cache.set("a", "aa")
    found = []
    for clock.time in (10.0, 10.5):
        found.append(cache.get("a"))

    assert (found, len(cache)) == (["aa", None], 0)


def test_a_cache_that_was_cleared_is_empty() -> None:
    cache = InMemoryCache()
    cache.set("a", "aa")
    cache.clear()

    assert (cache.get("a"), len(cache)) == (None, 0)
