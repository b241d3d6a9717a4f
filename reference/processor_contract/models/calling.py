"""One call of a model: its own retries with backoff, and its failures as what they are.

Flows in: a model, a request, how often and by which clock the call may be repeated. Flows out: the provider's chunks;
CallFailed with the provider's own exception, or Cancelled.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from ..context import UNSET, Clock, Unset
from ..data import Chunk
from ..errors import APICallError, CallFailed, Cancelled
from . import Model, ModelRequest

FIRST_PAUSE = 1.0  # seconds; doubled with each retry
LONGEST_PAUSE = 60.0


def called(model: Model, request: ModelRequest, retries: int, clock: Clock) -> Generator[Chunk, None, None]:
    """Makes the call; returns the chunks of a call that is repeated, at most `retries` times, while the provider says
    that it may succeed later (ERR-33). Once a chunk has come it is not repeated. What the provider raises becomes
    CallFailed.
    """
    made = 0
    while True:
        try:
            stream = iter(model.stream(request))
            first = next(stream, UNSET)
            break
        except Exception as error:
            check_cancelled(request)
            if made >= retries or not (isinstance(error, APICallError) and error.is_retryable):
                raise CallFailed(error) from error
            wait = pause(made, error.retry_after)
        clock.sleep(wait, request.abort_signal)  # outside the handler: what comes next is not caused by it
        check_cancelled(request)
        made += 1
    return followed(first, stream, request)


def followed(first: Chunk | Unset, stream: Iterator[Chunk], request: ModelRequest) -> Generator[Chunk, None, None]:
    """The chunks from the first on; the end of the attempt, whichever it is, closes the provider's stream."""
    try:
        if not isinstance(first, Unset):  # None too would be a part, and no good one
            yield first
            yield from stream
    except Exception as error:
        check_cancelled(request)
        raise CallFailed(error) from error
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


def pause(made: int, asked_for: float | None = None) -> float:
    """Seconds before the next retry: exponential, and no shorter than the provider has asked for."""
    return min(max(FIRST_PAUSE * 2.0**made, asked_for or 0.0), LONGEST_PAUSE)


def check_cancelled(request: ModelRequest) -> None:
    """After the signal has fired nothing that the provider does counts (RES-12)."""
    if request.abort_signal is not None and request.abort_signal.aborted:
        raise Cancelled(request.abort_signal.reason)
