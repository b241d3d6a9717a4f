"""MessageList: the live conversation behind a run, its sources, its views, and how it may be changed.

Flows in: messages (from the caller, the store, processors and the model). Flows out: views of them, live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

from .data import Message, Part, clone, joined_text, new_id, now
from .errors import InvalidMessage, WrongReturn

Source = Literal["input", "response", "memory", "context"]
Messages = str | Message | Iterable[Message]
SOURCES = get_args(Source)
ROLES = ("user", "assistant", "system", "signal")

VIEWS: dict[str, tuple[str, ...]] = {
    "all": SOURCES,
    "input": ("input",),
    "response": ("response",),
    "remembered": ("memory",),
}


class View:
    """One view of the list, in one of three formats."""

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages

    def db(self) -> list[Message]:
        """The messages themselves, live, in a fresh array (MSG-2)."""
        return list(self._messages)

    def ui(self) -> list[dict[str, Any]]:
        """Copies `{id, role, parts}`, for a user interface."""
        return [
            {"id": message["id"], "role": message["role"], "parts": clone(message["content"].get("parts", []))}
            for message in self._messages
        ]

    def core(self) -> list[dict[str, Any]]:
        """Copies `{role, content}`, where content is the list of parts."""
        return [{"role": item["role"], "content": clone(item["content"].get("parts", []))} for item in self._messages]


class Views:
    """`message_list.get`: the views `all`, `input`, `response` and `remembered`."""

    def __init__(self, message_list: MessageList) -> None:
        self._list = message_list

    all = property(lambda self: View(self._list.of(*VIEWS["all"])))
    input = property(lambda self: View(self._list.of(*VIEWS["input"])))
    response = property(lambda self: View(self._list.of(*VIEWS["response"])))
    remembered = property(lambda self: View(self._list.of(*VIEWS["remembered"])))


class MessageList:
    """The conversation of one run: messages in order, each with a source, and system messages apart from them.

    `input` and `response` messages are stored, `memory` and `context` ones are not (PER-1, PER-12, PER-13). The list
    holds what it is given: whoever puts something in makes the copy (PER-25).
    """

    def __init__(self, thread: str | None = None, resource: str | None = None, ids: Callable[[], str] = new_id) -> None:
        self.thread = thread
        self.resource = resource
        self.before_reading: Callable[[], None] | None = None
        self._new_id = ids
        self._messages: list[Message] = []
        self._source: dict[str, Source] = {}
        self._joined: dict[str, str] = {}
        self._system: dict[str | None, list[dict[str, Any]]] = {None: []}

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def get(self) -> Views:
        """The views: `message_list.get.response.db()`."""
        return Views(self)

    def of(self, *sources: str) -> list[Message]:
        """The live messages with one of the sources, in the order of the list."""
        if self.before_reading is not None:
            self.before_reading()
        self._follow_the_parts()
        return self.live(*sources)

    def live(self, *sources: str) -> list[Message]:
        """The same, as they stand, without bringing flattened or half-streamed texts up to date."""
        return [message for message in self._messages if self._source[message["id"]] in sources]

    def everything(self) -> list[Message]:
        """All messages but system ones: history, context, input, response (MSG-1)."""
        return self.of(*SOURCES)

    def response(self) -> list[Message]:
        """This run's response messages."""
        return self.of("response")

    def unsaved(self) -> list[Message]:
        """What a store should get: input and response, in the order of the list (PER-1, PER-15, PER-22), as every hook
        left them (PER-3, PER-4, PER-18, PER-29); system messages are kept apart (PER-8).
        """
        return self.of("input", "response")

    def source_of(self, message_id: str) -> Source | None:
        """Where the message came from; None for an id the list does not have."""
        return self._source.get(message_id)

    def _follow_the_parts(self) -> None:
        for message in self._messages:
            content = message["content"]
            if "content" in content:
                joined = joined_text(content.get("parts", []))
                if joined != self._joined[message["id"]]:
                    self._joined[message["id"]] = joined
                    content["content"] = joined  # PER-26: the flattened text follows the parts

    # -- changing --------------------------------------------------------------------------------------------------

    def add(self, messages: Messages, source: Source) -> None:
        """Adds messages at the end; one whose id the list has takes that one's place, with the new source (MSG-6,
        PER-30).

        A text becomes a user's message, a message of role `system` a system message. Raises `InvalidMessage`.
        """
        if source not in SOURCES:
            raise InvalidMessage(f"message source {source!r} is unknown; use one of {', '.join(SOURCES)}", "MSG-6")
        for message in self._as_messages(messages):
            if message["role"] == "system":
                self.add_system(system_message(message))
                continue
            place = self._place_of(message["id"])
            if place is None:
                self._messages.append(message)
            else:
                self._messages[place] = message
            self._note(message, source)

    def remember(self, messages: Sequence[Message]) -> None:
        """Puts recalled messages before everything else; ids the list already has stay as they are (PER-19)."""
        recalled = [message for message in messages if message["id"] not in self._source]
        self._messages[:0] = recalled
        for message in recalled:
            self._note(self._checked(message), "memory")

    def remove_by_ids(self, ids: Iterable[str]) -> list[Message]:
        """Takes the messages with these ids out and returns them; unknown ids are ignored."""
        unwanted = set(ids)
        removed = [message for message in self._messages if message["id"] in unwanted]
        self._messages = [message for message in self._messages if message["id"] not in unwanted]
        for message in removed:
            self._forget(message["id"])
        return removed

    def clear(self, *sources: Source) -> list[Message]:
        """Takes all messages of the sources out and returns them."""
        return self.remove_by_ids([message["id"] for message in self.of(*(sources or SOURCES))])

    def update_tool_invocation(self, part: Part) -> bool:
        """Sets state and result of the tool invocation that has the part's `toolCallId`, keeping its args (TOOL-2,
        PER-17).

        `part` is `{"type": "tool-invocation", "toolInvocation": {toolCallId, state, result, ...}}`. Says whether there
        was one.
        """
        update = part["toolInvocation"]
        found = self.find_invocation(update["toolCallId"])
        if found is None:
            return False
        found["toolInvocation"].update({key: value for key, value in update.items() if key != "args"})
        return True

    def find_invocation(self, tool_call_id: str) -> Part | None:
        """The live part of a tool call, the latest first; None where there is none."""
        for message in reversed(self._messages):
            for part in reversed(message["content"].get("parts", [])):
                invocation = part.get("toolInvocation")
                if invocation is not None and invocation.get("toolCallId") == tool_call_id:
                    return part
        return None

    def reconcile(self, view: Sequence[Message], returned: Sequence[Message], source: Source) -> None:
        """Makes the list say what a hook returned for its view of it (MSG-4), as if the hook had changed it (PER-6).

        Ids missing from `returned` are removed (PER-5), known ids replaced, new ones added with `source` behind their
        predecessor. Messages outside the view never move; only a changed order puts the returned ones together, at the
        view's first place. Raises `InvalidMessage`, `WrongReturn` for an id that comes twice.
        """
        messages = self._as_messages(returned)
        for system in [message for message in messages if message["role"] == "system"]:
            self.add_system(system_message(system))  # MSG-8
        messages = [message for message in messages if message["role"] != "system"]
        ids = [message["id"] for message in messages]
        if len(set(ids)) != len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise WrongReturn(f"message id {twice!r} was returned twice; give each message an id of its own", "MSG-5")
        seen = [message["id"] for message in view]
        by_id = {message["id"]: message for message in messages}
        elsewhere = set(self._source) - set(seen)
        for place, message in enumerate(self._messages):
            if message["id"] in elsewhere and message["id"] in by_id:
                self._replace(place, by_id[message["id"]])
        placed = [message for message in messages if message["id"] not in elsewhere]
        self._place(seen, placed)
        for message in placed:
            self._note(message, self._source.get(message["id"], source))

    def _place(self, seen: list[str], placed: list[Message]) -> None:
        """Lays out the returned messages among those outside the view."""
        in_view = set(seen)
        by_id = {message["id"]: message for message in placed}
        first = next((at for at, message in enumerate(self._messages) if message["id"] in in_view), len(self._messages))
        kept = [one for one in seen if one in by_id]
        for one in in_view - set(kept):
            self._forget(one)
        if kept == [message["id"] for message in placed if message["id"] in in_view]:
            followers = _followers(placed, in_view)
            laid: list[Message] = []
            for at, message in enumerate(self._messages):
                if at == first:
                    laid += followers.pop(None, [])
                if message["id"] not in in_view:
                    laid.append(message)
                elif message["id"] in by_id:
                    laid.append(by_id[message["id"]])
                    laid += followers.pop(message["id"], [])
            self._messages = laid + followers.pop(None, [])
        else:
            outside = [message for message in self._messages if message["id"] not in in_view]
            before = sum(1 for message in self._messages[:first] if message["id"] not in in_view)
            self._messages = outside[:before] + placed + outside[before:]

    def _replace(self, place: int, message: Message) -> None:
        self._messages[place] = message
        self._note(message, self._source[message["id"]])

    # -- system messages -------------------------------------------------------------------------------------------

    def add_system(self, message: str | dict[str, Any], tag: str | None = None) -> None:
        """Adds a system message, `{"role": "system", "content": text}` or the text, under a tag where one is given."""
        self._system.setdefault(tag, []).append(system_message(message))

    def get_system_messages(self, tag: str | None = None) -> list[dict[str, Any]]:
        """Copies of the system messages of one tag, or of the untagged ones."""
        return [clone(message) for message in self._system.get(tag, [])]

    def get_all_system_messages(self) -> list[dict[str, Any]]:
        """Copies of all system messages: the untagged, then those of each tag in the order they came (MSG-3)."""
        return [clone(message) for messages in self._system.values() for message in messages]

    def replace_all_system_messages(self, messages: Iterable[str | dict[str, Any]]) -> None:
        """Puts these in the place of all system messages, tagged ones included."""
        self._system = {None: [system_message(message) for message in messages]}

    def system_state(self) -> dict[str | None, list[dict[str, Any]]]:
        """A copy of all system messages with their tags, for `reset_system`."""
        return {tag: clone(messages) for tag, messages in self._system.items()}

    def reset_system(self, state: dict[str | None, list[dict[str, Any]]]) -> None:
        """Sets the system messages back (MSG-10)."""
        self._system = {tag: clone(messages) for tag, messages in state.items()}

    # -- the response ----------------------------------------------------------------------------------------------

    def open_response(self) -> Message:
        """The message that model output goes to: the last one if it is this run's response, else a new one (MSG-11).

        Its id is the one it is stored with and the caller gets (PER-35).
        """
        if self._messages:
            last = self._messages[-1]
            if last["role"] == "assistant" and self._source[last["id"]] == "response":
                return last
        message: Message = {"role": "assistant", "content": {"format": 2, "parts": [], "content": ""}}
        self.add([message], "response")
        return message

    def response_message(self, message_id: str) -> Message:
        """The assistant message with this id; an unknown id opens a new one (DAT-6)."""
        place = self._place_of(message_id)
        if place is not None:
            return self._messages[place]
        message: Message = {"id": message_id, "role": "assistant", "content": {"format": 2, "parts": [], "content": ""}}
        self.add([message], "response")
        return message

    def response_state(self, *, deep: bool) -> list[tuple[Message, Message]]:
        """The response messages as they are now, to set them back to; not deep: only what is added since can be
        undone.
        """
        return [(message, clone(message) if deep else _shallow(message)) for message in self.response()]

    def reset_response(self, state: list[tuple[Message, Message]]) -> None:
        """Sets the response back: what was added since goes, what was changed or removed is as it was (RTY-4)."""
        before = {live["id"]: (live, was) for live, was in state}
        self.remove_by_ids([message["id"] for message in self.response() if message["id"] not in before])
        for live, was in before.values():
            for key in set(live) - set(was):
                del live[key]  # type: ignore[misc]
            live.update(was)
            self._joined.pop(live["id"], None)
            place = self._place_of(live["id"])
            if place is None:
                self._messages.append(live)
            else:
                self._messages[place] = live
            self._note(live, "response")

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _place_of(self, message_id: str) -> int | None:
        if message_id not in self._source:
            return None
        return next(at for at, message in enumerate(self._messages) if message["id"] == message_id)

    def _note(self, message: Message, source: Source) -> None:
        self._source[message["id"]] = source
        if message["id"] not in self._joined:  # a message put in the place of another has to follow its own parts
            self._joined[message["id"]] = joined_text(message["content"].get("parts", []))

    def _forget(self, message_id: str) -> None:
        del self._source[message_id], self._joined[message_id]

    def _as_messages(self, messages: Messages) -> list[Message]:
        if isinstance(messages, str):
            parts: list[Part] = [{"type": "text", "text": messages}]
            return [self._checked({"role": "user", "content": {"format": 2, "parts": parts, "content": messages}})]
        several: Any = [messages] if isinstance(messages, dict) else messages
        return [self._checked(message) for message in several]

    def _checked(self, message: Message) -> Message:
        """The same message, complete: with an id, a date and its thread. Raises `InvalidMessage`, naming it."""
        check_message(message)
        if message["role"] == "system":
            return message
        message.setdefault("id", self._new_id())
        message.setdefault("createdAt", now())
        for key, value in (("threadId", self.thread), ("resourceId", self.resource)):
            if value is not None:
                message.setdefault(key, value)  # type: ignore[misc]
        return message


def check_message(message: Any) -> None:
    """Raises `InvalidMessage` unless it has a known role and structured content (MSG-7)."""
    if not isinstance(message, dict):
        raise InvalidMessage(f"a message is {type(message).__name__}; use a dict with role and content", "MSG-7")
    name = f"message {message.get('id', '(without id)')!r}"
    if message.get("role") not in ROLES:
        raise InvalidMessage(f"{name} has role {message.get('role')!r}; use one of {', '.join(ROLES)}", "MSG-7")
    content = message.get("content")
    if message["role"] == "system" and isinstance(content, str):
        return
    if not isinstance(content, dict):
        found = "no content" if content is None else f"content of type {type(content).__name__}"
        raise InvalidMessage(f"{name} has {found}; use {{'format': 2, 'parts': [...]}}", "MSG-7")
    parts = content.get("parts", [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidMessage(f"{name} has parts that are no list of dicts", "MSG-7")


def system_message(message: Any) -> dict[str, Any]:
    """A system message `{"role": "system", "content": text}` made of a text, of one like it, or of a message."""
    if isinstance(message, str):
        return {"role": "system", "content": message}
    check_message(message)
    content = message["content"]
    if isinstance(content, dict):
        content = joined_text(content.get("parts", [])) or content.get("content", "")
    return {**{key: value for key, value in message.items() if key != "content"}, "role": "system", "content": content}


def _followers(placed: list[Message], in_view: set[str]) -> dict[str | None, list[Message]]:
    """The new messages, by the id of the kept one they follow (None: they stand first)."""
    followers: dict[str | None, list[Message]] = {}
    predecessor: str | None = None
    for message in placed:
        if message["id"] in in_view:
            predecessor = message["id"]
        else:
            followers.setdefault(predecessor, []).append(message)
    return followers


def _shallow(message: Message) -> Message:
    content = message["content"]
    copied: Any = {**message, "content": {**content, "parts": list(content.get("parts", []))}}
    return copied  # type: ignore[no-any-return]
