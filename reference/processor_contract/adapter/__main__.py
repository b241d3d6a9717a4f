"""The adapter as a process: protocol lines on stdin and stdout."""

from __future__ import annotations

import os
import sys
import threading
from queue import SimpleQueue

from . import connect


def main() -> None:
    """Reads lines until stdin ends or the runner says `shutdown`; the reading thread writes nothing and waits for
    nothing.
    """
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", newline="\n")
    sys.stdout = sys.stderr  # what a user's code prints must not end up between the lines
    lines: SimpleQueue[str | None] = SimpleQueue()
    receive = connect(lines.put, ended=lambda: lines.put(None))

    def read() -> None:
        with open(sys.stdin.fileno(), encoding="utf-8", closefd=False) as stdin:
            for line in stdin:
                if line.strip():
                    receive(line)
        lines.put(None)

    threading.Thread(target=read, name="adapter-reader", daemon=True).start()
    while (line := lines.get()) is not None:
        out.write(line + "\n")
        if lines.empty():
            out.flush()
    out.flush()
    os._exit(0)  # runs that nobody waits for any more must not keep the process


if __name__ == "__main__":
    main()
