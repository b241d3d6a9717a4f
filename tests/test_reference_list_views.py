"""MessageList: views, removal, the response's state, and the system messages."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import MessageList
from reference_kit import ids, listed, message, parts

# -- views, removal, the response's state ------------------------------------------------------------------------------


def test_the_views_show_their_sources() -> None:
    made = listed("a:memory", "b:context", "c:input", "d:response")

    assert {view: ids(getattr(made.get, view).db()) for view in ("all", "input", "response", "remembered")} == {
        "all": ["a", "b", "c", "d"],
        "input": ["c"],
        "response": ["d"],
        "remembered": ["a"],
    }


def test_the_ui_and_core_formats_are_copies() -> None:
    made = listed("a")
    made.get.all.ui()[0]["parts"].clear()
    made.get.all.core()[0]["content"].clear()

    assert [{"id": "a", "role": "user", "parts": parts("a")}] == made.get.all.ui()


def test_clear_takes_out_the_messages_of_a_source() -> None:
    made = listed("a:memory", "b:input", "c:response")

    assert (ids(made.clear("input")), ids(made.everything())) == (["b"], ["a", "c"])


def test_unknown_ids_are_not_removed() -> None:
    assert listed("a").remove_by_ids(["x"]) == []


def reset(change: Any, *, deep: bool = True) -> MessageList:
    """A list after a change, with its response set back to what it was before it."""
    made = listed("u", "r1:response", "c:context", "r2:response")
    state = made.response_state(deep=deep)
    change(made)
    made.reset_response(state)
    return made


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda made: made.remove_by_ids(["r1"]), "u r1 c r2", id="removed"),
        pytest.param(lambda made: made.remove_by_ids(["r1", "u"]), "r1 c r2", id="removed with the one before it"),
        pytest.param(lambda made: made.remove_by_ids(["r1", "r2", "c"]), "u r1 r2", id="all removed"),
        pytest.param(lambda made: made.add([message("x", "x")], "response"), "u r1 c r2", id="added"),
        pytest.param(lambda made: made.add([message("x", "x")], "context"), "u r1 c r2 x", id="context stays"),
    ],
)
def test_a_response_set_back_stands_where_it_was(change: Any, expected: str) -> None:
    assert expected.split() == ids(reset(change).everything())


def test_a_response_set_back_says_what_it_said() -> None:
    made = reset(lambda made: made.of("response")[0].update(extra=1, content={"parts": []}))

    assert message("r1", "r1") == {key: made.everything()[1].get(key) for key in ("id", "role", "content")}


def test_a_response_set_back_shallowly_loses_what_was_added() -> None:
    made = reset(lambda made: made.of("response")[0]["content"]["parts"].append({"type": "x"}), deep=False)

    assert parts("r1") == made.everything()[1]["content"]["parts"]


def test_a_response_set_back_is_the_same_object() -> None:
    before: list[Any] = []
    made = reset(lambda made: before.append(made.everything()[1]))

    assert before[0] is made.everything()[1]


# -- system messages ---------------------------------------------------------------------------------------------------


def test_system_messages_come_by_tag_the_untagged_first() -> None:
    made = MessageList()
    made.add_system("tagged", "x")
    made.add_system("plain")

    assert [one["content"] for one in made.get_all_system_messages()] == ["plain", "tagged"]


def test_system_messages_are_handed_out_as_copies() -> None:
    made = MessageList()
    made.add_system("plain")
    made.get_all_system_messages()[0]["content"] = "changed"

    assert made.get_all_system_messages() == [{"role": "system", "content": "plain"}]


def test_a_structured_system_message_becomes_text() -> None:
    made = MessageList()
    made.add_system(message(None, "Be ", "brief.", role="system"))

    assert made.get_all_system_messages() == [{"role": "system", "content": "Be brief."}]
