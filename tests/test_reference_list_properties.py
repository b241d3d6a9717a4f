"""MessageList, whatever is done to it: ids stay unique, order stays as the rules say, views agree, and a store gives
back what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processor_contract import InMemoryStorage, InvalidMessage, MessageList, SQLiteStorage
from processor_contract.data import clone, joined_text
from processor_contract.views import SOURCES
from reference_kit import ids

NAMES = "abcdefgh"
names = st.sampled_from(NAMES)
sources = st.sampled_from(SOURCES)
texts = st.text(max_size=8)  # without halves of surrogate pairs
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": texts}, optional={"weight": values}),
    st.fixed_dictionaries({"type": st.just("reasoning"), "reasoning": texts}),
    st.fixed_dictionaries({"type": st.sampled_from(["data-x", "x-map", "step-start"])}, optional={"data": values}),
    st.builds(
        lambda name, args, answer: {
            "type": "tool-invocation",
            "toolInvocation": {"toolCallId": name, "toolName": "t", "args": args, **answer},
        },
        names,
        values,
        st.just({"state": "call"}) | st.fixed_dictionaries({"state": st.just("result"), "result": values}),
    ),
)
contents = st.fixed_dictionaries({"parts": st.lists(parts, max_size=3)}, optional={"content": texts, "pinned": values})
roles = st.sampled_from(["user", "assistant", "signal"])
messages = st.builds(lambda name, role, content: {"id": name, "role": role, "content": content}, names, roles, contents)
several = st.lists(messages, max_size=4, unique_by=lambda one: str(one["id"]))

# What is done: its name, and what it needs.
operations = st.one_of(
    st.tuples(st.just("add"), several, sources),
    st.tuples(st.just("remember"), several),
    st.tuples(st.just("remove"), st.lists(names, max_size=3)),
    st.tuples(st.just("clear"), sources),
    st.tuples(st.just("edit"), st.integers(0, 9), parts),
    st.tuples(st.just("update"), names, values),
    st.tuples(st.just("return"), st.lists(sources, min_size=1, unique=True), st.permutations(NAMES), several, sources),
    st.tuples(st.just("system"), texts),
    st.tuples(st.just("reset"), st.booleans(), several),
)


VIEWS = {"all": SOURCES, "input": ("input",), "response": ("response",), "remembered": ("memory",)}


class Doing:
    """Each operation, done to a list; what it has to leave behind is asserted on the spot."""

    def __init__(self) -> None:
        self.list = MessageList("t", "r")

    def add(self, given: Any, source: Any) -> None:
        before, kept = ids(self.list.everything()), clone(given)
        self.list.add(given, source)
        assert kept == given  # what is handed in stays its owner's
        assert [*before, *(one for one in ids(given) if one not in before)] == ids(self.list.everything())
        assert {source} >= {self.list.source_of(one) for one in ids(given)}

    def remember(self, recalled: Any) -> None:
        before = ids(self.list.everything())
        self.list.remember(recalled)
        after = ids(self.list.everything())
        assert before == [one for one in after if one in before]
        assert {"memory"} >= {self.list.source_of(one) for one in ids(recalled)}

    def remove(self, unwanted: list[str]) -> None:
        before = self.list.everything()
        removed = self.list.remove_by_ids(unwanted)
        assert [one for one in ids(before) if one in unwanted] == ids(removed)
        assert [one for one in ids(before) if one not in unwanted] == ids(self.list.everything())

    def clear(self, source: Any) -> None:
        assert ids(self.list.of(source)) == ids(self.list.clear(source))
        assert self.list.of(source) == []

    def edit(self, at: int, part: Any) -> None:
        live = self.list.everything()
        if live:
            live[at % len(live)]["content"]["parts"].append(part)

    def update(self, name: str, result: Any) -> None:
        found = self.list.find_invocation(name)
        args = clone(found["toolInvocation"]["args"]) if found else None
        part = {"toolInvocation": {"toolCallId": name, "args": "forged", "result": result}}
        assert (found is not None) == self.list.update_tool_invocation(part)
        if found is not None:
            kept = {"state": "result", "toolCallId": name, "toolName": "t", "args": args, "result": result}
            assert kept == found["toolInvocation"]

    def returned(self, seen: list[Any], order: Sequence[str], new: Any, source: Any) -> None:
        before, view = ids(self.list.everything()), self.list.of(*seen)
        own = {one["id"]: one for one in view}
        given = [*(own[name] for name in order if name in own), *(one for one in new if one["id"] not in own)]
        given = given[len(given) // 4 :]  # some are left out
        origin = {name: self.list.source_of(name) for name in before}
        self.list.reconcile(view, given, source)
        check_places(before, ids(view), ids(given), ids(self.list.everything()))
        assert {name: origin[name] for name in ids(given) if name in origin} == {
            name: self.list.source_of(name) for name in ids(given) if name in origin
        }

    def system(self, text: str) -> None:
        before = self.list.get_all_system_messages()
        self.list.add_system(text)
        assert [*before, {"role": "system", "content": text}] == self.list.get_all_system_messages()

    def reset(self, deep: bool, added: Any) -> None:
        before = clone(self.list.everything())
        state = self.list.response_state(deep=deep)
        self.list.add([one for one in added if self.list.source_of(one["id"]) is None], "response")
        self.list.reset_response(state)
        assert before == self.list.everything()


def check_places(before: list[str], view: list[str], returned: list[str], after: list[str]) -> None:
    """Where messages stand after `returned` came back for `view` (MSG-4, MSG-17, MSG-18)."""
    outside = [one for one in before if one not in view]
    placed = [one for one in returned if one not in outside]
    assert sorted({*outside, *returned}) == sorted(after)
    assert outside == [one for one in after if one in outside]
    assert placed == [one for one in after if one in placed]
    kept = [one for one in placed if one in view]
    if kept == [one for one in view if one in placed]:
        assert [one for one in before if one in outside or one in kept] == [
            one for one in after if one in outside or one in kept
        ]
    else:
        first = after.index(placed[0])
        assert placed == after[first : first + len(placed)]


def check(made: MessageList) -> None:
    """What holds after everything: unique ids, views that agree, flattened texts that follow."""
    everything = made.get.all.db()
    assert len(everything) == len(set(ids(everything)))
    for view, shown in VIEWS.items():
        expected = [one for one in everything if made.source_of(one["id"]) in shown]
        assert expected == getattr(made.get, view).db()
        assert ids(expected) == ids(getattr(made.get, view).ui())
        assert {"user", "assistant", "tool"} >= {one["role"] for one in getattr(made.get, view).core()}
    for one in everything:
        assert {"id", "createdAt", "threadId", "resourceId"} <= set(one)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(operations, max_size=12))
def test_whatever_is_done_to_a_list(done: list[Any]) -> None:
    doing = Doing()
    for name, *arguments in done:
        getattr(doing, "returned" if name == "return" else name)(*arguments)
        check(doing.list)
    unsaved = clone(doing.list.unsaved())
    with closing(SQLiteStorage(":memory:")) as file:
        for store in (InMemoryStorage(), file):
            store.append("t", "r", unsaved)
            reloaded = MessageList("t", "r")
            reloaded.remember(store.read("t", "r"))
            assert unsaved == reloaded.get.remembered.db()


@settings(max_examples=100, deadline=None)
@given(several, contents)
def test_edited_parts_and_flattened_text_agree(given: Any, content: Any) -> None:
    made = MessageList()
    made.add(given, "input")
    for one in made.everything():
        one["content"]["parts"] = [*content["parts"], {"type": "text", "text": "edited"}]

    flattened = [one["content"]["content"] for one in made.everything() if "content" in one["content"]]
    assert [joined_text(content["parts"]) + "edited"] * len(flattened) == flattened


@settings(max_examples=200, deadline=None)
@given(values | st.lists(values) | st.dictionaries(st.sampled_from(["id", "role", "content", "createdAt"]), values))
def test_what_is_no_message_is_refused_with_its_rule(odd: Any) -> None:
    made = MessageList()
    with pytest.raises(InvalidMessage) as raised:
        made.add([odd], "input")

    assert raised.value.rule in ("MSG-29", "MSG-30")
    assert made.everything() == []


def test_depth_and_cycles_end() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    round_about: Any = {"one": {}, "two": {}}
    round_about["one"]["again"] = round_about["two"]["again"] = round_about
    for odd in (deep, round_about):
        with pytest.raises(InvalidMessage, match=r"message 'm' is nested deeper.*\[MSG-30\]"):
            MessageList().add([{"id": "m", "role": "user", "content": {"parts": [{"type": "x", "odd": odd}]}}], "input")
