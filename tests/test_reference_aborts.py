"""Aborts in odd places: caught, late, by hand; and onViolation."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from processor_contract import Agent, ScriptedModel, TripWire
from reference_kit import inputs, kinds, processor

DATA = {"type": "data-x", "data": 1}


def caught(args: Any, reason: str, **options: Any) -> None:
    """Calls abort and catches what it raises."""
    with contextlib.suppress(TripWire):
        args.abort(reason, **options)


# -- caught ------------------------------------------------------------------------------------------------------------


def after_abort(then: Any) -> Any:
    """A hook that aborts, catches that, and does something else."""

    def hook(args: Any) -> Any:
        caught(args, "no")
        return then(args)

    return hook


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(lambda args: None, id="returns nothing"),
        pytest.param(lambda args: [], id="returns messages"),
        pytest.param(lambda args: 5, id="returns what it may not"),
        pytest.param(lambda args: 1 / 0, id="raises"),
        pytest.param(lambda args: args.abort("another"), id="aborts again"),
        pytest.param(lambda args: args.abort("another", retry=True), id="asks for a retry"),
        pytest.param(lambda args: args.writer.custom(DATA), id="sends data"),
    ],
)
def test_a_caught_abort_decides(then: Any) -> None:
    agent = inputs("hi", process_input_step=after_abort(then))
    result = agent.generate("x", max_processor_retries=3)

    assert result.tripwire == {"reason": "no", "processorId": "p"}


def test_data_sent_after_a_caught_abort_goes_nowhere() -> None:
    agent = inputs(process_input_step=after_abort(lambda args: args.writer.custom(DATA)))

    assert kinds(agent.stream("x")) == ["start", "tripwire"]


def test_data_sent_after_a_caught_retry_goes_nowhere() -> None:
    def hook(args: Any) -> None:
        if args.retry_count == 0:
            caught(args, "again", retry=True)
            args.writer.custom(DATA)

    assert "data-x" not in kinds(inputs(process_input_step=hook).stream("x", max_processor_retries=1))


def test_data_sent_in_the_attempt_after_a_caught_retry_goes_out() -> None:
    def hook(args: Any) -> None:
        if args.retry_count == 0:
            caught(args, "again", retry=True)
        else:
            args.writer.custom(DATA)

    assert "data-x" in kinds(inputs(process_input_step=hook).stream("x", max_processor_retries=1))


def test_a_caught_retry_is_granted() -> None:
    def hook(args: Any) -> None:
        if args.retry_count == 0:
            caught(args, "again", retry=True)

    model = ScriptedModel(["bad", "good"])
    agent = Agent(model, output_processors=[processor(process_output_step=hook)])

    assert agent.generate("x", max_processor_retries=1).text == "good"


def test_an_abort_kept_from_an_earlier_call_counts_where_it_leaves() -> None:
    kept: list[Any] = []

    def step(args: Any) -> None:
        kept[0].abort("late")

    agent = inputs(process_input=lambda args: kept.append(args), process_input_step=step)

    assert agent.generate("x").tripwire == {"reason": "late", "processorId": "p"}


def test_an_abort_kept_from_an_earlier_call_and_caught_counts_nothing() -> None:
    kept: list[Any] = []

    def step(args: Any) -> None:
        caught(kept[0], "late")
        args.writer.custom(DATA)

    agent = inputs("hi", process_input=lambda args: kept.append(args), process_input_step=step)

    assert "data-x" in kinds(agent.stream("x"))


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_a_tripwire_by_hand_counts_when_it_leaves() -> None:
    def hook(args: Any) -> None:
        raise TripWire("by hand", metadata={"n": 1})

    assert inputs(process_input=hook).generate("x").tripwire == {
        "reason": "by hand",
        "processorId": "p",
        "metadata": {"n": 1},
    }


def test_a_tripwire_by_hand_that_is_caught_counts_nothing() -> None:
    def hook(args: Any) -> None:
        try:
            raise TripWire("by hand")
        except TripWire:
            pass

    assert inputs("hi", process_input=hook).generate("x").text == "hi"


def test_one_tripwire_object_names_each_processor_that_raises_it() -> None:
    shared = TripWire("shared")

    def hook(args: Any) -> None:
        raise shared

    named = [inputs(id=id, process_input=hook).generate("x").tripwire for id in ("a", "b")]

    assert [tripwire["processorId"] for tripwire in named if tripwire] == ["a", "b"]


@pytest.mark.parametrize("reason", [None, ""])
def test_a_tripwire_by_hand_without_a_reason_names_the_processor(reason: str | None) -> None:
    def hook(args: Any) -> None:
        raise TripWire(reason)

    assert inputs(process_input=hook).generate("x").tripwire == {
        "reason": "Tripwire triggered by p",
        "processorId": "p",
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        ({"retry": False}, {"retry": False}),
        ({"retry": True}, {"retry": True}),
        ({"metadata": None}, {}),
        ({"metadata": 0}, {"metadata": 0}),
        ({"metadata": {"a": [1]}}, {"metadata": {"a": [1]}}),
    ],
)
def test_the_tripwire_holds_what_was_given(options: Any, expected: Any) -> None:
    agent = inputs(process_input=lambda args: args.abort("no", **options))

    assert {"reason": "no", "processorId": "p", **expected} == agent.generate("x").tripwire


# -- on_violation ------------------------------------------------------------------------------------------------------


def watched(hook: Any, on_violation: Any, **members: Any) -> Any:
    made = processor("p", process_input_step=hook)
    made.on_violation = on_violation
    return made


def test_a_violation_is_told_with_its_detail() -> None:
    told: list[Any] = []
    one = watched(lambda args: args.abort("no", metadata={"n": 1}), told.append)
    Agent(ScriptedModel([]), input_processors=[one]).generate("x")

    assert told == [{"processorId": "p", "message": "no", "detail": {"n": 1}}]


def test_a_violation_without_metadata_has_no_detail() -> None:
    told: list[Any] = []
    Agent(ScriptedModel([]), input_processors=[watched(lambda args: args.abort("no"), told.append)]).generate("x")

    assert told == [{"processorId": "p", "message": "no"}]


def test_what_on_violation_raises_is_swallowed() -> None:
    one = watched(lambda args: args.abort("no"), lambda violation: 1 / 0)

    assert Agent(ScriptedModel([]), input_processors=[one]).generate("x").tripwire == {
        "reason": "no",
        "processorId": "p",
    }


def test_an_abort_that_another_one_came_before_is_not_told() -> None:
    told: list[Any] = []

    def step(args: Any) -> None:
        try:
            args.writer.custom(DATA)
        except Exception:
            args.abort("mine")

    one = watched(step, told.append)
    other = processor("q", data=True, process_output_stream=lambda args: args.abort("first"))
    result = Agent(ScriptedModel([]), input_processors=[one], output_processors=[other]).generate("x")

    assert (told, (result.tripwire or {})["reason"]) == ([], "first")
