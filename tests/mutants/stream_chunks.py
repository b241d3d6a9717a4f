"""Mutants of the family STR, rules 1 to 5, 7 to 11, 20: the stream's end and frame, and what a hook's answer does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import loop, pipeline, returns
from processor_contract.data import CONTROL_CHUNKS, Chunk, clone, fault_of
from processor_contract.errors import RunFailed, WrongReturn
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run

from . import Patch, mutant

STREAM = "process_output_stream"
SAID = ("text-", "reasoning-", "source", "file")


def client_gets(patch: Patch, change: Callable[[Run, Chunk], Iterator[Chunk]]) -> None:
    """In the place of each chunk the client gets those that `change(run, chunk)` yields."""

    def changed(original: Any, run: Run) -> Iterator[Chunk]:
        for chunk in original(run):
            yield from change(run, chunk)

    patch.around(loop.stream_of, changed)


def answers(patch: Patch, take: Callable[[Callable[[Any], bool], Slate, Any], bool]) -> None:
    """`take(as_it_is, slate, returned)` stands for what the chain does with what processOutputStream returns."""

    def taken(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return take(lambda value: original(run, link, slate, value), slate, returned)

    patch.returned(STREAM, taken)


def passing(patch: Patch, change: Callable[[Run, Chunk, Chunk | None], Chunk | None]) -> None:
    """Of a chunk comes what `change(run, as it came, as it left the chain)` says."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Chunk | None:
        raw = clone(chunk)
        return change(run, raw, original(run, chunk, **more))

    patch.around(pipeline.through_stream, passed)


def sending(patch: Patch, taken: Callable[[Run, Chunk, Chunk | None], Chunk | None]) -> None:
    """The response takes in `taken(run, as it came, as it left the chain)`; the client gets what left the chain."""

    def sent(original: Any, run: Run, chunk: Chunk) -> None:
        raw = clone(chunk)
        left = pipeline.through_stream(run, chunk)
        if left is None or not left["type"].startswith("data-"):
            meant = taken(run, raw, left)
            if meant is not None:
                run.response.take(meant)
            if left is not None:
                run.outbox.append(left)
            return
        pipeline.deliver(run, left)

    patch.around(pipeline.send, sent)


# -- the end and the frame ---------------------------------------------------------------------------------------------


@mutant("STR-1")
def finish_comes_twice(patch: Patch) -> None:
    """The loop says that it is finished, and then the stream does."""
    client_gets(patch, lambda run, chunk: iter([chunk] * (1 + (chunk["type"] == "finish"))))


@mutant("STR-1")
def a_failed_answer_has_no_finish(patch: Patch) -> None:
    """After an error there is nothing to finish."""
    client_gets(patch, lambda run, chunk: iter([chunk] * (chunk["type"] != "finish" or run.error is None)))


@mutant("STR-1")
def a_broken_run_has_no_error(patch: Patch) -> None:
    """Where a hook raised an exception the stream just stops."""
    client_gets(patch, lambda run, chunk: iter([chunk] * (chunk["type"] != "error" or run.ending is None)))


@mutant("STR-7")
def a_text_has_no_beginning(patch: Patch) -> None:
    """The client is told of a text with its first words."""
    client_gets(patch, lambda run, chunk: iter([chunk] * (chunk["type"] != "text-start")))


@mutant("STR-7")
def the_error_comes_behind_its_step(patch: Patch) -> None:
    """The step is closed before anybody is told that it failed."""
    held: dict[str, Chunk] = {}

    def change(run: Run, chunk: Chunk) -> Iterator[Chunk]:
        if chunk["type"] == "error" and run.ending is None:
            held[run.id] = chunk
        else:
            yield chunk
            if chunk["type"] == "step-finish" and run.id in held:
                yield held.pop(run.id)

    client_gets(patch, change)


@mutant("STR-7")
def a_rejected_attempt_is_not_closed(patch: Patch) -> None:
    """An attempt that does not count has no step-finish."""
    def change(run: Run, chunk: Chunk) -> Iterator[Chunk]:
        if chunk["type"] != "step-finish" or chunk["payload"]["finishReason"] != "retry":
            yield chunk

    client_gets(patch, change)


@mutant("STR-8")
def text_chunks_do_not_name_their_run(patch: Patch) -> None:
    """What the model says is passed on as the provider sent it."""

    def change(run: Run, chunk: Chunk) -> Iterator[Chunk]:
        bare: Any = {key: value for key, value in chunk.items() if key not in ("runId", "from")}
        yield bare if chunk["type"].startswith("text-") else chunk

    client_gets(patch, change)


@mutant("STR-8")
def one_id_for_all_runs(patch: Patch) -> None:
    """A run has its agent's id."""
    patch.wrap(Run, "chunk", lambda original, own, *args: {**original(own, *args), "runId": "agent"})


@mutant("STR-8")
def ends_have_no_usage(patch: Patch) -> None:
    """Usage is told in the result only."""

    def change(run: Run, chunk: Chunk) -> Iterator[Chunk]:
        if chunk["type"] in ("step-finish", "finish"):
            chunk["payload"].pop("usage", None)
        yield chunk

    client_gets(patch, change)


# -- what a hook answers -----------------------------------------------------------------------------------------------


@mutant("STR-2")
def returned_chunks_are_ignored(patch: Patch) -> None:
    """A hook can only look, or drop."""
    answers(patch, lambda take, slate, value: take(None if value is None else slate["part"]))


@mutant("STR-2")
def the_client_gets_what_came(patch: Patch) -> None:
    """A changed chunk is for later processors, not for the client."""
    passing(patch, lambda run, came, left: None if left is None else came)


@mutant("STR-2")
def every_chunk_is_made_anew(patch: Patch) -> None:
    """A text that passes is trimmed on its way."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if left is not None and left["type"] == "text-delta":
            left["payload"]["text"] = left["payload"]["text"][:-1]
        return left

    passing(patch, change)


@mutant("STR-3")
def null_lets_pass(patch: Patch) -> None:
    """Null means that the hook has nothing to say."""
    answers(patch, lambda take, slate, value: take(slate["part"] if value is None else value))


@mutant("STR-9")
def a_drop_ends_the_stream(patch: Patch) -> None:
    """Once a text is dropped, so is what follows it."""
    dropped: set[str] = set()

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Chunk | None:
        if run.id in dropped and chunk["type"] == "text-delta":
            return None
        left: Chunk | None = original(run, chunk, **more)
        if left is None and chunk["type"] == "text-delta":
            dropped.add(run.id)
        return left

    patch.around(pipeline.through_stream, passed)


@mutant("STR-9")
def the_next_one_gets_what_was_dropped(patch: Patch) -> None:
    """A drop concerns the client only: every processor sees every chunk."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        slate["dropped"] = slate.get("dropped") or value is None
        return as_it_is(slate["part"] if value is None else value)

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        slate = original(run, slate)
        if slate.pop("dropped", False):
            slate["part"] = None
        return slate

    answers(patch, take)
    patch.chain(STREAM, chain)


@mutant("STR-11")
def edits_in_place_are_lost(patch: Patch) -> None:
    """A hook that returns the part it got has changed nothing."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        same = value is not None and value is slate["part"]
        stops = as_it_is(value)
        if same:
            slate["part"] = slate["as_it_came"]
        return stops

    patch.derived(STREAM, lambda run, slate: slate.update(as_it_came=clone(slate["part"])))
    answers(patch, take)


@mutant("STR-4")
def control_chunks_can_be_made_up(patch: Patch) -> None:
    """Whatever is a chunk may be returned."""
    patch.set(returns, "CONTROL_CHUNKS", frozenset())


@mutant("STR-4")
def control_chunks_can_be_made_in_place(patch: Patch) -> None:
    """Only returned chunks are looked at; the part itself has been looked at before."""
    answers(patch, lambda take, slate, value: False if value is slate["part"] else take(value))


@mutant("STR-4")
def no_control_chunk_may_be_returned(patch: Patch) -> None:
    """A control chunk is refused even where it stands for one of its own type."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        if value is not None and value is not slate["part"] and value.get("type") in CONTROL_CHUNKS:
            slate["kind"] = ""
        return as_it_is(value)

    answers(patch, take)


@mutant("STR-20")
def what_is_no_chunk_is_dropped(patch: Patch) -> None:
    """What cannot be sent is not sent."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        return as_it_is(None if fault_of(value) else value)

    answers(patch, take)


@mutant("STR-20")
def what_is_no_chunk_leaves_the_part(patch: Patch) -> None:
    """A hook that returns something else has not wanted to change anything."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        return as_it_is(slate["part"] if value is not None and fault_of(value) else value)

    answers(patch, take)


@mutant("STR-20")
def chunks_that_hold_themselves_blame_nobody(patch: Patch) -> None:
    """What cannot be copied is the runtime's misfortune."""
    patch.around(pipeline.wrongly_made, lambda original, run, what, rule: RunFailed(WrongReturn(what, rule)))


@mutant("STR-20")
def chunks_are_checked_when_all_have_had_them(patch: Patch) -> None:
    """What an edit in place has broken is found where it is needed, and the last to have it is blamed."""

    def take(as_it_is: Callable[[Any], bool], slate: Slate, value: Any) -> bool:
        return as_it_is(value) if value is None or value is not slate["part"] else False

    def checked(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        fault = None if left is None else fault_of(left)
        if fault is not None:
            raise pipeline.wrongly_made(run, f"made a chunk that {fault}", "STR-20")
        return left

    answers(patch, take)
    passing(patch, checked)


# -- what is said ------------------------------------------------------------------------------------------------------


@mutant("STR-5")
def the_response_is_what_the_model_said(patch: Patch) -> None:
    """A changed chunk changes what is shown; what was said stays said."""
    sending(patch, lambda run, came, left: came if left is not None and came["type"].startswith(SAID) else left)


@mutant("STR-5")
def sources_are_kept_as_they_came(patch: Patch) -> None:
    """Only texts are taken over from the stream."""
    sending(patch, lambda run, came, left: came if left and came["type"].startswith(SAID[1:]) else left)


@mutant("STR-5")
def response_chunks_have_passed_the_filters(patch: Patch) -> None:
    """processLLMResponse gets the texts as they went to the client."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "text-delta" and run.attempt.chunks:
            run.attempt.chunks[-1] = clone(left) if left is not None else {"type": "text-end", "payload": {}}
        return left

    passing(patch, change)


@mutant("STR-10")
def dropped_words_are_said(patch: Patch) -> None:
    """A dropped chunk is not shown, and said all the same."""
    sending(patch, lambda run, came, left: came if left is None and came["type"].startswith(SAID) else left)


@mutant("STR-10")
def dropped_texts_leave_an_empty_part(patch: Patch) -> None:
    """The part of a text is made when the text begins."""
    sending(
        patch,
        lambda run, came, left: (
            {**came, "payload": {**came["payload"], "text": " "}}
            if left is None and came["type"].startswith(SAID) and "text" in came["payload"]
            else left
        ),
    )
