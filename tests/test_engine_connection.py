"""Starting, restarting and ending an adapter."""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chaos import mini
from processor_conformance.connection import Adapter, Hello
from processor_conformance.faults import AdapterDidNotStart, AdapterFault, SuiteError
from processor_conformance.trace import Trace

HELLO = Hello("mini", "1", ("nine-hook", "six-hook"), frozenset(mini.CAPABILITIES))


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], Adapter]]:
    """Makes an adapter of a `connect` function."""
    made: list[Adapter] = []

    def connecting(connect: Any) -> Adapter:
        module = types.ModuleType("chaos_connected")
        module.connect = connect  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "chaos_connected", module)
        made.append(Adapter("python:chaos_connected:connect", timeout=1.0))
        return made[-1]

    yield connecting
    for adapter in made:
        adapter.close()


def test_start_says_who_it_is_and_does_it_once(connected: Any) -> None:
    connections: list[Any] = []

    def connect(send: Any) -> Any:
        connections.append(send)
        return mini.connect(send)

    adapter = connected(connect)
    assert [adapter.start(), adapter.start()] == [HELLO, HELLO]
    assert len(connections) == 1


def test_restart_begins_a_new_connection_and_the_old_one_is_not_heard(connected: Any) -> None:
    connections: list[Any] = []

    def connect(send: Any) -> Any:
        connections.append(send)
        return mini.connect(send)

    adapter = connected(connect)
    adapter.start()
    assert adapter.restart() == HELLO
    connections[0]("not even JSON")
    assert adapter.request("tick", {}) == {}
    assert len(connections) == 2


def test_after_a_fault_start_begins_anew(connected: Any) -> None:
    connections: list[Any] = []

    def connect(send: Any) -> Any:
        connections.append(send)
        return mini.connect(send)

    adapter = connected(connect)
    adapter.start()
    connections[0]("not even JSON")
    with pytest.raises(AdapterFault, match="no JSON"):
        adapter.request("tick", {})
    assert adapter.start() == HELLO
    assert adapter.request("tick", {}) == {}


@pytest.mark.parametrize("kind", [AdapterFault, AdapterDidNotStart])
def test_a_fault_reaches_another_process_whole(kind: type[AdapterFault]) -> None:
    fault = kind("hung", "no answer", "its last line")
    fault.trace = Trace("ORD-1-x", "stream")
    again = pickle.loads(pickle.dumps(fault))
    assert (type(again), str(again), again.kind, again.message, again.seen, again.trace) == (
        kind, "no answer", "hung", "no answer", "its last line", fault.trace,
    )  # fmt: skip


def test_what_comes_without_a_session_is_a_breach(connected: Any) -> None:
    connections: list[Any] = []

    def connect(send: Any) -> Any:
        connections.append(send)
        return mini.connect(send)

    adapter = connected(connect)
    adapter.start()
    connections[0]('{"jsonrpc": "2.0", "method": "stream/chunk", "params": {"run": "r", "chunk": {"type": "x"}}}')
    with pytest.raises(AdapterFault, match="sent stream/chunk although no session was ever opened"):
        adapter.request("tick", {})


def test_connect_that_raises(connected: Any) -> None:
    def connect(send: Any) -> Any:
        raise KeyError("config")

    with pytest.raises(AdapterDidNotStart, match="cannot be connected: KeyError"):
        connected(connect).start()


def test_receiving_that_raises(connected: Any) -> None:
    def connect(send: Any) -> Any:
        return lambda line: line.missing

    with pytest.raises(AdapterDidNotStart, match="does not take lines any more: AttributeError") as caught:
        connected(connect).start()
    assert caught.value.kind == "died"


def test_an_adapter_that_is_not_started_cannot_be_asked() -> None:
    with pytest.raises(SuiteError, match="not started"):
        Adapter("python:chaos.mini:connect").request("tick", {})


def test_close_is_for_every_state() -> None:
    adapter = Adapter([sys.executable, "-c", "pass"], timeout=1.0)
    adapter.close()
    with pytest.raises(AdapterDidNotStart):
        adapter.start()
    adapter.close()
    adapter.close()
    assert adapter.trouble is None


def test_the_environment_reaches_the_process() -> None:
    adapter = Adapter([sys.executable, "-c", "import os, sys; sys.exit(os.environ['WORD'])"], env={"WORD": "hello"})
    with pytest.raises(AdapterDidNotStart, match="exit code 1"):
        adapter.start()
    assert adapter.stderr_tail == "hello"
    adapter.close()
    assert adapter.stderr_tail == "hello"


def test_what_json_cannot_hold_is_the_suites_bug(connected: Any) -> None:
    adapter = connected(mini.connect)
    adapter.start()
    with pytest.raises(SuiteError, match="not JSON"):
        adapter.request("tick", {"n": float("inf")})
