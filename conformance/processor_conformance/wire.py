"""Lines between the runner and an adapter: over a process's pipes, or to functions of this process.

Flows in: lines to send, and the adapter's output. Flows out: each complete line to `on_line`, the end of the output
to `on_end`. The thread that reads does nothing else. Sending never blocks: a writer thread has an unbounded queue, so
that messages larger than a pipe's buffer can travel both ways at once.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import IO, Protocol

from .faults import AdapterDidNotStart, FaultKind

OnLine = Callable[[bytes], None]
OnEnd = Callable[[FaultKind, str, bytes], None]
IN_PROCESS = "python:"
LONGEST_LINE = 64 * 1024 * 1024
STDERR_LINES = 40
STDERR_WIDTH = 400


class Transport(Protocol):
    """One connection to a running adapter. `on_line` and `on_end` are called on threads of the transport, in order."""

    def send(self, line: str) -> None: ...

    def close(self, grace: float) -> bool:
        """Ends the adapter; says whether it ended by itself within `grace` seconds."""

    def died(self) -> str | None:
        """How the adapter ended, or None while it runs."""

    @property
    def half_line(self) -> str:
        """What it has written since the last end of a line."""

    @property
    def stderr_tail(self) -> str: ...


def open_transport(command: str | list[str], env: dict[str, str] | None, on_line: OnLine, on_end: OnEnd) -> Transport:
    """Starts the adapter; raises AdapterDidNotStart when there is nothing to start."""
    if isinstance(command, str) and command.startswith(IN_PROCESS):
        return InProcess(command[len(IN_PROCESS) :], on_line)
    return Pipes(shlex.split(command) if isinstance(command, str) else list(command), env, on_line, on_end)


class InProcess:
    """An adapter in this process: `module:function`, where function(send) returns what takes the runner's lines."""

    half_line = ""
    stderr_tail = ""

    def __init__(self, target: str, on_line: OnLine) -> None:
        module, _, name = target.partition(":")
        self._on_line = on_line
        self._order = threading.Lock()
        self._closed = False
        try:
            connect = getattr(importlib.import_module(module), name or "connect")
            self._receive: Callable[[str], None] = connect(self._incoming)
        except Exception as error:
            raise AdapterDidNotStart("died", f"{IN_PROCESS}{target} cannot be connected: {error!r}") from error

    def _incoming(self, line: str) -> None:
        with self._order:
            if not self._closed:
                self._on_line(line.encode("utf-8", "surrogatepass"))

    def send(self, line: str) -> None:
        if not self._closed:
            self._receive(line)

    def close(self, grace: float) -> bool:
        self._closed = True
        return True

    def died(self) -> str | None:
        return None


class Pipes:
    """An adapter that is a process of its own, in a process group of its own so that nothing it started outlives it."""

    def __init__(self, argv: list[str], env: dict[str, str] | None, on_line: OnLine, on_end: OnEnd) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._outgoing: SimpleQueue[str | None] = SimpleQueue()
        self._half: list[bytes] = []
        self._tail: deque[str] = deque(maxlen=STDERR_LINES)
        try:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise AdapterDidNotStart("died", f"{shlex.join(argv)!r} cannot be started: {error}") from error
        self._threads = [
            threading.Thread(target=job, name=f"adapter-{job.__name__.strip('_')}", daemon=True)
            for job in (self._read, self._write, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def stderr_tail(self) -> str:
        if self.process.poll() is not None:
            self._threads[-1].join(0.5)  # its last words may still be in the pipe
        return "\n".join(self._tail.copy())

    @property
    def half_line(self) -> str:
        return b"".join(self._half[:2])[:1000].decode("utf-8", "replace")

    def send(self, line: str) -> None:
        self._outgoing.put(line)

    def died(self) -> str | None:
        code = self.process.poll()
        return None if code is None else _ending(code)

    def close(self, grace: float) -> bool:
        self._outgoing.put(None)
        polite = self._ends_within(grace)
        for name in () if polite else ("SIGTERM", "SIGKILL"):
            self._signal(name)
            if self._ends_within(1.0):
                break
        self._signal("SIGKILL")  # what it started, and left behind
        for thread in self._threads:
            thread.join(1.0)
        return polite

    def _ends_within(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _signal(self, name: str) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, getattr(signal, name))
            else:
                self.process.kill()

    def _read(self) -> None:
        stream = _open(self.process.stdout)
        length = 0
        while length <= LONGEST_LINE and (piece := _read_some(stream)):
            *lines, rest = piece.split(b"\n")
            for line in lines:
                whole, self._half = b"".join([*self._half, line]), []
                self._on_line(whole)
                length = 0
            self._half.append(rest)
            length += len(rest)
        stream.close()
        if length > LONGEST_LINE:
            self._on_end("garbage", f"wrote {length >> 20} MB and was still", b"".join(self._half))
        else:
            self._on_end("died", self._how_it_ended(), b"".join(self._half))

    def _how_it_ended(self) -> str:
        if self._ends_within(0.5):
            return _ending(self.process.returncode)
        return "closed its stdout but still runs"

    def _write(self) -> None:
        stream = _open(self.process.stdin)
        with contextlib.suppress(OSError):  # the reader says that it is gone
            while (line := self._outgoing.get()) is not None:
                rest = memoryview(line.encode("utf-8", "backslashreplace") + b"\n")
                while rest:
                    rest = rest[stream.write(rest) or 0 :]
        with contextlib.suppress(OSError):
            stream.close()

    def _read_stderr(self) -> None:
        stream = _open(self.process.stderr)
        half = b""
        while piece := _read_some(stream):
            *lines, half = (half + piece).split(b"\n")
            self._tail.extend(_readable(line) for line in lines[-STDERR_LINES:])
            half = half[-STDERR_WIDTH * 4 :]
        if half:
            self._tail.append(_readable(half))
        stream.close()


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:  # cannot be: all three are pipes
        raise ValueError("no pipe")
    return stream


def _read_some(stream: IO[bytes]) -> bytes:
    try:
        return stream.read(65536)
    except (OSError, ValueError):
        return b""


def _readable(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip()[:STDERR_WIDTH]


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
