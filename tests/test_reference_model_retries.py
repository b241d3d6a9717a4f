"""A model's own retries: which errors are worth one, and how long it pauses before each."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import AbortSignal, Agent, APICallError, Cancelled, ScriptedModel
from processor_contract.context import Clock
from processor_contract.models.calling import LONGEST_PAUSE, pause

BUSY = APICallError("busy", status_code=503, is_retryable=True)


class Watch(Clock):
    """Notes how long it would have waited."""

    def __init__(self, signal: AbortSignal | None = None) -> None:
        self.slept: list[float] = []
        self._fires = signal

    def sleep(self, seconds: float, signal: AbortSignal | None = None) -> None:
        self.slept.append(seconds)
        if self._fires is not None:
            self._fires.abort("enough")


def asked(turns: list[Any], retries: int, **options: Any) -> tuple[ScriptedModel, Watch, Any]:
    model, watch = ScriptedModel(turns), Watch()
    agent = Agent(model, max_retries=retries, clock=watch)
    try:
        return model, watch, agent.generate("hi", **options).text
    except Exception as error:
        return model, watch, error


def test_a_busy_provider_is_asked_again_after_doubling_pauses() -> None:
    model, watch, text = asked([BUSY, BUSY, BUSY, "hello"], 3)

    assert (len(model.requests), watch.slept, text) == (4, [1.0, 2.0, 4.0], "hello")


def test_pauses_have_a_limit() -> None:
    assert pause(100) == LONGEST_PAUSE


def test_the_error_surfaces_when_the_retries_are_used_up() -> None:
    model, watch, raised = asked([BUSY, BUSY, "hello"], 1)

    assert (len(model.requests), watch.slept, raised) == (2, [1.0], BUSY)


@pytest.mark.parametrize("error", [APICallError("refused", status_code=400), ValueError("broken")])
def test_other_errors_are_not_worth_a_retry(error: Exception) -> None:
    model, watch, raised = asked([error, "hello"], 3)

    assert (len(model.requests), watch.slept, raised) == (1, [], error)


def test_without_a_number_there_is_no_retry() -> None:
    model, watch, raised = asked([BUSY, "hello"], 0)

    assert (len(model.requests), watch.slept, raised) == (1, [], BUSY)


def test_the_number_of_a_call_beats_the_agent_s() -> None:
    model, _, text = asked([BUSY, "hello"], 0, max_retries=1)

    assert (len(model.requests), text) == (2, "hello")


def test_the_same_request_is_sent_again() -> None:
    model, _, _ = asked([BUSY, "hello"], 1)

    assert model.requests[0] is model.requests[1]


def test_a_call_that_has_begun_to_answer_is_not_repeated() -> None:
    class Breaking:
        id = "mock/breaking"
        calls = 0

        def stream(self, request: Any) -> Any:
            self.calls += 1
            yield {"type": "text-start", "payload": {"id": "t"}}
            raise BUSY

    model = Breaking()

    with pytest.raises(APICallError):
        Agent(model, max_retries=3, clock=Watch()).generate("hi")
    assert model.calls == 1


def test_a_signal_ends_the_pause_and_the_retries() -> None:
    signal = AbortSignal()
    model = ScriptedModel([BUSY, "hello"])
    agent = Agent(model, max_retries=3, clock=Watch(signal))

    with pytest.raises(Cancelled):
        agent.generate("hi", abort_signal=signal)
    assert len(model.requests) == 1


def test_the_real_clock_does_not_outlast_a_signal() -> None:
    signal = AbortSignal()
    signal.abort()

    assert Clock().sleep(3600, signal) is None  # type: ignore[func-returns-value]
