"""What each kind of return value does: one function for each kind, named in the table of `hooks.py`.

Flows in: a run, the link that returned, the slate of its chain (the values its processors hand on to each other) and
what was returned. Flows out: changes to the slate and the list, and True where the chain stops.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from .data import CONTROL_CHUNKS, clone, fault_from_outside, fault_of
from .errors import WrongReturn
from .message_list import MessageList
from .settings import STEP_OVERRIDES, described, instead_of
from .views import Source

if TYPE_CHECKING:
    from .run import Link, Run

Slate = dict[str, Any]
Returns = Callable[["Run", "Link", Slate, Any], bool]

STEP_KEYS = frozenset({*STEP_OVERRIDES, "messages", "message_list", "system_messages"})


def messages_as(source: Source, *, empty_keeps: bool = False) -> Returns:
    """A message array (MSG-4, MSG-51), the same list (MSG-21), `{messages?, system_messages?}` (MSG-19, MSG-20) or None
    (MSG-22); new messages get the source.

    With `empty_keeps` an empty array changes nothing (MSG-9, MSG-23).
    """

    def take(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict):
            _refuse_others(returned, {"messages", "system_messages"})
            _take_system(run, returned.get("system_messages"))
            returned = returned.get("messages")
        _take_messages(run, link, returned, source, empty_keeps)
        return False

    return take


def step_overrides(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
    """What processInputStep may return: overrides for this step, messages, the same list, or None (CFG-6, CFG-34).

    An override replaces its value whole (CFG-13); one that is None is as if it were not there (CFG-14), and so is an
    empty object (CFG-32).
    """
    if not isinstance(returned, dict):
        _take_messages(run, link, returned, "input", False)
        return False
    _refuse_others(returned, STEP_KEYS, "CFG-15")
    messages, message_list = returned.get("messages"), returned.get("message_list")
    if messages is not None and message_list is not None:
        raise WrongReturn("returned both messages and message_list; return one of them", "MSG-26")
    _take_system(run, returned.get("system_messages"))  # before the messages: one of them may be a system message
    _take_messages(run, link, message_list if messages is None else messages, "input", False)
    for key in STEP_OVERRIDES:
        if returned.get(key) is not None:
            slate[key] = _override(run, key, returned[key])
    return False


def prompt_or_response(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
    """`{prompt}` replaces the prompt of this call (LLM-2), `{response: {chunks}}` replays a copy of an answer, that
    of the first of several (LLM-7); anything else is an error (LLM-19).
    """
    if returned is None:
        return False
    if not isinstance(returned, dict):
        raise WrongReturn(
            f"returned {_named(returned)}; return {{'prompt': ...}}, {{'response': ...}} or None", "LLM-19"
        )
    _refuse_others(returned, {"prompt", "response"}, "LLM-19")
    prompt, response = returned.get("prompt"), returned.get("response")
    if prompt is not None:
        slate["prompt"] = _dicts(prompt, "a prompt", "LLM-19")
        if not prompt:
            raise WrongReturn("returned a prompt that holds no message; leave at least one in it", "LLM-3")
    if response is not None:
        chunks = _dicts(response.get("chunks") if isinstance(response, dict) else None, "response chunks", "LLM-19")
        fault = next(filter(None, map(fault_from_outside, chunks)), None)
        if fault is not None:
            raise WrongReturn(f"returned a response with a chunk that {fault}", "LLM-19")
        if run.attempt.replay is None:
            try:
                run.attempt.replay = clone(chunks)
            except RecursionError:
                raise WrongReturn("returned a response that holds itself, or is nested too deep", "LLM-19") from None
    return False


def chunk(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
    """The same chunk, another one, or None, which drops it and ends its chain (STR-2, STR-3, STR-9)."""
    part, before = slate["part"], slate.get("kind", slate["part"]["type"])  # before the hook could edit it
    slate["part"] = returned
    if returned is None:
        return True
    if returned is part and part.get("type") == before and fault_of(part) is None:  # STR-11: perhaps edited in place
        return False
    if not isinstance(returned, dict):
        raise WrongReturn(f"returned {_named(returned)}; return a chunk, or None to drop this one", "STR-20")
    fault = fault_of(returned)
    if fault is not None:
        raise WrongReturn(f"returned a chunk that {fault}", "STR-20")
    if returned["type"] in CONTROL_CHUNKS and returned["type"] != before:
        raise WrongReturn(
            f"returned a chunk of type {returned['type']!r} for one of type {before!r}; return this one, "
            "a chunk of another type, or None",
            "STR-4",
        )
    return False


def retry_or_not(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
    """`{retry: bool}` or None (ERR-3), and nothing else (ERR-16); the first `{retry: True}` ends the chain (ERR-15)."""
    if returned is None:
        return False
    if not isinstance(returned, dict) or set(returned) != {"retry"} or not isinstance(returned["retry"], bool):
        raise WrongReturn(
            f"returned {_named(returned)}; return {{'retry': True}}, {{'retry': False}} or None", "ERR-16"
        )
    run.attempt.recovered = run.attempt.recovered or returned["retry"]
    return run.attempt.recovered


def ignored(run: Run, link: Link, slate: Slate, returned: Any) -> bool:
    """Whatever processLLMResponse returns is ignored (LLM-6), but an answer that nobody awaits (CFG-26)."""
    if isawaitable(returned):
        raise WrongReturn(f"returned {described(returned)}, which nobody awaits; do it before returning", "CFG-26")
    return False


def _take_messages(run: Run, link: Link, returned: Any, source: Source, empty_keeps: bool) -> None:
    if returned is None or returned is run.message_list:
        return
    if isinstance(returned, MessageList):
        raise WrongReturn("returned a MessageList it made itself; change and return args.message_list", "MSG-12")
    if not isinstance(returned, list):
        raise WrongReturn(f"returned {_named(returned)}; return a list of messages, the list or None", "MSG-25")
    if returned or not empty_keeps:  # MSG-9, MSG-23, MSG-24, PER-27
        run.message_list.reconcile(link.seen, returned, source)  # what it was given: not what it added itself since


def _override(run: Run, key: str, value: Any) -> Any:
    """The value as the step uses it: the model itself, of data a copy that the hook does not hold (CFG-17)."""
    if key == "model":
        return run.models.resolve(value)
    instead = instead_of(key, value)
    if instead is not None:
        raise WrongReturn(f"returned {key} as {described(value)}; return {instead}", "CFG-16")
    try:
        return list(value) if key == "active_tools" else clone(value)
    except RecursionError as error:
        raise WrongReturn(f"returned {key} that contain themselves, or are nested too deep", "CFG-16") from error


def _take_system(run: Run, messages: Any) -> None:
    if messages is None:
        return
    if not isinstance(messages, list):
        raise WrongReturn(f"returned system_messages as {_named(messages)}; return a list of them", "MSG-25")
    run.message_list.replace_all_system_messages(messages)  # CFG-12: the next step sets them back (MSG-10)


def _dicts(value: Any, what: str, rule: str) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise WrongReturn(f"returned {what} as {_named(value)}; return a list of dicts", rule)
    return value


def _refuse_others(returned: dict[str, Any], known: set[str] | frozenset[str], rule: str = "MSG-25") -> None:
    unknown = [key for key in returned if key not in known]
    if unknown:
        known_keys = ", ".join(sorted(known))
        raise WrongReturn(f"returned the unknown key {unknown[0]!r:.99}; known are {known_keys}", rule)


def _named(value: Any) -> str:
    return f"a value of type {type(value).__name__}"
