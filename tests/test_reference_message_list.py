"""MessageList: what reconciling leaves where, what becomes of bad messages, and which copies are made."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import InvalidMessage, MessageList
from reference_kit import ids, listed, message, parts

VIEW = "abcd"


def reconciled(returned: str, *, view: str = VIEW, entries: str = "abcd", source: str = "input") -> str:
    """The ids of a list of `entries` after the ids `returned` came back for the `view`."""
    made = listed(*entries)
    by_id = {one["id"]: one for one in made.everything()}
    messages = [by_id.get(id) or message(id, id) for id in returned]
    made.reconcile([by_id[id] for id in view], messages, source)  # type: ignore[arg-type]
    return "".join(ids(made.everything()))


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        pytest.param("abcd", "abcd", id="nothing changed"),
        pytest.param("abd", "abd", id="one is missing"),
        pytest.param("", "", id="all are missing"),
        pytest.param("abxcd", "abxcd", id="a new one follows its predecessor"),
        pytest.param("xabcd", "xabcd", id="a new one stands first"),
        pytest.param("abcdxy", "abcdxy", id="new ones at the end keep their order"),
        pytest.param("axd", "axd", id="a new one in the place of removed ones"),
        pytest.param("xy", "xy", id="all are new"),
        pytest.param("dcba", "dcba", id="another order"),
        pytest.param("cxab", "cxab", id="another order with a new one"),
    ],
)
def test_a_returned_array_is_the_view(returned: str, expected: str) -> None:
    assert expected == reconciled(returned)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        pytest.param("bd", "abcd", id="nothing changed"),
        pytest.param("b", "abc", id="one is missing"),
        pytest.param("", "ac", id="all are missing"),
        pytest.param("bxd", "abxcd", id="a new one follows its predecessor"),
        pytest.param("xbd", "axbcd", id="a new one stands where the view begins"),
        pytest.param("bdx", "abcdx", id="a new one at the end"),
        pytest.param("db", "adbc", id="another order forms a block where the view begins"),
        pytest.param("dxb", "adxbc", id="a block with a new one"),
        pytest.param("x", "axc", id="the view is replaced"),
    ],
)
def test_messages_outside_the_view_never_move(returned: str, expected: str) -> None:
    assert expected == reconciled(returned, view="bd")


def test_new_messages_for_an_empty_view_stand_at_the_end() -> None:
    assert reconciled("x", view="") == "abcdx"


def test_an_id_outside_the_view_is_replaced_where_it_stands() -> None:
    made = listed("a:memory", "b")
    made.reconcile([made.everything()[1]], [message("b", "b"), message("a", "new")], "response")

    assert [(one["id"], one["content"]["parts"][0]["text"]) for one in made.everything()] == [("a", "new"), ("b", "b")]


def test_an_id_outside_the_view_keeps_its_source() -> None:
    made = listed("a:memory", "b")
    made.reconcile([made.everything()[1]], [message("b", "b"), message("a", "new")], "response")

    assert made.source_of("a") == "memory"


def test_a_replaced_message_keeps_its_source() -> None:
    made = listed("a:memory")
    made.reconcile(made.everything(), [message("a", "new")], "response")

    assert made.source_of("a") == "memory"


def test_a_new_message_has_the_stages_source() -> None:
    made = listed("a:memory")
    made.reconcile(made.everything(), [*made.everything(), message("x", "x")], "response")

    assert made.source_of("x") == "response"


def test_a_message_taken_out_and_then_returned_keeps_its_source() -> None:
    made = listed("a:memory", "b")
    view = made.everything()
    made.remove_by_ids(["a"])
    made.reconcile(view, view, "input")

    assert (made.source_of("a"), "".join(ids(made.everything()))) == ("memory", "ab")


def test_a_message_added_since_the_view_was_given_stays() -> None:
    made = listed("a", "b")
    view = made.everything()
    made.add([message("x", "x")], "context")
    made.reconcile(view, view[1:], "input")

    assert "".join(ids(made.everything())) == "bx"


def test_an_id_that_comes_twice_is_refused() -> None:
    made = listed("a")

    with pytest.raises(InvalidMessage, match=r"message .a. comes twice.*\[MSG-5\]"):
        made.reconcile(made.everything(), [*made.everything(), *made.everything()], "input")


def test_a_returned_system_entry_becomes_a_system_message() -> None:
    system: Any = {"role": "system", "content": "Be brief."}
    made = listed("a")
    made.reconcile(made.everything(), [*made.everything(), system], "input")

    assert (
        made.get_all_system_messages(),
        ids(made.everything()),
    ) == ([{"role": "system", "content": "Be brief."}], ["a"])


@pytest.mark.parametrize("id", [None, "", "missing"])
def test_a_message_without_an_id_gets_one(id: str | None) -> None:
    made = MessageList(ids=lambda: "new")
    given: Any = message(None, "hi") if id == "missing" else {**message(None, "hi"), "id": id}
    made.add([given], "input")

    assert ids(made.everything()) == ["new"]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ("hello", "number 1 is a value of type str"),
        ({"role": "user", "content": "hi"}, "has content of type str"),
        ({"role": "user"}, "has no content"),
        ({"role": "robot", "content": {"parts": []}}, "has role 'robot'"),
        ({"role": "user", "id": 5, "content": {"parts": []}}, "has id of type (int|list); use a text"),
        ({"role": "user", "id": ["x"], "content": {"parts": []}}, "has id of type (int|list); use a text"),
        ({"role": "user", "content": {"parts": "hi"}}, "has (a part, content.parts.0.,|parts) of type str"),
        ({"role": "user", "content": {"parts": ["hi"]}}, "has (a part, content.parts.0.,|parts) of type str"),
        ({"role": "user", "content": {"parts": [{"type": "text", "text": 5}]}}, "whose text is of type int"),
        ({"role": "user", "content": {"parts": [{"type": "tool-invocation"}]}}, "without a toolInvocation"),
    ],
)
def test_a_bad_message_is_refused(bad: Any, text: str) -> None:
    with pytest.raises(InvalidMessage, match=rf"{text}.*\[MSG-29\]"):
        MessageList().add([bad], "input")


@pytest.mark.parametrize("nothing", [None, 5])
def test_what_is_no_message_at_all_is_refused(nothing: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"is no message; give a text, a message or several"):
        MessageList().add(nothing, "input")


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(InvalidMessage, match=r"message source 'mine' is unknown.*\[MSG-6\]"):
        MessageList().add("hi", "mine")  # type: ignore[arg-type]


def test_a_known_id_is_replaced_in_its_place_with_the_new_source() -> None:
    made = listed("a:memory", "b")
    made.add([message("a", "new")], "input")

    assert (ids(made.everything()), made.source_of("a")) == (["a", "b"], "input")


# -- copies ------------------------------------------------------------------------------------------------------------


def test_what_is_added_is_copied() -> None:
    given: Any = message("a", "hi")
    made = MessageList()
    made.add([given], "input")
    made.everything()[0]["content"]["parts"][0]["text"] = "changed"

    assert message("a", "hi") == given


def test_what_is_returned_is_copied() -> None:
    given: Any = message("x", "hi")
    made = listed("a")
    made.reconcile([], [given], "input")

    assert message("x", "hi") == given


def test_a_message_of_the_list_that_is_added_again_stays_itself() -> None:
    made = listed("a")
    own = made.everything()[0]
    made.add([own], "context")

    assert own is made.everything()[0]


def test_a_message_of_the_list_that_is_returned_stays_itself() -> None:
    made = listed("a", "b")
    own = made.everything()[0]
    made.reconcile(made.everything(), [own], "input")

    assert own is made.everything()[0]


def test_dicts_of_other_kinds_are_copied_too() -> None:
    class Ordered(dict):  # type: ignore[type-arg]
        """A dict of its own kind."""

    given: Any = Ordered(message("a", "hi"))
    given["content"] = Ordered(given["content"])
    made = MessageList()
    made.add([given], "input")
    made.everything()[0]["content"]["parts"].clear()

    assert len(given["content"]["parts"]) == 1


def test_an_updated_result_is_copied() -> None:
    made = MessageList()
    invocation = {"state": "call", "toolCallId": "c", "toolName": "add", "args": {}}
    made.add(
        [{"role": "assistant", "content": {"parts": [{"type": "tool-invocation", "toolInvocation": invocation}]}}],
        "response",
    )
    result = {"secret": 1}
    made.update_tool_invocation({"toolInvocation": {"toolCallId": "c", "state": "result", "result": result}})
    made.everything()[0]["content"]["parts"][0]["toolInvocation"]["result"].clear()

    assert result == {"secret": 1}


# -- flattened text ----------------------------------------------------------------------------------------------------


def flat(texts: list[str], content: str, change: Any) -> Any:
    """The flattened text of a message, read after a change of the message in the list."""
    made = MessageList()
    made.add(
        [{"id": "a", "role": "user", "content": {"format": 2, "parts": parts(*texts), "content": content}}], "input"
    )
    change(made, made.everything()[0])
    return made.everything()[0]["content"].get("content")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda made, one: None, "as it came", id="unchanged, byte for byte"),
        pytest.param(lambda made, one: one["content"]["parts"][0].update(text="x"), "xb", id="a part edited"),
        pytest.param(lambda made, one: one["content"]["parts"].pop(), "a", id="a part removed"),
        pytest.param(lambda made, one: one["content"]["parts"].clear(), "", id="all parts removed"),
        pytest.param(lambda made, one: one["content"]["parts"].extend(parts("c")), "abc", id="a part added"),
        pytest.param(
            lambda made, one: one["content"]["parts"].append({"type": "file"}), "as it came", id="no text added"
        ),
        pytest.param(
            lambda made, one: made.add([{**one, "content": {**one["content"], "parts": parts("x")}}], "input"),
            "x",
            id="replaced, with a stale text",
        ),
    ],
)
def test_the_flattened_text_follows_the_parts(change: Any, expected: str) -> None:
    assert expected == flat(["a", "b"], "as it came", change)


def test_a_message_without_flattened_text_gets_none() -> None:
    made = listed("a")
    made.everything()[0]["content"]["parts"][0]["text"] = "x"

    assert "content" not in made.everything()[0]["content"]


def test_a_message_of_flattened_text_alone_keeps_it() -> None:
    made = MessageList()
    made.add([{"id": "a", "role": "user", "content": {"content": "old"}}], "input")

    assert made.everything()[0]["content"] == {"content": "old"}


@pytest.mark.parametrize(
    "broken",
    [
        lambda one: one.update(id="other"),
        lambda one: one.pop("id"),
        lambda one: one.pop("content"),
        lambda one: one["content"].update(content="", parts=None),
        lambda one: one["content"].update(content="", parts=["x"]),
        lambda one: one["content"].update(content="", parts=[{"type": "text", "text": 5}]),
    ],
)
def test_a_message_broken_in_place_is_named(broken: Any) -> None:
    made = listed("a")
    broken(made.everything()[0])

    with pytest.raises(InvalidMessage, match=r"was edited into something that is none.*\[MSG-53\]"):
        made.everything()
