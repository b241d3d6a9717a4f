"""MessageList: the live conversation behind a run, its sources, its views, and how it may be changed.

Flows in: messages (from the caller, the store, processors and the model). Flows out: views of them, live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .context import Clock
from .data import Message, Part, clone, joined_text, moment, new_id, without_parts
from .errors import InvalidMessage, WrongReturn
from .message import (
    ROLES,
    check_message,
    check_whole,
    copied,
    fault_of_invocation,
    fault_of_message,
    name_of,
    system_message,
    unkeepable,
)
from .placing import placed
from .system_messages import SystemMessages
from .views import SOURCES, Source, Views

Messages = str | Message | Iterable[Message]
SourceOf = Callable[[str], Source]
STORED = ("input", "response")
CONVERSING = [role for role in ROLES if role != "system"]


@dataclass(slots=True)
class ResponseState:
    """What to set the response back to: its messages, live and as they were, and the order of all messages' ids."""

    messages: list[tuple[Message, Message]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


class MessageList(SystemMessages):
    """The conversation of one run: messages in order, each with a source, and system messages apart from them.

    `input` and `response` messages are stored, `memory` and `context` ones are not (PER-1, PER-12, PER-13). The list
    holds copies of what is added or returned, unless it is a message that the list already holds (PER-25): whoever
    keeps a message to use it again shares nothing with the run.
    """

    def __init__(
        self,
        thread: str | None = None,
        resource: str | None = None,
        ids: Callable[[], str] = new_id,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self.thread = thread
        self.resource = resource
        self.before_reading: Callable[[], None] = lambda: None
        self._new_id = ids
        self._clock = clock or Clock()
        self._messages: list[Message] = []
        self._source: dict[str, Source] = {}
        self._former: dict[str, Source] = {}  # of messages that were taken out: one that is returned later keeps it
        self._joined: dict[str, str] = {}

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def get(self) -> Views:
        """The views: `message_list.get.response.db()`."""
        return Views(self.of)

    def of(self, *sources: str) -> list[Message]:
        """The live messages with one of the sources, in the order of the list."""
        self.before_reading()
        self._follow_the_parts()
        return self.live(*sources)

    def live(self, *sources: str) -> list[Message]:
        """The same, as they stand, without bringing flattened or half-streamed texts up to date."""
        try:
            return [message for message in self._messages if self._source[message["id"]] in sources]
        except KeyError:
            self._follow_the_parts()  # says which one was broken
            raise

    def everything(self) -> list[Message]:
        """All messages but system ones: history, context, input, response (MSG-1, MSG-13, MSG-49)."""
        return self.of(*SOURCES)

    def response(self) -> list[Message]:
        """This run's response messages."""
        return self.of("response")

    def unsaved(self) -> list[Message]:
        """What a store should get: input and response, in the order of the list (PER-1, PER-15, PER-22), as every hook
        left them (PER-3, PER-4, PER-18, PER-29); system messages are kept apart (PER-8).
        """
        unsaved = self.of("input", "response")
        for message in unsaved:
            check_whole(message)
        return unsaved

    def broken(self) -> InvalidMessage | None:
        """What is wrong with the first message that was edited into none (MSG-53), or into what cannot be kept."""
        for message in self._messages:
            try:
                check_whole(message)
            except InvalidMessage as error:
                return error
            if message.get("id") not in self._source:
                return InvalidMessage(f"{name_of(message)} has lost its id; keep the one it had", "MSG-53")
        return None

    def source_of(self, message_id: str) -> Source | None:
        """Where the message came from; None for an id the list does not have."""
        return self._source.get(message_id)

    def _follow_the_parts(self) -> None:
        seen: set[str] = set()
        for place, message in enumerate(self._messages, 1):
            try:
                before, content = self._joined[message["id"]], message["content"]
                if fault_of_message(message) or message["role"] not in CONVERSING or message["id"] in seen:
                    raise KeyError(message["id"])
                seen.add(message["id"])
                if "content" in content:
                    joined = joined_text(content.get("parts", []))
                    if joined != before:
                        self._joined[message["id"]] = joined
                        content["content"] = joined  # PER-26: the flattened text follows the parts
            except Exception:  # whatever what is none does when it is looked at
                raise InvalidMessage(
                    f"{name_of(message, place)} was edited into something that is none; keep its id, role, content and "
                    "parts, or take it out and add another",
                    "MSG-53",
                ) from None

    # -- changing --------------------------------------------------------------------------------------------------

    def add(self, messages: Messages, source: Source) -> None:
        """Adds messages at the end; one whose id the list has takes that one's place, with the new source (MSG-6,
        PER-30). All of them, or none.

        A text becomes a user's message, a message of role `system` a system message (MSG-44). Raises `InvalidMessage`.
        """
        if source not in SOURCES:
            raise InvalidMessage(f"message source {source!r} is unknown; use one of {', '.join(SOURCES)}", "MSG-6")
        for message in self._conversation(self._as_messages(messages, lambda message_id: source)):
            self._put(message, source)

    def remember(self, messages: Sequence[Message]) -> None:
        """Puts recalled messages before everything else (PER-19). One that the input brings again is the remembered
        one, in the place that the input gave it (MSG-34).
        """
        place = 0
        for message in self._conversation(self._as_messages(messages, lambda message_id: "memory")):
            known = self._place_of(message["id"])
            if known is None:
                self._messages.insert(place, message)
            else:
                place = max(place, known)
                self._messages[known] = message
                del self._joined[message["id"]]
            place += 1
            self._note(message, "memory")

    def remove_by_ids(self, ids: Iterable[str]) -> list[Message]:
        """Takes the messages with these ids out (MSG-38) and returns them; unknown ids are ignored (MSG-39)."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise InvalidMessage(f"remove_by_ids got {ids!r:.99}; give it a list of ids", "MSG-54")
        unwanted = {one for one in ids if isinstance(one, str)}
        self.before_reading()
        removed = [message for message in self._messages if message["id"] in unwanted]
        self._messages = [message for message in self._messages if message["id"] not in unwanted]
        for message in removed:
            self._forget(message["id"])
        return removed

    def clear(self, *sources: Source) -> list[Message]:
        """Takes all messages of the sources out and returns them; without a source, all messages (MSG-39)."""
        for source in sources:
            if source not in SOURCES:
                raise InvalidMessage(f"message source {source!r} is unknown; use one of {', '.join(SOURCES)}", "MSG-6")
        return self.remove_by_ids([message["id"] for message in self.of(*(sources or SOURCES))])

    def update_tool_invocation(self, part: Part) -> bool:
        """Sets state and result of the tool invocation that has the part's `toolCallId` (TOOL-2, PER-17), and keeps its
        args (TOOL-19).

        `part` is `{"type": "tool-invocation", "toolInvocation": {toolCallId, state, result, ...}}`; a result without a
        state makes the state `result`, the state `output-error` takes a result away (TOOL-20). Says whether there was
        such a call. Raises `InvalidMessage` for what is no such part.
        """
        update: Any = part.get("toolInvocation") if isinstance(part, dict) else None
        fault = fault_of_invocation(update, ("toolCallId",))
        if fault is not None:
            raise InvalidMessage(f"update_tool_invocation got a part {fault}", "MSG-40")
        fault = unkeepable(update)
        if fault is not None:
            raise InvalidMessage(f"the tool invocation {update['toolCallId']!r:.99} {fault}", "MSG-30")
        found = self.find_invocation(update["toolCallId"])
        if found is None:
            return False
        invocation = found["toolInvocation"]
        invocation.update({key: clone(update[key]) for key in update if key != "args"})
        if "result" in update and update.get("state", "call") == "call":
            invocation["state"] = "result"  # MSG-40
        if invocation.get("state") == "output-error":
            invocation.pop("result", None)
        return True

    def find_invocation(self, tool_call_id: str) -> Part | None:
        """The live part of a tool call, the latest first; None where there is none."""
        for message in reversed(self._messages):
            for part in reversed(message["content"].get("parts", [])):
                invocation = part.get("toolInvocation")
                if isinstance(invocation, dict) and invocation.get("toolCallId") == tool_call_id:
                    return part
        return None

    def reconcile(self, view: Sequence[Message], returned: Sequence[Message], source: Source) -> None:
        """Makes the list say what a hook returned for its view of it (MSG-4), as if the hook had changed it (PER-6).

        `view` is what the hook was given. Ids missing from `returned` are removed (PER-5), known ids replaced, new ones
        added with `source` behind their predecessor. Messages outside the view never move; only a changed order puts
        the returned ones together, at the view's first place. Raises `InvalidMessage`, `WrongReturn` for an id that
        comes twice.
        """
        messages = self._conversation(self._as_messages(returned, lambda one: self._source_for(one, source), "MSG-5"))
        seen = [message["id"] for message in view if message["id"] in self._source]  # MSG-27: still there
        elsewhere = set(self._source) - set(seen)
        for message in messages:
            if message["id"] in elsewhere:
                self._put(message, self._source[message["id"]])  # MSG-18: where it stands
        messages = [message for message in messages if message["id"] not in elsewhere]
        self._messages = placed(self._messages, seen, messages)
        for one in set(seen).difference(message["id"] for message in messages):
            self._forget(one)
        for message in messages:
            self._note(message, self._source_for(message["id"], source))

    def _put(self, message: Message, source: Source) -> None:
        place = self._place_of(message["id"])
        if place is None:
            self._messages.append(message)
        else:
            self._messages[place] = message
        self._note(message, source)

    # -- the response ----------------------------------------------------------------------------------------------

    def open_response(self) -> Message:
        """The message that model output goes to: the last one if it is this run's response, else a new one (MSG-11).

        Its id is the one it is stored with and the caller gets (PER-35).
        """
        if self._messages:
            last = self._messages[-1]
            if last["role"] == "assistant" and self._source[last["id"]] == "response":
                return last
        return self.response_message(self._new_id())

    def response_message(self, message_id: str) -> Message:
        """The assistant message with this id; an unknown id opens a new one (DAT-6)."""
        if not isinstance(message_id, str) or not message_id:
            raise WrongReturn(f"message id {message_id!r} is no text; name a message, or a new id", "DAT-25")
        place = self._place_of(message_id)
        if place is not None:
            known = self._messages[place]
            if known["role"] != "assistant":
                raise WrongReturn(f"message {message_id!r} is no assistant's; name one, or a new id", "DAT-25")
            return known
        message: Message = {"id": message_id, "role": "assistant", "content": {"format": 2, "parts": [], "content": ""}}
        self._complete(message, lambda one: "response")
        self._put(message, "response")
        return message

    def response_state(self, *, deep: bool, without: Sequence[Part] = ()) -> ResponseState:
        """The response messages as they are now, but for the parts `without`, to set them back to; not deep: only what
        is added since can be undone.
        """
        unwanted = {id(part) for part in without}
        state = ResponseState(order=[message["id"] for message in self._messages])
        for message in self.response():
            was = without_parts(message, unwanted)
            state.messages.append((message, clone(was) if deep else was))
        return state

    def reset_response(self, state: ResponseState) -> None:
        """Sets the response back: what was added since goes, what was changed or removed is as it was (RTY-4)."""
        before = {was["id"]: (live, was) for live, was in state.messages}
        self.remove_by_ids([message["id"] for message in self.live("response") if message["id"] not in before])
        for live, was in before.values():
            for key in set(live) - set(was):
                del live[key]  # type: ignore[misc]
            live.update(was)
            self._joined.pop(live["id"], None)
            place = self._place_of(live["id"])
            if place is None:
                self._messages.insert(self._place_behind(state.order[: state.order.index(live["id"])]), live)
            else:
                self._messages[place] = live
            self._note(live, "response")

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _place_of(self, message_id: str) -> int | None:
        if message_id not in self._source:
            return None
        return next(at for at, message in enumerate(self._messages) if message["id"] == message_id)

    def _place_behind(self, ids: Sequence[str]) -> int:
        """The place behind the last of these that the list still has; the first place if it has none."""
        last = next((one for one in reversed(ids) if one in self._source), None)
        place = None if last is None else self._place_of(last)
        return 0 if place is None else place + 1

    def _note(self, message: Message, source: Source) -> None:
        self._source[message["id"]] = source
        if message["id"] not in self._joined:  # a message put in the place of another has to follow its own parts
            self._joined[message["id"]] = joined_text(message["content"].get("parts", []))

    def _forget(self, message_id: str) -> None:
        self._former[message_id] = self._source.pop(message_id)
        del self._joined[message_id]

    def _source_for(self, message_id: str, new: Source) -> Source:
        """The source of a returned message: its own, also where it was taken out meanwhile, else `new` (MSG-16)."""
        return self._source.get(message_id) or self._former.get(message_id, new)

    def _conversation(self, messages: list[Message]) -> list[Message]:
        """The messages without those of role `system`, which become system messages (MSG-8, MSG-44)."""
        for message in messages:
            if message["role"] == "system":
                self.add_system(system_message(message))
        return [message for message in messages if message["role"] != "system"]

    def _as_messages(self, messages: Messages, source_of: SourceOf, twice: str = "MSG-32") -> list[Message]:
        """What was handed in, as messages that are complete: copies (MSG-28), but for the list's own. Raises
        `InvalidMessage`, naming the message, and changes nothing then.
        """
        if isinstance(messages, str):
            parts: list[Part] = [{"type": "text", "text": messages}]
            messages = [{"role": "user", "content": {"format": 2, "parts": parts, "content": messages}}]
        several: Any = [messages] if isinstance(messages, dict) else messages
        if not isinstance(several, Iterable):
            raise InvalidMessage(f"{type(several).__name__} is no message; give a text, a message or several", "MSG-29")
        own = {id(message) for message in self._messages}
        taken: list[Message] = []
        ids: set[str] = set()
        for place, one in enumerate(several, 1):
            if id(one) in own:
                check_message(one, place)
            message = one if id(one) in own else copied(one, place)  # MSG-48: left as it is
            taken.append(message)
            if message["role"] != "system":
                self._complete(message, source_of)
                if message["id"] in ids:
                    raise InvalidMessage(f"{name_of(message)} comes twice; give each message its own id", twice)
                ids.add(message["id"])
        return taken

    def _complete(self, message: Any, source_of: SourceOf) -> None:
        """Gives a message what it lacks of an id, a date and its conversation (MSG-16). Raises `InvalidMessage` for one
        of another conversation that would be stored in this one (MSG-31).
        """
        message["id"] = message.get("id") or self._new_id()
        message["createdAt"] = message.get("createdAt") or moment(self._clock.now())
        for key, own in (("threadId", self.thread), ("resourceId", self.resource)):
            given = message.get(key)
            if own is not None and given is None:
                message[key] = own
            elif own not in (None, given) and source_of(message["id"]) in STORED:
                raise InvalidMessage(
                    f"{name_of(message)} has {key} {given!r:.99}, and this request {own!r:.99}; add it as context, or "
                    f"without {key}",
                    "MSG-31",
                )
