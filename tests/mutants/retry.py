"""Mutants of the family RTY: retries that are not granted, granted too often, or miscounted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import pipeline
from processor_contract.errors import AttemptRejected, RunEnded, TripWire
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .abort import CHAINS, methods, named
from .budgets import spending

# -- where it is granted -----------------------------------------------------------------------------------------------

REPEATING = {
    "processOutputStep": "RTY-1",
    "processOutputStream": "RTY-9",
    "processInputStep": "RTY-10",
    "processLLMRequest": "RTY-10",
    "processLLMResponse": "RTY-10",
    "processToolResult": "RTY-10",
    "processAPIError": "RTY-11",
}


def refusing(wire: str) -> Callable[[Patch], None]:
    """A retry is an abort in this hook."""

    def change(patch: Patch) -> None:
        patch.cell(CHAINS[wire], retries=False)

    return change


for _wire, _rule in REPEATING.items():
    named(
        f"no_retry_from_{CHAINS[_wire].removeprefix('process_')}",
        f"An abort with retry in {_wire} ends the run.",
        _rule,
        refusing(_wire),
    )


def granting(patch: Patch, grants: Callable[[Run, Link], bool]) -> None:
    """A retry is granted only where `grants(run, link)` says so too."""

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        ended: RunEnded = original(run, link, tripwire)
        refused = isinstance(ended, AttemptRejected) and not grants(run, link)
        return RunEnded(tripwire) if refused else ended

    patch.around(pipeline.verdict, judged)


def place_of(run: Run, link: Link) -> int:
    return [one.processor for one in run.plan[CHAINS[link.hook.wire]]].index(link.processor)


@mutant("RTY-1")
def only_the_first_processor_may_retry(patch: Patch) -> None:
    """The first processor of the chain speaks for it."""
    granting(patch, lambda run, link: link.hook.wire != "processOutputStep" or place_of(run, link) == 0)


@mutant("RTY-1")
def only_the_first_step_is_repeated(patch: Patch) -> None:
    """A run whose tools have run cannot be repeated."""
    granting(patch, lambda run, link: link.hook.wire != "processOutputStep" or run.attempt.number == 0)


@mutant("RTY-9")
def only_the_last_filter_may_retry(patch: Patch) -> None:
    """A chunk has to pass all filters before it can be judged."""
    last = len
    granting(
        patch,
        lambda run, link: (
            link.hook.wire != "processOutputStream"
            or place_of(run, link) == last(run.plan["process_output_stream"]) - 1
        ),
    )


@mutant("RTY-9")
def only_the_first_stream_is_repeated(patch: Patch) -> None:
    """A stream whose steps have gone out is not taken up again."""
    granting(patch, lambda run, link: link.hook.wire != "processOutputStream" or run.attempt.number == 0)


@mutant("RTY-11")
def a_recovery_has_no_feedback(patch: Patch) -> None:
    """An error processor repeats a call; there was no answer to comment on."""

    def grant(original: Any, own: Run, *, feedback: str | None, to_error_processor: bool = False) -> None:
        original(own, feedback=None if to_error_processor else feedback, to_error_processor=to_error_processor)

    patch.wrap(Run, "grant_retry", grant)


@mutant("RTY-11")
def other_recoveries_follow_an_abort(patch: Patch) -> None:
    """Only a returned retry ends the chain of error processors."""

    def chain(original: Any, run: Run, slate: Any) -> Any:
        try:
            return original(run, slate)
        except AttemptRejected as rejected:
            links = run.plan["process_api_error"]
            at = [link.processor.id for link in links].index(str(rejected.tripwire.processor_id))
            run.go_on()
            run.plan["process_api_error"] = links[at + 1 :]
            original(run, slate)
            run.plan["process_api_error"] = links
            raise

    patch.chain("process_api_error", chain)


# -- where it is not ---------------------------------------------------------------------------------------------------


def repeated(patch: Patch, name: str) -> None:
    """A retry in this hook has its chain run once more."""

    def chain(original: Any, run: Run, slate: Any) -> Any:
        try:
            return original(run, slate)
        except RunEnded as ended:
            if not ended.tripwire.retry:
                raise
            run.go_on()
            return original(run, slate)

    patch.chain(name, chain)


@mutant("RTY-2")
def a_retry_of_the_input(patch: Patch) -> None:
    """A retry in processInput has the input looked at again."""
    repeated(patch, "process_input")


@mutant("RTY-2")
def a_retry_of_the_result(patch: Patch) -> None:
    """A retry in processOutputResult has the result looked at again."""
    repeated(patch, "process_output_result")


@mutant("RTY-2")
def a_retry_that_cannot_be_is_not_reported(patch: Patch) -> None:
    """Where there is no step to repeat nobody can have asked for it."""

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        if not link.hook.retries:
            tripwire.retry = None
        ended: RunEnded = original(run, link, tripwire)
        return ended

    patch.around(pipeline.verdict, judged)


# -- the count ---------------------------------------------------------------------------------------------------------


def counting(patch: Patch, count: Callable[[Run, Link, int], int]) -> None:
    """The retryCount of a hook is `count(run, link, the right one)`."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        args.retry_count = count(run, link, args.retry_count)
        return method(args)

    methods(patch, around)


@mutant("RTY-19")
def retry_count_begins_at_one(patch: Patch) -> None:
    """retryCount is the number of the attempt."""
    counting(patch, lambda run, link, right: right + 1)


@mutant("RTY-19")
def retry_count_says_whether(patch: Patch) -> None:
    """retryCount says whether this is a repeated attempt."""
    counting(patch, lambda run, link, right: min(right, 1))


@mutant("RTY-19")
def retry_count_stays_zero(patch: Patch) -> None:
    """retryCount is that of the run's first attempt."""
    counting(patch, lambda run, link, right: 0)


def _for(wire: str) -> Callable[[Patch], None]:
    return lambda patch: counting(patch, lambda run, link, right: 0 if link.hook.wire == wire else right)


for _wire in (
    "processInputStep",
    "processLLMRequest",
    "processOutputStream",
    "processLLMResponse",
    "processToolResult",
):
    named(
        f"no_retry_count_in_{CHAINS[_wire].removeprefix('process_')}",
        f"retryCount is counted in processOutputStep; in {_wire} it is 0.",
        "RTY-5",
        _for(_wire),
    )


@mutant("RTY-5")
def error_processors_count_all_retries(patch: Patch) -> None:
    """There is one count for all hooks."""
    counting(patch, lambda run, link, right: run.retries)


@mutant("RTY-5")
def api_errors_are_not_counted(patch: Patch) -> None:
    """A call repeated after an error is no retry of the answer."""
    counting(patch, lambda run, link, right: right if link.hook.array == "error" else run.retries - run.api_retries)


@mutant("RTY-5")
def an_abort_in_the_error_hook_counts_as_an_abort(patch: Patch) -> None:
    """Retries asked for by abort are those of aborts, in whichever hook."""

    def grant(original: Any, own: Run, *, feedback: str | None, to_error_processor: bool = False) -> None:
        original(own, feedback=feedback, to_error_processor=to_error_processor and feedback is None)

    patch.wrap(Run, "grant_retry", grant)


@mutant("RTY-5")
def the_budget_is_for_the_whole_run(patch: Patch) -> None:
    """The count starts again with each step, the budget does not."""
    used: dict[str, int] = {}

    def grant(original: Any, own: Run, **options: Any) -> None:
        used[own.id] = used.get(own.id, 0) + 1
        original(own, **options)

    patch.wrap(Run, "grant_retry", grant)
    spending(patch, lambda own: used.get(own.id, 0))


@mutant("RTY-7")
def a_retry_is_a_new_step(patch: Patch) -> None:
    """Every attempt has a number of its own."""
    counting_steps(patch, lambda run: run.retries)


@mutant("RTY-7")
def a_recovery_is_a_new_step(patch: Patch) -> None:
    """A call that is repeated after an error is one more step."""
    counting_steps(patch, lambda run: run.api_retries)


def counting_steps(patch: Patch, more: Callable[[Run], int]) -> None:
    """stepNumber is too high by `more(run)`."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        if hasattr(args, "step_number"):
            args.step_number += more(run)
        return method(args)

    methods(patch, around)


@mutant("RTY-7")
def the_accepted_attempt_takes_all_numbers(patch: Patch) -> None:
    """The step behind a repeated one has the number of the attempts before it."""
    used: dict[str, int] = {}

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        attempt.number += used.get(own.id, 0) if number else 0
        return attempt

    def accept(original: Any, own: Run) -> None:
        used[own.id] = used.get(own.id, 0) + own.retries
        original(own)

    patch.wrap(Run, "begin_attempt", begin)
    patch.wrap(Run, "accept_step", accept)
