"""The adapter as a process: protocol lines on stdin and stdout."""

from __future__ import annotations

import os
import sys
import threading
from queue import SimpleQueue

from . import connect


def main() -> None:
    """Reads lines until stdin ends; the reading thread writes nothing and waits for nothing."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", newline="\n")
    sys.stdout = sys.stderr  # what a user's code prints must not end up between the lines
    lines: SimpleQueue[str | None] = SimpleQueue()

    def write() -> None:
        while (line := lines.get()) is not None:
            out.write(line + "\n")
            if lines.empty():
                out.flush()

    writer = threading.Thread(target=write, name="adapter-writer")
    writer.start()
    receive = connect(lines.put)
    try:
        with open(sys.stdin.fileno(), encoding="utf-8", closefd=False) as stdin:
            for line in stdin:
                if line.strip():
                    receive(line)
    except SystemExit:
        pass
    lines.put(None)
    writer.join(5)
    os._exit(0)  # runs that nobody waits for any more must not keep the process


if __name__ == "__main__":
    main()
