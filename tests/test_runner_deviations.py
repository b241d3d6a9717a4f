"""Deviations files: read, applied, proposed and rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from processor_conformance.deviations import Cause, Deviation, DeviationError, Deviations, apply, load
from processor_conformance.proposals import propose
from processor_conformance.trace import Trace
from processor_conformance.updating import Updates, as_toml, rewrite, update
from processor_conformance.verdict import judge
from processor_conformance.words import Json
from runner_kit import hook, item, scenario, trace

EXPECTED = scenario([{"work": [hook("a"), hook("b")], "outcome": {"text": "hi"}}], stored=[])
TEXT = """# What it breaks.

[[cause]]
id = "backwards"   # since 1.0
shows = "Output processors run backwards"
rules = ["ORD-3"]

# the first one
[[deviation]]
scenario = "ORD-3-in-order"
cause = "backwards"
reason = "It goes backwards."
instead = [
  {at = "/expect/0/work/0/processor", to = "b"},  # not a
]

# the second one
[[deviation]]
scenario = "ORD-3-again"
modes = ["stream", "generate"]
cause = "backwards"
reason = "Again."
invariant = "STR-1"
"""


def written(tmp_path: Path, text: str = TEXT) -> Path:
    path = tmp_path / "any.toml"
    path.write_text(text)
    return path


def test_reads_causes_and_entries(tmp_path: Path) -> None:
    found = load(written(tmp_path))
    assert (found.causes, found.entries) == (
        {"backwards": Cause("backwards", "Output processors run backwards", ("ORD-3",))},
        (
            Deviation(
                "ORD-3-in-order",
                "backwards",
                "It goes backwards.",
                instead=({"at": "/expect/0/work/0/processor", "to": "b"},),
            ),
            Deviation("ORD-3-again", "backwards", "Again.", modes=("stream", "generate"), invariants=("STR-1",)),
        ),
    )


def test_reads_null_from_a_text_of_json(tmp_path: Path) -> None:
    text = TEXT.replace('to = "b"', "to-json = 'null'")
    assert load(written(tmp_path, text)).entries[0].instead == ({"at": "/expect/0/work/0/processor", "to": None},)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [('id = "backwards"', "", "a table lacks 'id'"), ("[[cause]]", "[[cause", "any.toml: ")],
)
def test_says_what_is_wrong_with_a_file(tmp_path: Path, old: str, new: str, what: str) -> None:
    with pytest.raises(DeviationError, match=what):
        load(written(tmp_path, TEXT.replace(old, new)))


def test_two_entries_of_one_cause_for_one_mode_are_refused(tmp_path: Path) -> None:
    double = as_toml(Deviation("ORD-3-in-order", "backwards", "It is so.", ("stream",)))
    with pytest.raises(DeviationError) as refused:
        load(written(tmp_path, f"{TEXT}\n{double}"))
    assert str(refused.value).splitlines()[1:] == [
        "  ORD-3-in-order: the deviations number 1 ('It goes backwards.') and 3 ('It is so.') are both of the cause "
        "'backwards' in mode stream; make one of them"
    ]


@pytest.mark.parametrize(
    ("scenario", "mode", "cause"),
    [
        ("ORD-3-other", "stream", "backwards"),
        ("ORD-3-last", "generate", "backwards"),
        ("ORD-3-last", "stream", "sideways"),
    ],
)
def test_entries_of_another_scenario_mode_or_cause_stand_beside_each_other(
    tmp_path: Path, scenario: str, mode: str, cause: str
) -> None:
    entries = [Deviation("ORD-3-last", "backwards", "", ("stream",)), Deviation(scenario, cause, "", (mode,))]
    assert load(written(tmp_path, "\n".join(map(as_toml, entries)))).entries == tuple(entries)


def test_says_that_a_file_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DeviationError, match="there is no deviations file"):
        load(tmp_path / "none.toml")


def test_an_entry_concerns_its_modes() -> None:
    entry = Deviation(EXPECTED.id, "", "", modes=("stream",))
    assert [entry.concerns(item(EXPECTED, mode)) for mode in ("generate", "stream")] == [False, True]


@pytest.mark.parametrize(
    ("patch", "work"),
    [
        ({"at": "/expect/0/work/0/processor", "to": "c"}, [hook("c"), hook("b")]),
        ({"at": "/expect/0/work/0/n", "to": 1}, [hook("a", n=1), hook("b")]),
        ({"at": "/expect/0/work/0", "remove": True}, [hook("b")]),
        ({"at": "/expect/0/work/1", "insert": hook("x")}, [hook("a"), hook("x"), hook("b")]),
        ({"at": "/expect/0/work/-", "insert": hook("x")}, [hook("a"), hook("b"), hook("x")]),
    ],
)
def test_a_patch_changes_what_is_expected(patch: Json, work: Json) -> None:
    assert apply(EXPECTED, [Deviation(EXPECTED.id, "", "", instead=(patch,))]).expect[0]["work"] == work


def test_a_patch_leaves_the_scenario_itself_alone() -> None:
    apply(EXPECTED, [Deviation(EXPECTED.id, "", "", instead=({"at": "/expect/0/work", "to": []},))])
    assert EXPECTED.expect[0]["work"] == [hook("a"), hook("b")]


@pytest.mark.parametrize(
    "patch",
    [
        {"at": "/lens/work/0", "to": "other"},
        {"at": "/expect/0/work/7/processor", "to": "c"},
        {"at": "/expect/0/work/0", "to": 1, "remove": True},
        {"at": "/expect/0/work/0"},
    ],
    ids=["outside", "nowhere", "two things", "nothing"],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: Json) -> None:
    with pytest.raises(DeviationError, match="leads nowhere"):
        apply(EXPECTED, [Deviation(EXPECTED.id, "", "", instead=(patch,))])


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (Deviation("ORD-9-none", "c", ""), "there is no scenario 'ORD-9-none'"),
        (Deviation(EXPECTED.id, "none", ""), "there is no cause 'none'"),
        (Deviation(EXPECTED.id, "c", "", modes=("loud",)), "it is not played in mode 'loud'"),
        (Deviation(EXPECTED.id, "c", "", instead=({"at": "/x", "to": 1},)), "leads nowhere"),
    ],
)
def test_an_entry_that_names_what_is_not_there_is_refused(entry: Deviation, what: str) -> None:
    with pytest.raises(DeviationError, match=what):
        Deviations(None, {"c": Cause("c", "", ())}, (entry,)).check([EXPECTED])


def test_a_cause_that_explains_nothing_is_refused() -> None:
    with pytest.raises(DeviationError, match="cause 'c' explains no deviation"):
        Deviations(None, {"c": Cause("c", "", ())}).check([EXPECTED])


OUTCOME = {"outcome": {"text": "hi"}}
TRACES: dict[str, Trace] = {
    "another order": trace({"work": [hook("b"), hook("a")], **OUTCOME}),
    "an event more": trace({"work": [hook("a"), hook("x"), hook("b")], **OUTCOME}),
    "an event more at the end": trace({"work": [hook("a"), hook("b"), hook("x")], **OUTCOME}),
    "an event less": trace({"work": [hook("b")], **OUTCOME}),
    "none at all": trace({"work": [], **OUTCOME}),
    "another outcome": trace({"work": [hook("a"), hook("b")], "outcome": {"text": None}}),
    "an outcome without the member": trace({"work": [hook("a"), hook("b")], "outcome": {}}),
    "a broken invariant": trace({"work": [hook("a"), hook("b")], **OUTCOME, "client": [{"type": "text-delta"}]}),
    "a stuck gate": trace({"work": [hook("a"), hook("b")], **OUTCOME}, stuck_gates=["g"]),
}


@pytest.mark.parametrize("found", TRACES.values(), ids=TRACES.keys())
def test_a_proposal_accounts_for_what_came(found: Trace) -> None:
    proposed = propose(item(EXPECTED), found, [])
    assert judge(item(EXPECTED), found, [proposed]).kind == "deviation"


def test_a_proposal_says_what_an_event_has_instead() -> None:
    expected = scenario([{"work": [hook("a", state={"$exact": {}})]}])
    proposed = propose(item(expected), trace({"work": [hook("a", state={"n": 1})]}), [])
    assert proposed.instead == ({"at": "/expect/0/work/0/state/$exact/n", "to": 1},)


def test_a_proposal_never_names_a_made_up_value() -> None:
    expected = scenario(
        [{"work": [hook("a", tokens={"state": {"$bind": "s"}}), hook("a", tokens={"state": {"$bind": "s"}})]}]
    )
    proposed = propose(item(expected), trace({"work": [hook("a", tokens={"state": f"o{n}"}) for n in (1, 2)]}), [])
    assert proposed.instead == ({"at": "/expect/0/work/1/tokens/state", "to": {"$differs": "s"}},)


def test_a_proposal_never_names_an_implementations_own_words() -> None:
    came = {"work": [hook("a"), hook("b")], "outcome": {"text": {"says": "hi", "whose": "clif", "type": "text"}}}
    assert propose(item(EXPECTED), trace(came), []).instead == (
        {"at": "/expect/0/outcome/text", "to": {"says": "hi", "type": "text"}},
    )


def test_a_proposal_shows_of_a_new_event_what_the_others_show() -> None:
    expected = scenario([{"work": [hook("a", part={"type": "text"})]}])
    came = [hook("a", part={"type": "text", "id": "x"}), hook("a", part={"type": "more", "id": "y"}, n=1)]
    proposed = propose(item(expected), trace({"work": came}), [])
    assert proposed.instead == ({"at": "/expect/0/work/-", "insert": hook("a", part={"type": "more"})},)


def test_a_proposal_adds_to_an_entry_under_its_cause() -> None:
    known = Deviation(EXPECTED.id, "known", "So it is.", instead=({"at": "/expect/0/outcome/text", "to": "ho"},))
    found = trace({"work": [hook("b")], "outcome": {"text": "ho"}})
    proposed = propose(item(EXPECTED), found, [known])
    assert (proposed.cause, proposed.instead) == ("known", ({"at": "/expect/0/work/0", "remove": True},))


def test_an_entry_in_toml_reads_back_as_it_was(tmp_path: Path) -> None:
    entry = Deviation(
        "ORD-3-in-order",
        "c",
        'He said "no".\n',
        ("stream",),
        ({"at": "/expect/0/work/0", "insert": {"a b": [1, 1.5, True, {"$any": True}], "n": None}},),
        ("STR-1",),
        ("g",),
        sometimes=True,
        endless=True,
    )
    assert load(written(tmp_path, as_toml(entry))).entries == (entry,)


@pytest.mark.parametrize("value", [None, ["half \ud83d", {"a": None}], "whole \U0001f600"])
def test_what_toml_cannot_hold_is_written_as_json(tmp_path: Path, value: Json) -> None:
    entry = Deviation("ORD-3-again", "backwards", "Again.", instead=({"at": "/expect/0", "to": value},))
    assert load(written(tmp_path, as_toml(entry))).entries == (entry,)


AGAIN = scenario([{"work": [hook("a")]}], name="ORD-3-again")


def rewritten(tmp_path: Path, updates: Updates) -> str:
    return rewrite(TEXT, load(written(tmp_path)).entries, [EXPECTED, AGAIN], updates)


def test_nothing_new_changes_nothing(tmp_path: Path) -> None:
    assert rewritten(tmp_path, Updates()) == TEXT


def test_a_stale_entry_goes_with_its_comment(tmp_path: Path) -> None:
    first = load(written(tmp_path)).entries[0]
    stale = [(first, "generate"), (first, "stream")]
    expected = TEXT[: TEXT.index("# the first one")] + TEXT[TEXT.index("# the second one") :]
    assert rewritten(tmp_path, Updates(stale)) == expected


def test_an_entry_that_is_stale_in_one_mode_is_narrowed(tmp_path: Path) -> None:
    second = load(written(tmp_path)).entries[1]
    expected = TEXT.replace('modes = ["stream", "generate"]', 'modes = ["generate"]')
    assert rewritten(tmp_path, Updates([(second, "stream")])) == expected


def test_an_entry_for_all_modes_is_narrowed_too(tmp_path: Path) -> None:
    first = load(written(tmp_path)).entries[0]
    expected = TEXT.replace('"ORD-3-in-order"\n', '"ORD-3-in-order"\nmodes = ["stream"]\n')
    assert rewritten(tmp_path, Updates([(first, "generate")])) == expected


def test_what_an_entry_does_not_account_for_is_added_to_it(tmp_path: Path) -> None:
    second = load(written(tmp_path)).entries[1]
    updates = Updates()
    updates.add(Deviation("ORD-3-again", "backwards", "Again.", ("stream",), invariants=("STR-7",)), [second])
    both = as_toml(Deviation("ORD-3-again", "backwards", "Again.", ("stream",), invariants=("STR-1", "STR-7")))
    expected = TEXT.replace('modes = ["stream", "generate"]', 'modes = ["generate"]')
    assert rewritten(tmp_path, updates) == f"{expected}\n{both}\n"


def test_a_new_entry_comes_last(tmp_path: Path) -> None:
    new = Deviation("ORD-3-again", "unexplained", "", ("stream",), gates=("g",))
    assert rewritten(tmp_path, Updates(new=[new])) == f"{TEXT}\n{as_toml(new)}\n"


def test_entries_alike_in_all_modes_become_one(tmp_path: Path) -> None:
    new = [Deviation("ORD-3-again", "unexplained", "", (mode,), gates=("g",)) for mode in ("generate", "stream")]
    expected = as_toml(Deviation("ORD-3-again", "unexplained", "", gates=("g",)))
    assert rewritten(tmp_path, Updates(new=new)) == f"{TEXT}\n{expected}\n"


def test_an_entry_whose_scenario_is_gone_goes(tmp_path: Path) -> None:
    text = rewrite(TEXT, load(written(tmp_path)).entries, [AGAIN], Updates())
    assert text == TEXT[: TEXT.index("# the first one")] + TEXT[TEXT.index("# the second one") :]


def test_an_update_writes_a_file_that_was_not_there(tmp_path: Path) -> None:
    new = Deviation("ORD-3-again", "unexplained", "", gates=("g",))
    update(Deviations(tmp_path / "new.toml"), [AGAIN], Updates(new=[new]))
    assert load(tmp_path / "new.toml").entries == (new,)
