"""History: recalls a thread's messages before the user's processors, saves the request after them.

Flows in: a store. Flows out: remembered messages in the list; the finished request in the store.
"""

from __future__ import annotations

from dataclasses import dataclass

from .data import clone
from .errors import InvalidAgent
from .processor import InputArgs, OutputResultArgs, Processor
from .storage import Storage

HISTORY_ID = "message-history"


@dataclass(slots=True)
class Memory:
    """How an agent remembers. `last_messages`: how many are recalled, ten where nothing is said (PER-45), none with 0
    or False, all with None; what is saved does not depend on it (PER-41). `read_only`: recall, save nothing (PER-23).
    """

    storage: Storage
    last_messages: int | None = 10
    read_only: bool = False

    def __post_init__(self) -> None:
        limit = self.last_messages
        if limit is None or (isinstance(limit, int) and limit >= 0 and limit is not True):
            return
        raise InvalidAgent(f"last_messages is {limit!r}; use a number from 0, or None for all", "PER-41")


class MessageHistory(Processor):
    """The runtime's own processor: first in the input chain, last in the output chain (ORD-21)."""

    id = HISTORY_ID
    commits = True

    def __init__(self, memory: Memory, thread: str, resource: str) -> None:
        self._memory = memory
        self._thread = thread
        self._resource = resource

    def process_input(self, args: InputArgs) -> None:
        """Puts what the store remembers before the input (PER-19); where it fails nothing else runs (PER-39)."""
        limit = self._memory.last_messages
        recalled = self._memory.storage.read(self._thread, self._resource, None if limit is None else int(limit))
        args.message_list.remember(recalled)

    def process_output_result(self, args: OutputResultArgs) -> None:
        """Saves input and response, once, after every other processor (PER-1, PER-2); no failed request (PER-10)."""
        if self._memory.read_only or args.result["finishReason"] == "error":
            return
        unsaved = clone(args.message_list.unsaved())
        if unsaved:  # PER-46
            self._memory.storage.append(self._thread, self._resource, unsaved)
