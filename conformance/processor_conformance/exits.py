"""How the command ends.

Flows in: nothing. Flows out: `Exit`, and the text of `--help` and the README's table about it.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes; what each says stands in `SAYS`."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1
    USAGE = 2
    NO_ADAPTER = 3
    SUITE_BUG = 4
    INTERRUPTED = 130


SAYS = {
    Exit.CONFORMANT: "conformant, or deviating only as known",
    Exit.NOT_CONFORMANT: "not conformant",
    Exit.USAGE: "usage: an unknown name, nothing selected, a wrong deviations file, a report that cannot be written",
    Exit.NO_ADAPTER: "the adapter did not start (at first, or three times in a row) or lacks the revision asked for",
    Exit.SUITE_BUG: "a bug of the suite, or a scenario that is not in its form",
    Exit.INTERRUPTED: "interrupted",
}
TEXT = "exit codes: " + "; ".join(f"{int(code)} {says}" for code, says in SAYS.items())
