"""Mutants of the family ERR, rules 18 to 25 and 45: what error processors change, and broken parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop
from processor_contract.data import NEEDED, fault_of
from processor_contract.errors import CallFailed, RunFailed
from processor_contract.message_list import MessageList
from processor_contract.returns import Slate
from processor_contract.run import Link, Run, Settings

from . import Patch, mutant
from .error_answers import also_after_a_failure
from .errors import answers, unasked
from .order import Chunks


def around_the_hook(patch: Patch, before: Callable[[Run], Any], after: Callable[[Run, Any], None]) -> None:
    """Does something with what there was before processAPIError, when its chain is through."""

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        kept = before(run)
        result: Slate = original(run, slate)
        after(run, kept)
        return result

    patch.chain("process_api_error", chain)


def conversation(run: Run) -> list[Any]:
    """What is in the list, and where it came from."""
    return [(message, run.message_list.source_of(message["id"])) for message in run.message_list.everything()]


def restore(run: Run, kept: list[Any]) -> None:
    """Puts the list back."""
    run.message_list.clear()
    for message, source in kept:
        run.message_list.add([message], source)


@mutant("ERR-18")
def removed_messages_come_back(patch: Patch) -> None:
    """What stands in the list was said, and is sent."""

    def again(run: Run, kept: list[Any]) -> None:
        there = {message["id"] for message, _ in kept}
        restore(run, [*kept, *(one for one in conversation(run) if one[0]["id"] not in there)])

    around_the_hook(patch, conversation, again)


@mutant("ERR-18")
def added_messages_are_dropped(patch: Patch) -> None:
    """An error processor may shorten a request; there is nothing it could add."""

    def without(run: Run, kept: list[Any]) -> None:
        there = {message["id"] for message, _ in kept}
        run.message_list.remove_by_ids([one["id"] for one, _ in conversation(run) if one["id"] not in there])

    around_the_hook(patch, conversation, without)


@mutant("ERR-18")
def changes_count_with_a_retry_only(patch: Patch) -> None:
    """A processor that does not want a retry has changed nothing."""
    kept: dict[str, list[Any]] = {}

    def note(run: Run, slate: Slate) -> None:
        kept[run.id] = conversation(run)

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if not before(run, link, slate, returned):
            restore(run, kept[run.id])
            return False
        return True

    answers(patch, take)
    patch.derived("process_api_error", note)


@mutant("ERR-19")
def error_hook_sees_the_input_only(patch: Patch) -> None:
    """What was asked is what failed."""
    patch.cell("process_api_error", sees=lambda message_list: message_list.of("input"))


@mutant("ERR-19")
def failed_step_is_among_the_steps(patch: Patch) -> None:
    """The step that failed is a step too."""

    patch.derived("process_api_error", lambda run, slate: slate["steps"].append(run.current_step()))


@mutant("ERR-20")
def error_retry_count_stays_0(patch: Patch) -> None:
    """Each failure is the first of its kind."""

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        result: Slate = original(run, {**slate, "retry_count": 0})
        return result

    patch.chain("process_api_error", chain)


@mutant("ERR-20")
def error_retry_count_counts_processors(patch: Patch) -> None:
    """Each processor that is asked is a try."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        slate["retry_count"] += 1
        return bool(before(run, link, slate, returned))

    answers(patch, take)


@mutant("ERR-22")
def cap_silences_the_error_processors(patch: Patch) -> None:
    """With no retry left there is nothing to ask."""
    unasked(patch, lambda run, attempt, error: not run.may_retry())


@mutant("ERR-22")
def cap_asks_everybody(patch: Patch) -> None:
    """With no retry left no answer ends the chain."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return bool(before(run, link, slate, returned)) and run.may_retry()

    answers(patch, take)


@mutant("ERR-22")
def cap_is_one_too_high(patch: Patch) -> None:
    """The cap is compared after the retry."""
    patch.set(Run, "may_retry", lambda run: run.retries <= (run.settings.max_retries or 0))


@mutant("ERR-22")
def cap_of_0_counts_as_unset(patch: Patch) -> None:
    """Nothing is set where the number is falsy."""

    def default(own: Any, options: Any, settings: Settings) -> None:
        settings.max_retries = settings.max_retries or 10

    patch.settled(default)


@mutant("ERR-22")
def cap_of_the_whole_run(patch: Patch) -> None:
    """The number of retries is that of the request."""
    granted: dict[str, int] = {}

    def may(run: Run) -> bool:
        return granted.get(run.id, 0) < (run.settings.max_retries or 0)

    def grant(original: Any, run: Run, **given: Any) -> None:
        granted[run.id] = granted.get(run.id, 0) + 1
        original(run, **given)

    patch.set(Run, "may_retry", may)
    patch.wrap(Run, "grant_retry", grant)


@mutant("ERR-25")
def changes_of_the_error_hook_fall(patch: Patch) -> None:
    """The attempt is set back when its last hook has run."""

    def back(run: Run) -> None:
        if run.attempt.begun:
            run.message_list.reset_response(run.attempt.response_before)

    also_after_a_failure(patch, back)


@mutant("ERR-25")
def responses_added_by_hooks_stay(patch: Patch) -> None:
    """A failed attempt takes back what the model said, and nothing else."""
    added: dict[int, list[Any]] = {}

    def add(original: Any, own: MessageList, messages: Any, source: str) -> None:
        original(own, messages, source)
        if source == "response":
            added.setdefault(id(own), []).extend(messages)

    def reject(original: Any, run: Run) -> None:
        original(run)
        run.message_list.add(added.pop(id(run.message_list), []), "response")

    patch.wrap(MessageList, "add", add)
    patch.wrap(Run, "reject_attempt", reject)


@mutant("ERR-25")
def failed_attempt_takes_all_changes(patch: Patch) -> None:
    """The list is set back to what it was when the provider was called."""
    kept: dict[str, set[str]] = {}

    def answer(original: Any, run: Run, *given: Any) -> Chunks:
        kept[run.id] = {message["id"] for message in run.message_list.everything()}
        yield from original(run, *given)

    def reject(original: Any, run: Run) -> None:
        original(run)
        known = kept.get(run.id, set())
        run.message_list.remove_by_ids([one["id"] for one in run.message_list.everything() if one["id"] not in known])

    patch.around(loop.answer, answer)
    patch.wrap(Run, "reject_attempt", reject)


@mutant("ERR-45")
def broken_parts_are_passed_over(patch: Patch) -> None:
    """What is no part is left out, as a client would do."""

    def provided(original: Any, *given: Any) -> Any:
        return (part for part in original(*given) if fault_of(part) is None)

    patch.around(loop.provided, provided)
    patch.around(loop.refuse_endless, lambda original, part: None)


@mutant("ERR-45")
def broken_parts_fail_the_run(patch: Patch) -> None:
    """An answer that cannot be read is no answer of the model's, and no error processor's business."""

    def refuse(original: Any, run: Run, attempt: Any, request: Any) -> Any:
        try:
            yield from original(run, attempt, request)
        except CallFailed as failed:
            if getattr(failed.error, "rule", None) == "ERR-45":
                raise RunFailed(failed.error) from failed
            raise

    patch.around(loop.answer, refuse)


@mutant("ERR-45")
def what_a_call_lacks_is_made_up(patch: Patch) -> None:
    """Some providers forget an id or a name: anything will do."""

    def mended(part: Any) -> Any:
        if part.get("type") in ("tool-call", "tool-result") and isinstance(part.get("payload"), dict):
            part["payload"] = {**dict.fromkeys(NEEDED[part["type"]], "unnamed"), **part["payload"]}
        return part

    patch.around(loop.provided, lambda original, *given: (mended(part) for part in original(*given)))
