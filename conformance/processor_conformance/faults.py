"""What can go wrong while an adapter is driven, told apart by whose fault it is.

Flows in: what was seen. Flows out: `AdapterFault` (the adapter broke the protocol, went silent or died),
`AdapterDidNotStart` (the same before it said hello) and `SuiteError` (a bug of ours, never held against an adapter).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .trace import Trace

FaultKind = Literal["died", "hung", "garbage", "breach"]
EXCERPT = 120


class SuiteError(Exception):
    """A bug of the suite: of the runner, or of a scenario."""


class AdapterFault(Exception):
    """The adapter, not the implementation behind it, did something it must not.

    `kind` is `died`, `hung`, `garbage` (no JSON) or `breach` (of the protocol); `seen` is the raw text that shows it,
    cut; `trace` is what the play had brought until then, where there was one.
    """

    def __init__(self, kind: FaultKind, message: str, seen: str = "") -> None:
        super().__init__(kind, message, seen)  # all of them: from these it is made again in another process
        self.kind: FaultKind = kind
        self.message = message
        self.seen = seen
        self.trace: Trace | None = None

    def __str__(self) -> str:
        return self.message


class AdapterDidNotStart(AdapterFault):
    """The adapter could not be started, or did not get through `initialize`."""


def breach(message: str, seen: str = "") -> AdapterFault:
    """A breach of the protocol: what the adapter did, and what to do instead."""
    return AdapterFault("breach", message, seen)


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """The text, quoted on one line and cut in the middle when it is long."""
    if len(text) > limit:
        text = f"{text[: limit - 20]} ... {text[-14:]}"
    return repr(text)
