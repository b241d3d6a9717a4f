"""Mutants of the family LLM, rules 5, 6 and 10: what processLLMResponse gets of an answer, and what becomes of it."""

from __future__ import annotations

from typing import Any

from processor_contract import loop
from processor_contract.data import Chunk
from processor_contract.errors import WrongReturn
from processor_contract.returns import Slate
from processor_contract.run import Link, Run

from . import Patch, mutant, stream_parts
from .stream_chunks import passing


def shown(patch: Patch, change: Any) -> None:
    """Changes what processLLMResponse gets."""
    patch.derived("process_llm_response", change)


@mutant("LLM-5")
def replayed_chunks_keep_everything(patch: Patch) -> None:
    """A chunk is kept with whatever it holds."""
    patch.around(loop.short, lambda original, part: dict(part))


@mutant("LLM-5")
def chunks_have_the_client_s_form(patch: Patch) -> None:
    """The chunks are those that the client gets."""

    def change(run: Run, slate: Slate) -> None:
        slate["chunks"] = [run.chunk(chunk["type"], chunk["payload"]) for chunk in slate["chunks"]]

    shown(patch, change)


@mutant("LLM-6")
def returned_chunks_are_a_wrong_return(patch: Patch) -> None:
    """What a hook may not return is an error."""

    def take(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if returned is not None:
            raise WrongReturn("returned something from processLLMResponse", "LLM-6")
        return False

    patch.cell("process_llm_response", returns=take)


@mutant("LLM-6")
def a_returned_value_ends_the_chain(patch: Patch) -> None:
    """The first processor that returns something has handled the answer."""
    patch.cell("process_llm_response", returns=lambda run, link, slate, returned: returned is not None)


@mutant("LLM-6")
def returned_chunks_are_the_answer(patch: Patch) -> None:
    """Chunks that are returned take the place of those that came."""

    def take(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if returned is not None:
            for message in run.message_list.live("response"):
                message["content"]["parts"].clear()
        return False

    patch.cell("process_llm_response", returns=take)


@mutant("LLM-10")
def chunks_as_the_stream_hooks_left_them(patch: Patch) -> None:
    """The answer is what the output processors made of it."""
    passed: list[Chunk] = []

    def noted(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "step-start":
            passed.clear()
        if left is not None and left["type"] not in ("step-start", "finish"):
            passed.append({"type": left["type"], "payload": dict(left["payload"])})
        return left

    def change(run: Run, slate: Slate) -> None:
        inside = [chunk for chunk in slate["chunks"] if chunk["type"] in ("response-metadata", "finish")]
        slate["chunks"] = [*inside[:-1], *passed, *inside[-1:]]

    passing(patch, noted)
    shown(patch, change)


@mutant("LLM-10")
def dropped_chunks_are_gone(patch: Patch) -> None:
    """What a processor dropped nobody gets to see again."""
    dropped: list[str] = []

    def noted(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if left is None and "text" in came.get("payload", {}):
            dropped.append(came["payload"]["text"])
        return left

    def change(run: Run, slate: Slate) -> None:
        slate["chunks"] = [chunk for chunk in slate["chunks"] if chunk["payload"].get("text") not in dropped]

    passing(patch, noted)
    shown(patch, change)


@mutant("LLM-10")
def chunks_without_their_frame(patch: Patch) -> None:
    """response-metadata and finish are no part of what was said."""

    def change(run: Run, slate: Slate) -> None:
        inner = ("response-metadata", "finish")
        slate["chunks"] = [chunk for chunk in slate["chunks"] if chunk["type"] not in inner]

    shown(patch, change)


@mutant("LLM-10")
def chunks_begin_with_step_start(patch: Patch) -> None:
    """The chunks are those of the step, from its step-start on."""
    shown(patch, lambda run, slate: slate["chunks"].insert(0, {"type": "step-start", "payload": {}}))


@mutant("LLM-10")
def chunks_of_the_whole_run(patch: Patch) -> None:
    """The chunks are all that have come so far."""

    def change(run: Run, slate: Slate) -> None:
        if run.steps:
            slate["chunks"] = [*stream_parts(run), *slate["chunks"]] or slate["chunks"]
            slate["chunks"].insert(0, {"type": "finish", "payload": {"finishReason": "tool-calls"}})

    shown(patch, change)


@mutant("LLM-10")
def one_copy_for_all_processors(patch: Patch) -> None:
    """The chunks are read once, and handed on."""

    def change(run: Run, slate: Slate) -> None:
        slate["chunks"] = run.attempt.chunks

    shown(patch, change)


@mutant("LLM-10")
def tool_results_as_they_were_left(patch: Patch) -> None:
    """The results of the provider's own tools are what processToolResult left of them."""

    def change(run: Run, slate: Slate) -> None:
        for chunk in slate["chunks"]:
            if chunk["type"] == "tool-result":
                invocation = run.response.invocation(chunk["payload"]["toolCallId"], anywhere=True)
                chunk["payload"]["result"] = (invocation or {}).get("result")

    shown(patch, change)
