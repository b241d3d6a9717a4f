"""Kills a writer at every single write: a traced child for each of them, stopped by the kernel before it happens.

Linux on x86-64 alone, by the C library's own `ptrace`. Flows in: what a child does. Flows out: how it ended.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import signal
import sys
from collections.abc import Callable
from typing import Any

TRACEME, PEEKUSER, SYSCALL, SETOPTIONS = 0, 3, 24, 0x4200
MARK_SYSCALLS = 1  # their stops are told from those of signals by a bit, 0x80
NUMBER = 15 * 8  # where the kernel keeps the number of the system call
WRITES = {1, 18, 20, 76, 77, 82, 87, 263}  # write, pwrite64, writev, truncate, ftruncate, rename, unlink, unlinkat
SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"


@functools.cache
def _ptrace() -> Any:
    function = ctypes.CDLL(None, use_errno=True).ptrace
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return function


def ptrace(request: int, process: int, address: int = 0, data: int = 0) -> int:
    """The system call; raises OSError where it is not allowed."""
    ctypes.set_errno(0)
    answer: int = _ptrace()(request, process, address, data)
    if answer == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), "ptrace is not allowed here")
    return answer


def begin() -> None:
    """From here on the parent sees what this child writes."""
    ptrace(TRACEME, 0)
    os.kill(os.getpid(), signal.SIGSTOP)


def killed_at(place: int, work: Callable[[Callable[[], None]], None]) -> bool:
    """Has a child do `work(begin)`, which calls `begin` where its writes begin to count, and kills it, with SIGKILL,
    when it is about to write for the time `place`, from 0. False where the child has come to its end before.
    """
    child = os.fork()
    if child == 0:
        try:
            work(begin)
        finally:
            os._exit(0)
    if not os.WIFSTOPPED(os.waitpid(child, 0)[1]):
        return False
    ptrace(SETOPTIONS, child, data=MARK_SYSCALLS)
    entering, seen = True, 0
    while True:
        ptrace(SYSCALL, child)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            return False
        if os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
            continue
        if entering and ptrace(PEEKUSER, child, NUMBER) in WRITES:
            if seen == place:
                os.kill(child, signal.SIGKILL)
                return os.WIFSIGNALED(os.waitpid(child, 0)[1])
            seen += 1
        entering = not entering
