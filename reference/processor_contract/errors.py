"""Every exception of the contract, each carrying the rule it speaks for. Nothing flows in."""

from __future__ import annotations

from typing import Any, TypeVar

Failure = TypeVar("Failure", bound="ContractError")


class ContractError(Exception):
    """Something broke the contract; `rule` is the id of the rule in SPEC.md, or None where no rule speaks of it."""

    def __init__(self, message: str, rule: str | None = None) -> None:
        super().__init__(f"{message} [{rule}]" if rule else message)
        self.rule = rule


class InvalidAgent(ContractError):
    """An agent, a processor, a tool or an option that cannot work as it was given."""


class InvalidSchema(ContractError):
    """A JSON schema that is none, or says what nobody here would check; the text names the place."""


class InvalidObject(ContractError):
    """There is no object where one was asked for; `of_answer` where the model's answer is the reason."""

    def __init__(self, message: str, *, of_answer: bool = False) -> None:
        super().__init__(message)
        self.of_answer = of_answer


class InvalidMessage(ContractError):
    """A message whose shape the contract does not allow; the text names the message."""


class WrongReturn(ContractError):
    """A hook returned, or handed to its writer, something the contract does not allow there."""


def told(error: BaseException) -> str:
    """What an exception says, also where saying it fails."""
    try:
        return str(error)
    except Exception:
        return "(it cannot say what)"


def rule_of(error: BaseException) -> str | None:
    """The rule an exception speaks for, if any."""
    try:
        rule = getattr(error, "rule", None)
    except Exception:  # whatever the author of an exception wrote: the failure is told all the same
        return None
    return rule if isinstance(rule, str) else None


class HookFailed(ContractError):
    """A hook raised, or returned what it may not: the run has ended as an error (ERR-9).

    `processor` and `hook` name the culprit; `__cause__` is what it raised (ERR-29).
    """

    default_rule = "ERR-9"

    def __init__(self, processor: str, hook: str, cause: BaseException) -> None:
        rule = rule_of(cause) or self.default_rule
        text = told(cause) if isinstance(cause, ContractError) else f"{type(cause).__name__}: {told(cause)}"
        super().__init__(f"processor {processor!r} failed in {hook}: {text}", None if f"[{rule}]" in text else rule)
        self.rule = rule
        self.processor = processor
        self.hook = hook
        self.__cause__ = cause


class StorageFailed(ContractError):
    """A store cannot be read or written; the text names it and says what to do."""


class NotSaved(HookFailed):
    """The request was answered and could not be saved.

    `result` is what the caller would have got; `__cause__` is what the store raised.
    """

    default_rule = "PER-40"

    def __init__(self, processor: str, hook: str, cause: BaseException) -> None:
        super().__init__(processor, hook, cause)
        self.result: Any = None

    def __str__(self) -> str:
        return f"the answer is in `result` of this error, but it was not saved: {super().__str__()}"


class RunFailed(ContractError):
    """The run could not go on, and no hook is to blame: `__cause__` says why, for instance an empty prompt (LLM-3)."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(f"the run could not go on: {type(cause).__name__}: {told(cause)}")
        self.rule = rule_of(cause)
        self.__cause__ = cause


class APICallError(ContractError):
    """The provider rejected a call, or could not be reached, with all that it said (ERR-13).

    `status_code` is the HTTP status (None without an answer), `is_retryable` says whether the same request may
    succeed later; `url` and `response_body` are texts where known. `retry_after` is how many seconds the provider wants
    to be left alone, where it said so.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        is_retryable: bool = False,
        url: str | None = None,
        response_body: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.is_retryable = is_retryable
        self.url = url
        self.response_body = response_body
        self.retry_after = retry_after


class ProviderFailed(ContractError):
    """The provider's stream ended in a failure that is no exception of its own: an error part, or finish reason
    `error`.
    """


class Cancelled(ContractError):
    """The caller fired the abort signal or closed the stream (RES-4)."""

    def __init__(self, reason: Any = None) -> None:
        super().__init__("the request was cancelled" + ("" if reason is None else f": {reason}"), "RES-4")
        self.reason = reason


class TripWire(Exception):
    """What `abort` raises: the verdict of a processor that ends the run, or asks for another attempt (TRI-1, RTY-1).

    Raised by hand it counts only when it leaves the hook. `processor_id` is filled in by the pipeline where it is None.
    """

    rule = "TRI-1"

    def __init__(
        self,
        reason: str | None = None,
        *,
        retry: bool | None = None,
        metadata: Any = None,
        processor_id: str | None = None,
    ) -> None:
        super().__init__(reason or "")
        self.reason = reason or ""
        self.retry = retry
        self.metadata = metadata
        self.processor_id = processor_id

    def payload(self) -> dict[str, Any]:
        """The tripwire as the client sees it (TRI-12): `retry` and `metadata` only when they were given (TRI-13)."""
        payload: dict[str, Any] = {"reason": self.reason, "processorId": self.processor_id}
        if self.retry is not None:
            payload["retry"] = self.retry
        if self.metadata is not None:
            payload["metadata"] = self.metadata
        return payload


class RunEnded(Exception):
    """Inside a run: a processor's abort is final, and carries the run out of whatever it was doing."""

    def __init__(self, tripwire: TripWire) -> None:
        super().__init__(tripwire.reason)
        self.tripwire = tripwire


class AttemptRejected(RunEnded):
    """Inside a run: an abort with a retry that is granted; the attempt at this step ends at once (RTY-1)."""


class CallFailed(Exception):
    """Inside a run: the provider failed, and nobody else (TRI-19); `error` is what it raised, not wrapped."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(told(error))
        self.error = error


def caused_by(later: Failure, earlier: BaseException) -> Failure:
    """Puts the earlier failure at the end of the later one's causes, where it is not among them already (ERR-11)."""
    last: BaseException = later
    seen = [last]
    while last.__cause__ is not None and last is not earlier and not any(last.__cause__ is one for one in seen):
        last = last.__cause__
        seen.append(last)
    if last is not earlier:
        last.__cause__ = earlier
    return later


def described(error: BaseException) -> dict[str, Any]:
    """An exception as chunks carry it."""
    return {"name": type(error).__name__, "message": told(error)}
