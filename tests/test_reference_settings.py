"""The registry of models, settings of agent and call, and what is refused before anything runs."""

from __future__ import annotations

import functools
import logging
from typing import Any

import pytest

from processor_contract import Agent, HookFailed, InvalidAgent, ModelRegistry, Processor, ScriptedModel, Tool
from reference_kit import at_once

CIRCULAR: dict[str, Any] = {}
CIRCULAR["self"] = CIRCULAR


class One(Processor):
    """A processor with a processInputStep."""

    def __init__(self, id: str = "one", returned: Any = None) -> None:
        self.id = id
        self.returned = returned

    def process_input_step(self, args: Any) -> Any:
        return self.returned(args) if callable(self.returned) else self.returned


def agent(*processors: Any, model: Any = None, **settings: Any) -> Agent:
    return Agent(model or ScriptedModel(["hi"], repeat=True), input_processors=list(processors), **settings)


async def later(*args: Any) -> Any:
    return []


def piecewise(*args: Any) -> Any:
    yield


# -- the registry ------------------------------------------------------------------------------------------------------


def test_a_provider_may_be_a_mapping_of_names() -> None:
    model = ScriptedModel(["hi"])
    assert ModelRegistry(providers={"mock": {"one": model}}).resolve("mock/one") is model


def test_a_provider_may_be_a_function_of_the_name_which_makes_each_model_once() -> None:
    made: list[str] = []

    def provider(name: str) -> ScriptedModel:
        made.append(name)
        return ScriptedModel(["hi"], id=f"mock/{name}")

    registry = ModelRegistry(providers={"mock": provider})
    assert registry.resolve("mock/one") is registry.resolve("mock/one")
    assert made == ["one"]


def test_the_name_of_a_model_may_have_slashes() -> None:
    registry = ModelRegistry(providers={"gateway": lambda name: ScriptedModel(["hi"], id=name)})
    assert registry.resolve("gateway/openai/gpt").id == "openai/gpt"


def test_a_registered_model_stands_before_its_provider() -> None:
    own = ScriptedModel(["hi"])
    registry = ModelRegistry({"mock/one": own}, {"mock": lambda name: ScriptedModel(["no"])})
    assert registry.resolve("mock/one") is own


def test_a_provider_may_ask_the_registry_for_another_model() -> None:
    model = ScriptedModel(["hi"])
    registry = ModelRegistry({"mock/one": model})
    registry.register_provider("alias", lambda name: registry.resolve(f"mock/{name}"))
    assert registry.resolve("alias/one") is model


def test_threads_that_ask_at_once_get_one_model() -> None:
    registry = ModelRegistry(providers={"mock": lambda name: ScriptedModel(["hi"])})
    found: list[Any] = []
    at_once(*[lambda: found.append(registry.resolve("mock/one"))] * 16)
    assert len({id(model) for model in found}) == 1


@pytest.mark.parametrize(
    ("model_id", "said"),
    [
        ("mock/two", r"provider 'mock' has no model 'two' \(known: one\)"),
        ("made/two", r"provider 'made' has no model 'two' \(known: it does not say which\)"),
        ("lost/two", "provider 'lost' has no model 'two'"),
        ("broken/two", "provider 'broken' failed to make model 'broken/two': division by zero"),
        ("odd/two", "'two' is no model; use an object with a `stream` method"),
        (
            "nowhere/two",
            r"model 'nowhere/two' is not registered \(known: broken/..., lost/..., made/..., mock/",
        ),
        ("mock/", "model 'mock/' is not registered"),
        ("mock", "model 'mock' is not registered"),
        ("", "model '' is not registered"),
    ],
)
def test_what_is_not_found_says_what_there_is(model_id: str, said: str) -> None:
    def lost(name: str) -> Any:
        raise KeyError(name)

    one: Any = ScriptedModel(["hi"])
    providers: dict[str, Any] = {
        "mock": {"one": one},
        "made": lambda name: None,
        "lost": lost,
        "broken": lambda name: 1 / 0,
        "odd": lambda name: name,
    }
    with pytest.raises(InvalidAgent, match=rf"{said}.*\[CFG-7\]"):
        ModelRegistry(providers=providers).resolve(model_id)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ModelRegistry({"mock/one": "text"}),  # type: ignore[dict-item]
        lambda: ModelRegistry({"": ScriptedModel([])}),
        lambda: ModelRegistry([ScriptedModel([])]),  # type: ignore[arg-type]
        lambda: ModelRegistry(providers={"a/b": {}}),
        lambda: ModelRegistry(providers={"a": "text"}),  # type: ignore[dict-item]
        lambda: ModelRegistry().resolve(ScriptedModel),
    ],
)
def test_what_cannot_be_registered_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"\[CFG-7\]"):
        wrong()


def test_agents_may_share_a_registry_and_a_call_may_name_its_model() -> None:
    registry = ModelRegistry({"mock/one": ScriptedModel(["one"], repeat=True), "mock/two": ScriptedModel(["two"])})
    first, second = Agent("mock/one", models=registry), Agent("mock/one", models=registry)
    assert [first.generate("x").text, second.generate("x", model="mock/two").text] == ["one", "two"]


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_of_a_call_go_over_those_of_the_agent() -> None:
    model = ScriptedModel(["hi"], repeat=True)
    own = {"mock": {"depth": 1, "list": [1]}, "other": 1}
    one = agent(model=model, provider_options=own, model_settings={"temperature": 1}, structured_output={"schema": {}})
    one.generate("x", provider_options={"mock": {"speed": 2, "list": [2]}}, structured_output={"name": "x"})
    one.generate("x")

    asked = [(each.provider_options, each.settings, each.structured_output) for each in model.requests]
    assert asked == [
        ({"mock": {"depth": 1, "list": [2], "speed": 2}, "other": 1}, {"temperature": 1}, {"name": "x"}),
        (own, {"temperature": 1}, {"schema": {}}),
    ]


def test_settings_are_the_agents_copies() -> None:
    model = ScriptedModel(["hi"], repeat=True)
    own: Any = {"mock": {"depth": 1}}
    one = agent(model=model, provider_options=own)
    own["mock"]["depth"] = 2
    one.generate("x")
    model.requests[0].provider_options["mock"]["depth"] = 3
    one.generate("x")

    assert model.requests[1].provider_options == {"mock": {"depth": 1}}


def test_what_a_hook_returns_stays_its_own() -> None:
    kept = {"mock": {"depth": 1}}

    def edit(args: Any) -> None:
        args.provider_options["mock"]["depth"] = 2

    agent(One("a", {"provider_options": kept}), One("b", edit)).generate("x")
    assert kept == {"mock": {"depth": 1}}


def test_an_edit_of_a_tool_in_place_is_for_the_step() -> None:
    tool = Tool("look", lambda args: 1, "looks")

    def edit(args: Any) -> None:
        args.tools["look"].description = "changed"

    agent(One(returned=edit), tools=[tool]).generate("x")
    assert tool.description == "looks"


def test_a_tool_is_called_by_the_name_that_the_step_gives_it() -> None:
    ran: list[Any] = []
    model = ScriptedModel([{"tool_calls": [{"name": "alias", "args": {}}]}, "done"])
    result = agent(One(returned={"tools": {"alias": Tool("real", ran.append)}}), model=model).generate("x")

    assert ([tool["name"] for tool in model.requests[0].tools], len(ran), result.text) == (["alias"], 1, "done")


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool_choice": "sometimes"},
        {"tool_choice": ["auto"]},
        {"tool_choice": {"type": "tool", "toolName": 5}},
        {"active_tools": "look"},
        {"active_tools": b"look"},
        {"active_tools": {"look": 1}},
        {"provider_options": [1]},
        {"model_settings": "hot"},
        {"model_settings": CIRCULAR},
        {"structured_output": 5},
    ],
)
def test_a_wrong_setting_is_refused_wherever_it_is_given(wrong: Any) -> None:
    name = next(iter(wrong))
    with pytest.raises(InvalidAgent, match=rf"{name} .*\[CFG-16\]"):
        agent(**wrong)
    with pytest.raises(InvalidAgent, match=rf"{name} .*\[CFG-16\]"):
        agent().generate("x", **wrong)
    with pytest.raises(HookFailed, match=rf"'one' failed in processInputStep: returned {name} .*\[CFG-16\]"):
        agent(One(returned=wrong)).generate("x")


def test_a_set_of_names_is_a_list_of_names() -> None:
    model = ScriptedModel(["hi"])
    agent(One(returned={"active_tools": {"look"}}), model=model, tools=[Tool("look"), Tool("find")]).generate("x")
    assert [tool["name"] for tool in model.requests[0].tools] == ["look"]


@pytest.mark.parametrize("tools", [None, 5, "look", {"look": Tool("look")}, ["look"], [None]])
def test_what_is_no_list_of_tools_is_refused(tools: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"use a list of Tool \[CFG-37\]"):
        agent(tools=tools)


def test_tools_of_one_name_are_refused_of_a_call_too() -> None:
    with pytest.raises(InvalidAgent, match=r"two tools are called 'look'.*\[CFG-27\]"):
        agent().generate("x", tools=[Tool("look"), Tool("look")])


def test_a_call_is_refused_before_a_function_of_an_array_is_called() -> None:
    called: list[Any] = []
    one = Agent(ScriptedModel(["hi"]), input_processors=called.append)  # type: ignore[arg-type]
    for wrong in ({"max_processor_retries": -1}, {"tool_choice": 5}, {"prepare_step": 5}):
        with pytest.raises(InvalidAgent):
            one.generate("x", **wrong)
    assert called == []


# -- processors and callbacks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["process_inputs", "process_text", "processInputStep", "ProcessInput", "onViolation"])
def test_a_name_that_looks_like_a_hook_is_refused(name: str) -> None:
    one = One()
    setattr(one, name, print)
    with pytest.raises(InvalidAgent, match=rf"has a member '{name}', which is no hook; did you mean .*\[CFG-25\]"):
        agent(one)


@pytest.mark.parametrize("name", ["processed", "_process_text", "count_words", "input_step"])
def test_other_names_are_the_authors(name: str) -> None:
    one = One()
    setattr(one, name, print)
    assert agent(one).generate("x").text == "hi"


@pytest.mark.parametrize("wrong", [One, "one", None, 5, object()])
def test_what_is_no_processor_with_an_id_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"in input_processors is no processor with an id.*\[CFG-2\]"):
        agent(wrong)


def test_a_hook_that_is_no_method_is_refused() -> None:
    one = One()
    one.process_input_step = "text"  # type: ignore[method-assign, assignment]
    with pytest.raises(InvalidAgent, match=r"process_input_step of processor 'one' is 'text'; use a method \[CFG-37\]"):
        agent(one)


@pytest.mark.parametrize("function", [later, piecewise, functools.partial(later, 1)])
def test_what_answers_later_is_refused(function: Any) -> None:
    one = One()
    one.process_input_step = function  # type: ignore[method-assign]
    with pytest.raises(InvalidAgent, match=r"is asynchronous.*\[CFG-26\]"):
        agent(one)
    with pytest.raises(InvalidAgent, match=r"the function of output_processors is asynchronous.*\[CFG-26\]"):
        agent(output_processors=function)
    for name in ("input_processors", "prepare_step", "stop_when"):
        with pytest.raises(InvalidAgent, match=r"is asynchronous.*\[CFG-26\]"):
            agent().generate("x", **{name: function})


def test_an_answer_that_nobody_awaits_is_an_error_where_returns_are_ignored() -> None:
    class Late(Processor):
        id = "late"

        def process_llm_response(self, args: Any) -> Any:
            self.answer = later()
            return self.answer

    late = Late()
    with pytest.raises(HookFailed, match=r"'late' failed in processLLMResponse.*nobody awaits.*\[CFG-26\]"):
        agent(late).generate("x")
    late.answer.close()


@pytest.mark.parametrize("name", ["prepare_step", "stop_when"])
def test_a_callback_that_is_no_function_is_refused(name: str) -> None:
    with pytest.raises(InvalidAgent, match=rf"{name} is 'text'; use a function \[CFG-37\]"):
        agent().generate("x", **{name: "text"})


def test_shared_ids_are_said_once_an_agent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "processor_contract"):
        one = agent(One("a"), One("a"), One("b"))
        for _ in range(3):
            one.generate("x", input_processors=lambda context: [One("b"), One("b"), One("a"), One("a")])
    said = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert said == ["several processors have the id 'a'", "several processors have the id 'b'"]
