"""What each pattern accepts, and where a value that does not fit goes wrong."""

from __future__ import annotations

import pytest

from processor_conformance.pattern import NOTHING, PatternError, closest, fit, fits
from processor_conformance.words import Json

UNDEFINED = {"$undefined": True}
FITTING: list[tuple[Json, Json]] = [
    (1, 1.0),
    ({"a": 1}, {"a": 1, "b": 2}),
    ([1, {"a": 1}], [1, {"a": 1, "b": 2}]),
    ({"$any": True}, None),
    ({"a": {"$absent": True}}, {}),
    ({"a": {"$absent": True}}, {"a": UNDEFINED}),
    ({"$exact": {}}, {}),
    ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1}}),
    ({"$exact": {"a": {"$any": True}}}, {"a": 5}),
    ({"$exact": {"a": 1}}, {"a": 1, "b": UNDEFINED}),
    ({"$oneOf": [1, 2]}, 2),
    ({"$unordered": [1, 2]}, [2, 1]),
    ({"$unordered": [{"$any": True}, 1]}, [1, 2]),
    ({"$contains": "ell"}, "hello"),
    ({"$contains": [2, 1]}, [1, 2, 3]),
    ({"$not": 1}, 2),
    ([{"$bind": "x"}, {"$bind": "x"}], ["v", "v"]),
    ([{"$bind": "x"}, {"$differs": "x"}], ["v", "w"]),
    ([{"$oneOf": [[{"$bind": "x"}, 1], [{"$any": True}, 2]]}, {"$bind": "x"}], [["v", 2], "w"]),
    ({"$date": "2026-01-02T03:04:05.000Z"}, {"$date": "2026-01-02T03:04:05.000Z"}),
]
MISSING: list[tuple[Json, Json]] = [
    (True, 1),
    (1, "1"),
    (None, UNDEFINED),
    ({"a": 1}, {}),
    ([1], [1, 2]),
    ([1, 2], [1]),
    ([], [1]),
    ({"a": {"$any": True}}, {}),
    ({"a": {"$any": True}}, {"a": UNDEFINED}),
    ({"a": {"$absent": True}}, {"a": None}),
    ({"$exact": {}}, {"a": 1}),
    ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}}),
    ({"$oneOf": [1, 2]}, 3),
    ({"$unordered": [1, 2]}, [1, 1]),
    ({"$unordered": [1]}, [1, 1]),
    ({"$contains": "x"}, "hello"),
    ({"$contains": "x"}, ["x"]),
    ({"$contains": [4]}, [1, 2, 3]),
    ({"$not": 1}, 1),
    ({"a": {"$not": 1}}, {}),
    ([{"$bind": "x"}, {"$bind": "x"}], ["v", "w"]),
    ([{"$bind": "x"}, {"$differs": "x"}], ["v", "v"]),
    ({"a": {"$bind": "x"}}, {}),
]


@pytest.mark.parametrize(("pattern", "value"), FITTING)
def test_fits(pattern: Json, value: Json) -> None:
    assert fit(pattern, value) is None


@pytest.mark.parametrize(("pattern", "value"), MISSING)
def test_does_not_fit(pattern: Json, value: Json) -> None:
    assert not fits(pattern, value)


@pytest.mark.parametrize(
    ("pattern", "value", "path", "expected", "came"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "/a/1/b", 2, 3),
        ({"a/b": 1}, {"a/b": 2}, "/a~1b", 1, 2),
        ([1], [1, 2], "/1", NOTHING, 2),
        ([1, 2], [1], "/1", 2, NOTHING),
        ({"$exact": {"a": {}}}, {"a": {"n": 1}}, "/a/n", NOTHING, 1),
    ],
)
def test_names_the_place(pattern: Json, value: Json, path: str, expected: Json, came: Json) -> None:
    found = fit(pattern, value)
    assert found is not None
    assert (path, expected, came) == (found.path, found.expected, found.came)


@pytest.mark.parametrize(
    ("pattern", "value", "path", "expected", "came"),
    [
        ({"a": {"$oneOf": [[1, 2], [3, 4]]}}, {"a": [3, 5]}, "/a/1", 4, 5),
        ({"$contains": [{"b": 1, "a": {"$contains": [[2]]}}]}, [{"b": 0}, {"b": 1, "a": [[3]]}], "/1/a/0/0", 2, 3),
        ({"$oneOf": [{"a": {"$exact": {"b": 1}}}, {"a": 1}]}, {"a": {"b": 1, "c": 2}}, "/a/c", NOTHING, 2),
        ({"a": {"$oneOf": [1, 2]}}, {"a": 3}, "/a", {"$oneOf": [1, 2]}, 3),
        ({"a": {"$oneOf": [[1], [2]]}}, {}, "/a", {"$oneOf": [[1], [2]]}, NOTHING),
        ({"$contains": [4]}, [1], "", {"$contains": [4]}, [1]),
        ([1], [2], "/0", 1, 2),
    ],
)
def test_of_a_choice_the_nearest_counts(pattern: Json, value: Json, path: str, expected: Json, came: Json) -> None:
    missed = fit(pattern, value)
    assert missed is not None
    found = closest(missed)
    assert (path, expected, came) == (found.path, found.expected, found.came)


def test_unordered_finds_the_one_assignment_that_works() -> None:
    assert fits({"$unordered": [{"$oneOf": [1, 2]}, {"$oneOf": [1, 3]}, 1]}, [1, 2, 3])


def test_a_name_is_bound_for_later_patterns() -> None:
    bindings: dict[str, Json] = {}
    fit({"$bind": "x"}, 1, bindings)
    assert bindings == {"x": 1}


def test_a_choice_that_fails_binds_nothing() -> None:
    bindings: dict[str, Json] = {}
    fit({"$oneOf": [[{"$bind": "x"}, 1], [{"$bind": "y"}, 2]]}, ["v", 2], bindings)
    assert bindings == {"y": "v"}


def test_a_name_that_is_not_bound_is_a_bug_of_the_scenario() -> None:
    with pytest.raises(PatternError, match="nothing was bound"):
        fit({"$differs": "x"}, 1)


def test_a_pattern_word_beside_other_members_is_a_bug_of_the_scenario() -> None:
    with pytest.raises(PatternError, match="stands beside other members"):
        fit({"$any": True, "a": 1}, 1)
