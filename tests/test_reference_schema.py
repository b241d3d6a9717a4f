"""The subset of JSON Schema: what fits, what does not, and what is refused; a second opinion from jsonschema."""

from __future__ import annotations

import itertools
import random
from typing import Any

import jsonschema
import pytest

from processor_contract.errors import InvalidSchema
from processor_contract.keywords import FORMATS, KEYWORDS
from processor_contract.schema import ANNOTATIONS, Schema

TREE = {"$defs": {"t": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
                        "required": ["of"], "additionalProperties": False}}, "$ref": "#/$defs/t"}  # fmt: skip
SCHEMAS: list[Any] = [
    True,
    False,
    {"type": "integer"},
    {"type": ["number", "null"]},
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"pattern": "^a+$"},
    {"pattern": r"\d[$]"},
    {"enum": [1, "a", None, [1.0], {"a": True}]},
    {"const": 1},
    {"const": {"a": [True]}},
    {"minimum": 1, "maximum": 2.5},
    {"exclusiveMinimum": 1, "exclusiveMaximum": 3},
    {"multipleOf": 0.5},
    {"multipleOf": 3},
    {"items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    {"prefixItems": [{"type": "string"}, True], "items": {"type": "null"}},
    {"uniqueItems": True},
    {"uniqueItems": False},
    {"properties": {"a": {"type": "integer"}, "b": False}, "required": ["a"]},
    {"properties": {"a": True}, "additionalProperties": {"type": "integer"}},
    {"properties": {"a": True}, "patternProperties": {"^b": {"type": "null"}}, "additionalProperties": False},
    {"propertyNames": {"maxLength": 1}, "minProperties": 1, "maxProperties": 1},
    {"allOf": [{"type": "integer"}, {"minimum": 2}]},
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"const": 1}}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
    {"not": {"type": ["object", "array"]}},
    {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n", "maximum": 1}}},
    {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}},
    {"definitions": {"a/b~c d": {"type": "null"}}, "$ref": "#/definitions/a~1b~0c%20d"},
    TREE,
    {"type": "object", "title": "t", "default": 1, "examples": ["x"], "$schema": "https://json-schema.org/x"},
]
VALUES: list[Any] = [
    None, True, False, 0, 1, 1.0, 2, 2.5, 3, 0.3, -1e308, "", "a", "aa", "aaaa", "b", "a\n", "1$", "٣$", [], [1],
    [1.0], [1, 1.0], [1, True], ["a"], ["a", 2, None], ["a", 2, 3], [1, 2, 3], [[1], [1]], {}, {"a": 1}, {"a": "x"},
    {"a": 1, "b": 2}, {"a": True}, {"a": [True]}, {"b": None}, {"bb": None}, {"of": []}, {"of": [], "x": 1},
    {"of": [{"of": []}, {"of": [1]}]}, {"of": [{"of": [{"of": []}]}]},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_it_finds_what_a_full_validator_finds(schema: Any) -> None:
    other = jsonschema.Draft202012Validator(schema)
    expected = {number: other.is_valid(value) for number, value in enumerate(VALUES)}
    expected |= {number: False for number, value in enumerate(VALUES) if disagreeing(schema, value)}

    assert expected == {number: Schema(schema).fault(value) is None for number, value in enumerate(VALUES)}


def disagreeing(schema: Any, value: Any) -> bool:
    """Where a pattern means another thing to Python than to JavaScript, whose words JSON Schema uses."""
    pattern = schema.get("pattern", "") if isinstance(schema, dict) else ""
    return (pattern, value) in [("^a+$", "a\n"), (r"\d[$]", "٣$")]


def test_random_schemas_and_values_get_the_same_verdict() -> None:
    chance = random.Random(5)
    for _ in range(300):
        schema = {"allOf": chance.sample([one for one in SCHEMAS if one is not TREE and "$ref" not in str(one)], 2)}
        wanted = chance.choice(("anyOf", "oneOf", "allOf"))
        schema = {wanted: [*schema["allOf"], {"not": {"enum": chance.sample(VALUES, 3)}}]}
        other = jsonschema.Draft202012Validator(schema)
        for value in chance.sample(VALUES, 8):
            if not any(disagreeing(one, value) for one in schema[wanted]):
                assert other.is_valid(value) == (Schema(schema).fault(value) is None), (schema, value)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "date-time",
            ["2026-01-02T03:04:05Z", "2026-01-02t03:04:05.678+01:00"],
            ["2026-01-02", "2026-13-02T03:04:05Z"],
        ),
        ("date", ["2026-02-28"], ["2026-02-30", "20260228", "٢٠٢٦-02-28"]),
        ("email", ["a@b.c"], ["a@b", "a b@c.d", "@b.c"]),
        ("uri", ["https://a/b", "mailto:a@b.c"], ["a/b", "https://a b", ""]),
        ("uuid", ["00000000-0000-4000-8000-000000000000"], ["0" * 32, "x" * 36]),
        ("ipv4", ["1.2.3.4"], ["1.2.3", "1.2.3.400"]),
        ("ipv6", ["::1"], ["1.2.3.4", ":::"]),
    ],
)
def test_formats_are_checked(name: str, good: list[str], bad: list[str]) -> None:
    schema = Schema({"format": name})

    assert [schema.fault(text) for text in good] == [None] * len(good)
    assert [schema.fault(text) for text in bad] == [f"the value is not written as a {name}"] * len(bad)


@pytest.mark.parametrize(
    ("step", "value", "fits"), [(0.1, 0.3, True), (0.1, 0.35, False), (3, 10**400, False), (0.5, 10**400, True)]
)
def test_multiples_are_those_of_the_numbers_as_written(step: Any, value: Any, fits: bool) -> None:
    assert fits is (Schema({"multipleOf": step}).fault(value) is None)


def test_every_format_is_tested() -> None:
    mark = next(one for one in test_formats_are_checked.pytestmark)  # type: ignore[attr-defined]

    assert {row[0] for row in mark.args[1]} == set(FORMATS)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "1", "args is of type string; it has to be of type integer"),
        ({"type": ["integer", "null"]}, 1.5, "args is of type number; it has to be of type integer or null"),
        ({"properties": {"a": {"items": {"minimum": 3}}}}, {"a": [3, 2]}, "args/a/1 is less than 3"),
        ({"required": ["a", "b", "c"]}, {"b": 1}, "args lacks 'a', 'c'"),
        ({"enum": ["C", "F"]}, "K", "args is none of ['C', 'F']"),
        ({"type": "number"}, float("nan"), "args is of type none; it has to be of type number"),
        (
            {"properties": {"a": True}, "additionalProperties": False},
            {"secret": 1},
            "args has a member that is not known; known are 'a'",
        ),
        (
            {"additionalProperties": {"type": "null"}},
            {"secret": 1},
            "args/* is of type integer; it has to be of type null",
        ),
        (
            {"propertyNames": {"maxLength": 2}},
            {"secret": 1},
            "the name of a member of args is longer than 2 characters",
        ),
        ({"oneOf": [True, True]}, 1, "args fits more than one alternative"),
        (
            {"anyOf": [{"type": "null"}, {"const": 2}]},
            1,
            "args is none of what is allowed there: args is of type integer; it has to be of type null; "
            "or args is not 2",
        ),
    ],
)
def test_a_fault_says_where_and_what_belongs_there(schema: Any, value: Any, expected: str) -> None:
    assert expected == Schema(schema).fault(value, "args")


@pytest.mark.parametrize("keyword", sorted(set(KEYWORDS) - {"enum", "const", "$ref", "$defs", "definitions"}))
def test_no_fault_quotes_the_value(keyword: str) -> None:
    strict: dict[str, Any] = {
        "type": "null", "properties": {"known": {"type": "null"}}, "required": ["b"], "additionalProperties": False,
        "patternProperties": {".": False}, "propertyNames": False, "minProperties": 9, "maxProperties": 0,
        "items": False, "prefixItems": [False], "minItems": 9, "maxItems": 0, "uniqueItems": True, "minLength": 99,
        "maxLength": 0, "pattern": "^$", "format": "date", "minimum": 99, "maximum": 0, "exclusiveMinimum": 99,
        "exclusiveMaximum": 0, "multipleOf": 99, "allOf": [False], "anyOf": [False], "oneOf": [False], "not": True,
    }  # fmt: skip
    values: list[Any] = ["secret", 42, ["secret", "secret"], {"other secret": "secret"}, {"known": "secret"}]
    faults = [Schema({keyword: strict[keyword]}).fault(value) for value in values]

    assert any(faults)
    assert not [fault for fault in faults if fault and ("secret" in fault or "42" in fault)]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "# is no schema"),
        ({"unevaluatedProperties": False}, "# has 'unevaluatedProperties', which is not checked here"),
        ({"properties": {"a": {"nullable": True}}}, "#/properties/a has 'nullable', which is not checked here"),
        ({"type": "text"}, "#/type is not in order; write one of null, boolean"),
        ({"type": []}, "#/type is not in order"),
        ({"type": [1]}, "#/type is not in order"),
        ({"items": [{"type": "null"}]}, "#/items is not in order; write a schema there"),
        ({"required": True}, "#/required is not in order; write a list of names there"),
        ({"minimum": "1"}, "#/minimum is not in order"),
        ({"exclusiveMinimum": True}, "#/exclusiveMinimum is not in order"),
        ({"minLength": -1}, "#/minLength is not in order"),
        ({"multipleOf": 0}, "#/multipleOf is not in order"),
        ({"pattern": "("}, "#/pattern is not in order; write a regular expression there"),
        ({"pattern": r"\p{L}"}, "#/pattern is not in order"),
        ({"format": "hostname"}, "#/format is not in order; write one of date-time"),
        ({"allOf": [1]}, "#/allOf/0 is no schema"),
        ({"anyOf": []}, "#/anyOf is not in order"),
        ({"$ref": "#/$defs/a"}, "there is no schema at '#/$defs/a'"),
        ({"$ref": "other.json#/a"}, "there is no schema at 'other.json#/a'"),
        ({"required": ["a"], "$ref": "#/required/0"}, "there is no schema at '#/required/0'"),
        ({"$ref": "#"}, "a schema refers to itself for the same value"),
        ({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}, "refers to itself"),
    ],
)
def test_what_nobody_would_check_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        Schema(schema)

    assert message in str(raised.value)


def test_a_schema_that_holds_itself_is_refused() -> None:
    schema: dict[str, Any] = {}
    schema["items"] = schema

    with pytest.raises(InvalidSchema, match="nested too deeply"):
        Schema(schema)


def test_a_value_nested_too_deeply_does_not_fit() -> None:
    deep: Any = {"of": []}
    for _ in range(20_000):
        deep = {"of": [deep]}

    assert Schema(TREE).fault(deep, "args") == "args is nested too deeply to be checked"


def test_a_schema_is_a_copy() -> None:
    document: dict[str, Any] = {"properties": {"a": {"type": "null"}}}
    schema = Schema(document)
    document["properties"]["a"]["type"] = "integer"

    assert schema.fault({"a": 1}) is not None


def test_keywords_and_annotations_are_apart() -> None:
    assert not set(KEYWORDS) & ANNOTATIONS


def test_the_page_names_every_keyword() -> None:
    from processor_contract import schema

    assert [name for name in itertools.chain(KEYWORDS) if f"`{name}`" not in (schema.__doc__ or "")] == [
        "$defs",
        "definitions",
    ]
