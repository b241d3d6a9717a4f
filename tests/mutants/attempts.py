"""Mutants of the family RTY: rejected attempts that leave something, and repeated ones that lack something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop
from processor_contract.data import clone, joined_text
from processor_contract.message_list import MessageList
from processor_contract.response import Response
from processor_contract.run import Attempt, Run

from . import Patch, mutant
from .abort import Chunks

# -- what goes and what stays ------------------------------------------------------------------------------------------


def rejected(patch: Patch, around: Callable[[Callable[[], None], Run], None]) -> None:
    """An attempt is taken back by `around(reject_attempt, run)`."""
    patch.wrap(Run, "reject_attempt", lambda original, own: around(lambda: original(own), own))


def texts(own: Run) -> list[Any]:
    own.response.flush()
    return [clone(part) for part in own.response.parts()]


def put_back(own: Run, parts: list[Any]) -> None:
    if parts:
        own.message_list.open_response()["content"].setdefault("parts", []).extend(parts)


@mutant("RTY-4")
def a_rejected_answer_stays(patch: Patch) -> None:
    """The model is shown what was wrong with its answer, and so the answer."""

    def around(reject: Callable[[], None], own: Run) -> None:
        said = [part for part in texts(own) if part.get("type") == "text"]
        reject()
        put_back(own, said)

    rejected(patch, around)


@mutant("RTY-4")
def half_an_answer_stays(patch: Patch) -> None:
    """An answer that was stopped in its middle is what the model goes on from."""

    def around(reject: Callable[[], None], own: Run) -> None:
        said = texts(own) if own.attempt.finish_reason == "other" else []
        reject()
        put_back(own, said)

    rejected(patch, around)


@mutant("RTY-4")
def calls_and_results_stay(patch: Patch) -> None:
    """What tools have done cannot be undone, so it stays in the conversation."""

    def around(reject: Callable[[], None], own: Run) -> None:
        done = [part for part in texts(own) if "toolInvocation" in part]
        for part in done:
            part["toolInvocation"].update(state="result", result={})
        reject()
        put_back(own, done)

    rejected(patch, around)


@mutant("RTY-4")
def accepted_steps_go_too(patch: Patch) -> None:
    """A rejection takes the whole response out."""

    def around(reject: Callable[[], None], own: Run) -> None:
        reject()
        own.message_list.remove_by_ids([message["id"] for message in own.message_list.response()])

    rejected(patch, around)


@mutant("RTY-16")
def rejected_text_is_in_the_result(patch: Patch) -> None:
    """The text of a run is what the model said."""
    said: dict[str, list[str]] = {}

    def around(reject: Callable[[], None], own: Run) -> None:
        said.setdefault(own.id, []).append(joined_text(texts(own)))
        reject()

    def accept(original: Any, own: Run) -> None:
        original(own)
        own.steps[-1]["text"] = "".join([*said.pop(own.id, []), own.steps[-1]["text"]])

    rejected(patch, around)
    patch.wrap(Run, "accept_step", accept)
    patch.set(Run, "follow_response", lambda own: None)


@mutant("RTY-16")
def rejected_attempts_are_steps(patch: Patch) -> None:
    """Each attempt is a step of the run."""

    def around(reject: Callable[[], None], own: Run) -> None:
        own.steps.append(own.current_step())
        own.response._accepted += 1
        reject()

    rejected(patch, around)


@mutant("RTY-16")
def hooks_get_the_rejected_attempts(patch: Patch) -> None:
    """Hooks are told of every attempt at a step; the result has the accepted one."""
    kept: dict[str, list[Any]] = {}

    def around(reject: Callable[[], None], own: Run) -> None:
        kept.setdefault(own.id, []).append(own.current_step())
        reject()

    rejected(patch, around)
    for hook in ("process_input_step", "process_api_error", "process_output_step"):
        patch.derived(hook, lambda run, slate: slate["steps"].extend(kept.get(run.id, [])))


def set_back(patch: Patch, around: Callable[[Callable[[], None], MessageList, Any], None]) -> None:
    """The response is set back by `around(reset, message list, state)`."""
    patch.wrap(
        MessageList, "reset_response", lambda original, own, state: around(lambda: original(own, state), own, state)
    )


@mutant("RTY-17")
def everything_is_set_back(patch: Patch) -> None:
    """A rejected attempt has changed nothing: the whole list is as it was when the attempt began."""
    before: dict[str, Any] = {}

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        before[own.id] = [(message, clone(message)) for message in own.message_list.everything()]
        return attempt

    def around(reject: Callable[[], None], own: Run) -> None:
        reject()
        known = {message["id"] for message, _ in before[own.id]}
        own.message_list.remove_by_ids(
            [each["id"] for each in own.message_list.everything() if each["id"] not in known]
        )
        for message, was in before[own.id]:
            message["content"] = clone(was["content"])

    patch.wrap(Run, "begin_attempt", begin)
    rejected(patch, around)


@mutant("RTY-17")
def edits_of_the_question_are_undone(patch: Patch) -> None:
    """What was edited in place is as it was; what was added stays."""
    before: dict[str, Any] = {}

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        before[own.id] = [(message, clone(message)) for message in own.message_list.everything()]
        return attempt

    def around(reject: Callable[[], None], own: Run) -> None:
        reject()
        for message, was in before[own.id]:
            message["content"] = clone(was["content"])

    patch.wrap(Run, "begin_attempt", begin)
    rejected(patch, around)


@mutant("RTY-17")
def edits_of_earlier_answers_stay(patch: Patch) -> None:
    """Only what the attempt added is taken out."""

    def around(reset: Callable[[], None], own: MessageList, state: Any) -> None:
        edited = {message["id"]: clone(message["content"]["parts"]) for message in own.response()}
        reset()
        for message in own.response():
            parts = message["content"]["parts"]
            parts[:] = edited.get(message["id"], parts)[: len(parts)]

    set_back(patch, around)


@mutant("RTY-17")
def removed_answers_stay_removed(patch: Patch) -> None:
    """What a hook took out of the list is out."""

    def around(reset: Callable[[], None], own: MessageList, state: Any) -> None:
        there = {message["id"] for message in own.response()}
        reset()
        own.remove_by_ids([live["id"] for live, _ in state.messages if live["id"] not in there])

    set_back(patch, around)


@mutant("RTY-17")
def answers_are_set_back_to_the_attempts_beginning(patch: Patch) -> None:
    """The response is as it was before processInputStep."""
    before: dict[str, Any] = {}

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        before[own.id] = own.message_list.response_state(deep=True)
        return attempt

    def around(reject: Callable[[], None], own: Run) -> None:
        own.attempt.response_before = before[own.id]
        reject()

    patch.wrap(Run, "begin_attempt", begin)
    rejected(patch, around)


@mutant("RTY-18")
def an_empty_message_stays(patch: Patch) -> None:
    """Parts are taken out, the message that was made for them is not."""

    def reject(own: Response, data_parts: Any) -> None:
        unwanted = {id(part) for part in own.added(data_parts)}
        for message in own._list.live("response"):
            parts = message["content"].get("parts", [])
            parts[:] = [part for part in parts if id(part) not in unwanted]
        own.begin_attempt()

    patch.set(Response, "reject", reject)


@mutant("RTY-18")
def data_of_the_end_stays(patch: Patch) -> None:
    """What is sent when the attempt has been taken back is no part of it."""

    def reject(original: Any, run: Run, attempt: Attempt) -> Chunks:
        yield from keeping(original(run, attempt), run)

    def keeping(chunks: Chunks, run: Run) -> Chunks:
        dropping = vars(Response)["reject"]
        calls: list[int] = []

        def once(own: Response, parts: Any) -> None:
            calls.append(1)
            if len(calls) == 1:
                dropping(own, parts)

        vars(run.response)["reject"] = lambda parts: once(run.response, parts)
        try:
            yield from chunks
        finally:
            del run.response.reject

    patch.around(loop.reject, reject)


@mutant("RTY-18")
def data_of_error_processors_stays(patch: Patch) -> None:
    """What an error processor sends is about the failure, not about the attempt."""

    def recover(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Chunks:
        run.reject_attempt()
        result = yield from detached(original(run, attempt, error), run)
        return result

    def detached(chunks: Chunks, run: Run) -> Chunks:
        vars(run.response)["reject"] = lambda parts: None
        try:
            return (yield from chunks)
        finally:
            del run.response.reject

    patch.around(loop.recover, recover)
