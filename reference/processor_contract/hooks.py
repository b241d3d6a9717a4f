"""THE TABLE: one row a hook. `pipeline.py` has the one loop that reads it.

Flows in: nothing. Flows out: `HOOKS`, from which SPEC's table, the adapter's names and the mutants derive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import returns
from .data import Message, clone, is_answered
from .message_list import MessageList
from .processor import (
    APIErrorArgs,
    HookArgs,
    InputArgs,
    InputStepArgs,
    LLMRequestArgs,
    LLMResponseArgs,
    OutputResultArgs,
    OutputStepArgs,
    OutputStreamArgs,
    ToolResultArgs,
)
from .returns import Returns, Slate

if TYPE_CHECKING:
    from .run import Link, Run

Array = Literal["input", "output", "error"]


@dataclass(slots=True)
class Hook:
    """One row: what a hook is called, gets, sees, and what becomes of what it returns.

    `array` is the one its chain walks (ORD-4, ORD-32), always in array order (ORD-3). `sees` is its view of the
    messages, None where it has none. `derive` refreshes the slate before each processor, so that each sees what the
    one before it left (ORD-31). `skips` says whether a processor is passed over. `retries` says whether an abort may
    ask for another attempt (RTY-1, RTY-9, RTY-10). `in_six` says whether the six-hook revision of the contract has it.
    """

    wire: str
    args: type[HookArgs]
    array: Array
    returns: Returns
    sees: Callable[[MessageList], list[Message]] | None = None
    derive: Callable[[Run, Slate], None] | None = None
    skips: Callable[[Link, Slate], bool] | None = None
    retries: bool = True
    in_six: bool = True

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its arguments, in the order of their class."""
        return tuple(self.args.__dataclass_fields__)


def _earlier_steps(run: Run, slate: Slate) -> None:
    slate["steps"] = run.shown_steps()  # CFG-24, CFG-33, ERR-19; for each processor anew (RES-25)


def _current_step(run: Run, slate: Slate) -> None:
    step = run.current_step()  # ORD-31: text and calls follow the response as the processors leave it
    calls = clone(step.get("toolCalls"))
    slate.update(text=step["text"], tool_calls=calls, steps=run.shown_steps(step))  # RES-21, RES-22, RES-23


def _tool_result(run: Run, slate: Slate) -> None:
    invocation = run.response.invocation(slate["tool_call_id"], anywhere=bool(slate["provider_executed"]))
    if invocation is None:
        slate["result"] = None  # TOOL-24: whoever took out the call has taken out its result
    elif is_answered(invocation):  # TOOL-16: the value as changed so far; none where it was turned into an error
        slate["result"] = None if invocation.get("state") == "output-error" else invocation.get("result")
    slate["args"] = clone(slate["args"] if invocation is None else invocation.get("args"))  # TOOL-10
    slate["steps"] = run.shown_steps(run.current_step())


def _answer(run: Run, slate: Slate) -> None:
    about = clone(run.attempt.about_call)  # copies: whatever the one before did to its own (LLM-10)
    slate.update(chunks=clone(run.attempt.chunks), warnings=about.get("warnings"), request=about.get("request"))
    slate["raw_response"] = about.get("rawResponse")
    slate["steps"] = run.shown_steps(run.current_step())  # LLM-17


def _summary(run: Run, slate: Slate) -> None:
    slate["result"] = run.summary()


def _kind(run: Run, slate: Slate) -> None:
    slate["kind"] = slate["part"]["type"]  # STR-4: a chunk may be edited in place


def _wants_no_data(link: Link, slate: Slate) -> bool:
    return slate["part"]["type"].startswith("data-") and not link.wants_data  # DAT-3, DAT-9


# The nine of them (ORD-38), in the order of SPEC's table.
HOOKS: dict[str, Hook] = {
    "process_input": Hook(
        wire="processInput",
        args=InputArgs,
        array="input",
        returns=returns.messages_as("input"),
        sees=MessageList.everything,
        retries=False,  # RTY-2: there is no step yet
    ),
    "process_input_step": Hook(
        wire="processInputStep",
        args=InputStepArgs,
        array="input",
        returns=returns.step_overrides,
        sees=MessageList.everything,
        derive=_earlier_steps,
    ),
    "process_llm_request": Hook(
        wire="processLLMRequest",
        args=LLMRequestArgs,
        array="input",
        returns=returns.prompt_or_response,
        derive=_earlier_steps,
        in_six=False,
    ),
    "process_api_error": Hook(
        wire="processAPIError",
        args=APIErrorArgs,
        array="error",
        returns=returns.retry_or_not,
        sees=MessageList.everything,
        derive=_earlier_steps,
    ),
    "process_output_stream": Hook(
        wire="processOutputStream",
        args=OutputStreamArgs,
        array="output",
        returns=returns.chunk,
        derive=_kind,
        skips=_wants_no_data,
    ),
    "process_llm_response": Hook(
        wire="processLLMResponse",
        args=LLMResponseArgs,
        array="input",
        returns=returns.ignored,
        derive=_answer,
        in_six=False,
    ),
    "process_output_step": Hook(
        wire="processOutputStep",
        args=OutputStepArgs,
        array="output",
        returns=returns.messages_as("response", empty_keeps=True),
        sees=MessageList.everything,
        derive=_current_step,
    ),
    "process_tool_result": Hook(
        wire="processToolResult",
        args=ToolResultArgs,
        array="output",
        returns=returns.messages_as("response", empty_keeps=True),
        sees=MessageList.everything,
        derive=_tool_result,
        in_six=False,
    ),
    "process_output_result": Hook(
        wire="processOutputResult",
        args=OutputResultArgs,
        array="output",
        returns=returns.messages_as("response"),
        sees=MessageList.response,
        derive=_summary,
        retries=False,  # RTY-2: there is no step left
    ),
}
