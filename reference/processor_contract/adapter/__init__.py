"""Lets the conformance suite drive this copy of the reference, also a vendored one.

Flows in: lines of protocol 1 (conformance/PROTOCOL.md). Flows out: lines. `python -m processor_contract.adapter`
speaks them over stdin and stdout; `connect` does so within one process.
"""

from __future__ import annotations

from collections.abc import Callable

from .server import Server
from .wire import Peer

__all__ = ["connect"]


def connect(send: Callable[[str], None], ended: Callable[[], None] = lambda: None) -> Callable[[str], None]:
    """Takes what sends a line to the runner, and what to call behind a shutdown; returns what takes each line of the
    runner's.
    """
    peer = Peer(send, ended)
    peer.serve = Server(peer).serve
    return peer.receive
