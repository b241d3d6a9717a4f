"""Mutants of the family DAT, rules 1 to 4, 8 to 10, 12, 24: who sends data, and who sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from typing import Any

from processor_contract import pipeline
from processor_contract.context import Writer
from processor_contract.data import Chunk, clone
from processor_contract.errors import ContractError
from processor_contract.hooks import HOOKS
from processor_contract.processor import InputArgs
from processor_contract.returns import Slate
from processor_contract.run import Run

from . import Patch, mutant
from .order import replan
from .stream_chunks import STREAM

TOOL = ""  # who sends, where it is no hook


def senders(patch: Patch, sent: Callable[[Any, str, Run, Chunk], None]) -> None:
    """`sent(send, who, run, chunk)` stands for each sending by a hook, or by a tool."""
    hooks: dict[str, str] = {}  # by run: the hook that is being called; none while tools work

    def called(original: Any, run: Run, name: str, slate: Slate) -> Any:
        before = hooks.get(run.id, TOOL)
        hooks[run.id] = name
        try:
            return original(run, name, slate)
        finally:
            hooks[run.id] = before

    def send(original: Any, run: Run, chunk: Any, message_id: Any, **more: Any) -> None:
        def as_it_is(chunk: Chunk, **other: Any) -> None:
            original(run, chunk, message_id, **{**more, **other})

        sent(as_it_is, hooks.get(run.id, TOOL), run, chunk)

    patch.around(pipeline.call, called)
    patch.around(pipeline.send_data, send)


def unsent(patch: Patch, by: Callable[[str], bool]) -> None:
    """What hooks of some names send, or tools, is lost."""
    senders(patch, lambda send, who, run, chunk: None if by(who) else send(chunk))


def data(slate: Slate) -> bool:
    return bool(slate["part"]["type"].startswith("data-"))


# -- who may send, and what --------------------------------------------------------------------------------------------


@mutant("DAT-1")
def only_the_stream_hook_sends(patch: Patch) -> None:
    """There is a writer where there is a stream."""
    unsent(patch, lambda who: who not in (TOOL, STREAM))


@mutant("DAT-1")
def hooks_around_the_model_call_send_nothing(patch: Patch) -> None:
    """While the model is asked the stream belongs to the model."""
    unsent(patch, lambda who: who.startswith("process_llm"))


@mutant("DAT-2")
def any_type_may_be_sent(patch: Patch) -> None:
    """A writer sends chunks."""

    def sent(original: Any, run: Run, chunk: Any, *args: Any, **more: Any) -> None:
        if str(chunk.get("type")).startswith("data-"):
            original(run, chunk, *args, **more)
        else:
            run.outbox.append(chunk)

    patch.around(pipeline.send_data, sent)


@mutant("DAT-2")
def other_types_are_passed_over(patch: Patch) -> None:
    """What is no data is not sent, and nobody is told."""

    def sent(original: Any, run: Run, chunk: Any, *args: Any, **more: Any) -> None:
        if str(chunk.get("type")).startswith("data-"):
            original(run, chunk, *args, **more)

    patch.around(pipeline.send_data, sent)


@mutant("DAT-8")
def tools_send_nothing(patch: Patch) -> None:
    """What a tool has to say is its result."""
    unsent(patch, lambda who: who == TOOL)


@mutant("DAT-10")
def the_input_has_a_writer(patch: Patch) -> None:
    """Every hook has a writer."""
    patch.cell("process_input", args=make_dataclass("Args", [("writer", Writer)], bases=(InputArgs,), slots=True))


@mutant("DAT-10")
def the_error_hook_has_no_writer(patch: Patch) -> None:
    """In an error there is nothing to send to."""

    def chain(original: Any, run: Run, slate: Slate) -> Any:
        slate["writer"] = None
        return original(run, slate)

    patch.chain("process_api_error", chain)


@mutant("DAT-24")
def late_data_raises(patch: Patch) -> None:
    """Who sends behind the end is told so."""

    def silenced(original: Any, run: Run) -> bool:
        if run.ended:
            raise ContractError("the run has ended", "DAT-24")
        return bool(original(run))

    patch.around(pipeline.silenced, silenced)


# -- who sees it -------------------------------------------------------------------------------------------------------


@mutant("DAT-3")
def data_of_tools_for_everybody(patch: Patch) -> None:
    """The opt-in is for the data of processors."""
    patch.cell(STREAM, skips=None)


@mutant("DAT-3")
def data_passes_nobody(patch: Patch) -> None:
    """Data goes straight to the client."""
    senders(patch, lambda send, who, run, chunk: send(chunk, past_processors=True))


@mutant("DAT-4")
def echoes_pass_the_chain(patch: Patch) -> None:
    """All writers are alike."""

    def send(run: Run, chunk: Chunk, message_id: str | None) -> None:
        left = pipeline.through_stream(run, clone(chunk))
        if left is not None:
            pipeline.deliver(run, left, message_id)

    replan(patch, lambda run: setattr(run, "direct_writer", Writer(lambda *sent: send(run, *sent))))


@mutant("DAT-9")
def data_of_processors_passes_nobody(patch: Patch) -> None:
    """The opt-in is for the data of tools."""
    senders(patch, lambda send, who, run, chunk: send(chunk, past_processors=True) if who else send(chunk))


@mutant("DAT-9")
def own_data_does_not_come_back(patch: Patch) -> None:
    """A processor with the opt-in gets what others send."""
    skips = HOOKS[STREAM].skips
    sender: dict[str, str] = {}
    assert skips is not None

    def sent(send: Any, who: str, run: Run, chunk: Chunk) -> None:
        sender["id"] = run.called.processor.id if run.called is not None else ""
        send(chunk)

    def skipped(link: Any, slate: Slate) -> bool:
        return skips(link, slate) or (data(slate) and link.processor.id == sender["id"])

    senders(patch, sent)
    patch.cell(STREAM, skips=skipped)


@mutant("DAT-12")
def data_of_the_stream_hook_passes_nobody(patch: Patch) -> None:
    """What is sent while a chunk is handled does not come round, whatever the chunk."""
    senders(patch, lambda send, who, run, chunk: send(chunk, past_processors=True) if who == STREAM else send(chunk))


@mutant("DAT-12")
def data_of_the_stream_hook_passes_twice(patch: Patch) -> None:
    """Data sent in the chain passes at once, and again with the chunk behind which it goes out."""

    def sent(send: Any, who: str, run: Run, chunk: Chunk) -> None:
        send(chunk)
        if who == STREAM:
            pipeline.through_stream(run, clone(chunk))

    senders(patch, sent)
