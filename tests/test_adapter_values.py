"""Values on the wire: tags and tokens outwards, templates and paths inwards."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from processor_contract import APICallError, MessageList, RequestContext, TripWire
from processor_contract.adapter.values import Objects, ScriptedError, camel, follow, read, snake
from processor_contract.errors import ContractError, HookFailed
from reference_kit import ids, message


def circular() -> dict[str, Any]:
    made: dict[str, Any] = {"n": 1}
    made["self"] = [made]
    return made


# -- outwards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param({"a": [1, "x", True, 1.5]}, {"a": [1, "x", True, 1.5]}, id="plain"),
        pytest.param((1, 2), [1, 2], id="tuple"),
        pytest.param(2**53, {"$bigint": str(2**53)}, id="big"),
        pytest.param(float("nan"), {"$number": "NaN"}, id="no number"),
        pytest.param(float("inf"), {"$number": "Infinity"}, id="no end"),
        pytest.param(-(2**53) + 1, -(2**53) + 1, id="not so big"),
        pytest.param({"$odd": 1}, {"$literal": {"$odd": 1}}, id="a key that looks like a tag"),
        pytest.param(datetime.datetime(2026, 1, 2), {"$date": "2026-01-02T00:00:00.000Z"}, id="date"),
        pytest.param(len, {"$function": "len"}, id="function"),
        pytest.param(circular(), {"n": 1, "self": [{"$circular": True}]}, id="circular"),
        pytest.param([[1]] * 2, [[1], [1]], id="the same twice is no cycle"),
        pytest.param({1: "a"}, {"1": "a"}, id="keys are texts"),
    ],
)
def test_a_value_is_written(value: Any, expected: Any) -> None:
    assert expected == Objects().encode(value)


def test_an_object_with_behaviour_is_its_token() -> None:
    objects, context = Objects(), RequestContext()

    assert {"$object": objects.token(context)} == objects.encode(context)


def test_an_object_keeps_its_token() -> None:
    objects, state = Objects(), dict[str, Any]()

    assert objects.token(state) == objects.token(state)


def test_two_objects_have_two_tokens() -> None:
    objects = Objects()

    assert objects.token({}) != objects.token({})


def test_a_token_finds_its_object() -> None:
    objects, state = Objects(), dict[str, Any]()

    assert state is objects.find(objects.token(state))


def test_an_unknown_token_is_refused() -> None:
    with pytest.raises(LookupError, match="no object has the token 'o9'"):
        Objects().find("o9")


def test_an_error_is_written_with_its_fields() -> None:
    error = APICallError("no", status_code=400, url="u")
    fields = {"statusCode": 400, "isRetryable": False, "url": "u", "responseBody": None}

    assert {"$error": {"name": "APICallError", "message": "no", **fields}} == Objects().encode(error)


def test_an_error_that_the_runner_made_keeps_its_token() -> None:
    objects = Objects()
    error = objects.make_error({"name": "Mine", "message": "no", "token": "e1"})

    assert objects.error(error) == {"name": "Mine", "message": "no", "token": "e1"}


def test_an_error_says_its_rule() -> None:
    assert Objects().error(HookFailed("p", "processInput", ValueError("x")))["rule"] == "ERR-9"


def test_the_causes_of_an_error_come_in_order() -> None:
    failed = HookFailed("p", "processInput", ValueError("x"))

    assert [one["name"] for one in Objects().chain(failed)] == ["HookFailed", "ValueError"]


def test_causes_in_a_circle_end() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one

    assert [each["message"] for each in Objects().chain(one)] == ["one", "other"]


# -- inwards -----------------------------------------------------------------------------------------------------------

PART = {"type": "text-delta", "payload": {"text": "x"}}
SCOPE: Any = {"messages": [message("a", "hi")], "part": PART}
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)


def decoded(template: Any, scope: Any = SCOPE) -> Any:
    return Objects().decode(template, scope)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, id="plain"),
        pytest.param({"$undefined": True}, None, id="undefined"),
        pytest.param({"$bigint": "12345678901234567890"}, 12345678901234567890, id="big"),
        pytest.param({"$number": "-Infinity"}, float("-inf"), id="no beginning"),
        pytest.param({"$literal": {"$odd": {"$bigint": "1"}}}, {"$odd": 1}, id="literal"),
        pytest.param({"$ref": "part/payload/text"}, "x", id="a reference to a text"),
        pytest.param({"$spread": {"$ref": "part"}, "with": {"type": "x"}}, {**PART, "type": "x"}, id="spread"),
        pytest.param({"$spread": {"a": 1}}, {"a": 1}, id="spread with nothing"),
        pytest.param({"$date": "2026-01-02T03:04:05.000Z"}, MOMENT, id="date"),
    ],
)
def test_a_template_is_read(template: Any, expected: Any) -> None:
    assert expected == decoded(template)


def test_a_reference_is_the_live_object() -> None:
    assert SCOPE["messages"][0] is decoded({"$ref": "messages/0"})


def test_a_spread_is_a_new_object() -> None:
    assert SCOPE["part"] is not decoded({"$spread": {"$ref": "part"}})


def test_a_circular_value_contains_itself() -> None:
    made = decoded({"$circular": True})

    assert made is made["self"]


def test_a_new_list_holds_its_messages() -> None:
    made = decoded({"$list": [message("x", "hi")]})

    assert (isinstance(made, MessageList), ids(made.everything())) == (True, ["x"])


def test_a_function_can_be_called() -> None:
    assert decoded({"$function": "name"})(1, 2) == "name"


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(ContractError, match=r"the template tag '\$odd' is unknown"):
        decoded({"$odd": 1})


@pytest.mark.parametrize("path", ["nothing", "messages/9", "messages/x", "part/payload/nothing", "part/type/deeper"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(LookupError, match=r"there is no .* in"):
        read(path, SCOPE)


def test_a_path_ends_in_a_container_and_a_key() -> None:
    assert (SCOPE["messages"], 0) == follow("messages/0", SCOPE)


@pytest.mark.parametrize(
    ("described", "kind"),
    [
        ({"name": "APICallError", "message": "m", "statusCode": 400}, APICallError),
        ({"name": "TripWire", "message": "m", "retry": True}, TripWire),
        ({"message": "m"}, ScriptedError),
    ],
)
def test_an_error_is_made(described: Any, kind: type) -> None:
    error = Objects().make_error(described)

    assert (kind, "m") == (type(error), str(error))


@pytest.mark.parametrize(("wire", "own"), [("retryCount", "retry_count"), ("id", "id")])
def test_names_on_the_wire(wire: str, own: str) -> None:
    assert (own, wire) == (snake(wire), camel(own))
