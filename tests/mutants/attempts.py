"""Mutants of the family RTY: rejected attempts that leave something, and repeated ones that lack something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, prompt, request
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
    """Hooks that judge a step see all attempts at it; the result has the accepted one."""
    kept: dict[str, list[Any]] = {}

    def around(reject: Callable[[], None], own: Run) -> None:
        kept.setdefault(own.id, []).append(own.current_step())
        reject()

    def call(original: Any, run: Run, name: str, slate: Any) -> Any:
        if isinstance(slate.get("steps"), list):
            slate["steps"] = [*slate["steps"], *kept.get(run.id, [])]
        return original(run, name, slate)

    rejected(patch, around)
    patch.around(pipeline.call, call)


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


# -- feedback ----------------------------------------------------------------------------------------------------------


def prompted(patch: Patch, around: Callable[[Any, list[Any], list[str], list[Any]], Any]) -> None:
    """The prompt is `around(to_prompt, system messages, feedback, messages)`."""
    patch.around(
        prompt.to_prompt,
        lambda original, system, feedback, messages: around(original, list(system), list(feedback), list(messages)),
    )


@mutant("RTY-6")
def no_feedback(patch: Patch) -> None:
    """The model is asked again, as if for the first time."""
    prompted(patch, lambda original, system, feedback, messages: original(system, [], messages))


@mutant("RTY-6")
def feedback_without_the_reason(patch: Patch) -> None:
    """The model is told that its answer was not accepted; why is for the log."""
    prompted(
        patch, lambda original, system, feedback, messages: original(system, ["see above"] * len(feedback), messages)
    )


@mutant("RTY-20")
def only_the_last_feedback(patch: Patch) -> None:
    """The model is told what was wrong with its last answer."""
    prompted(patch, lambda original, system, feedback, messages: original(system, feedback[-1:], messages))


@mutant("RTY-20")
def feedback_comes_first(patch: Patch) -> None:
    """Feedback is urgent: it stands before all other system messages."""

    def around(original: Any, system: list[Any], feedback: list[str], messages: list[Any]) -> Any:
        made = original(system, feedback, messages)
        return [
            *made[len(system) : len(system) + len(feedback)],
            *made[: len(system)],
            *made[len(system) + len(feedback) :],
        ]

    prompted(patch, around)


@mutant("RTY-20")
def all_feedback_in_one_message(patch: Patch) -> None:
    """One system message holds all reasons."""

    def around(original: Any, system: list[Any], feedback: list[str], messages: list[Any]) -> Any:
        return original(system, ["; ".join(feedback)] if feedback else [], messages)

    prompted(patch, around)


@mutant("RTY-20")
def an_api_error_is_feedback(patch: Patch) -> None:
    """A call that is repeated says why."""

    def grant(original: Any, own: Run, *, feedback: str | None, **options: Any) -> None:
        original(own, feedback="the call failed" if feedback is None else feedback, **options)

    patch.wrap(Run, "grant_retry", grant)


@mutant("RTY-21")
def feedback_stays_for_the_run(patch: Patch) -> None:
    """What was wrong once is said until the end."""
    kept: dict[str, list[str]] = {}

    def accept(original: Any, own: Run) -> None:
        kept[own.id] = list(own.feedback)
        original(own)
        own.feedback.extend(kept[own.id])

    patch.wrap(Run, "accept_step", accept)


@mutant("RTY-21")
def old_feedback_comes_back(patch: Patch) -> None:
    """A later rejection reminds the model of all earlier ones."""
    old: dict[str, list[str]] = {}

    def accept(original: Any, own: Run) -> None:
        old.setdefault(own.id, []).extend(own.feedback)
        original(own)

    def grant(original: Any, own: Run, **options: Any) -> None:
        if not own.feedback:
            own.feedback.extend(old.get(own.id, []))
        original(own, **options)

    patch.wrap(Run, "accept_step", accept)
    patch.wrap(Run, "grant_retry", grant)


@mutant("RTY-22")
def feedback_is_a_system_message_of_the_list(patch: Patch) -> None:
    """Feedback is added to the system messages of the attempt."""

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        for reason in own.feedback:
            own.message_list.add_system(reason)
        return attempt

    patch.wrap(Run, "begin_attempt", begin)
    prompted(patch, lambda original, system, feedback, messages: original(system, [], messages))


@mutant("RTY-22")
def feedback_is_added_behind_the_request_hook(patch: Patch) -> None:
    """Feedback is the runtime's: it is put into the prompt when the processors have seen it."""

    def ask(original: Any, run: Run, attempt: Attempt) -> Any:
        asked = original(run, attempt)
        told = [{"role": "system", "content": reason} for reason in run.feedback]
        asked.prompt = [*told, *asked.prompt]
        return asked

    prompted(patch, lambda original, system, feedback, messages: original(system, [], messages))
    patch.around(request.ask, ask)
