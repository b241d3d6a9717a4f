"""Mutants of the family RTY: what the model is told of rejected attempts, where, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import prompt, request
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .abort import methods


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
def feedback_is_shown_to_all_hooks(patch: Patch) -> None:
    """Whoever is shown the system messages is shown the feedback with them."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        if hasattr(args, "system_messages"):
            args.system_messages += [{"role": "system", "content": reason} for reason in run.feedback]
        return method(args)

    methods(patch, around)


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
