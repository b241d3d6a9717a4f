"""The command, from its arguments to its exit code, on a tiny implementation and on adapters that misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from processor_conformance import cli, commands, coverage, schema, supervisor
from processor_conformance.exits import Exit
from processor_conformance.words import Json

HERE = Path(__file__).resolve().parent
TINY = "python:runner_tiny:connect"
STREAM = "processOutputStream"


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, and adapters that find the tests' own modules."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), *sys.path]))


def text_start(processor: str) -> Json:
    return {"hook": STREAM, "processor": processor, "part": {"type": "text-start"}}


def write(folder: Path, name: str, *expected: str, **members: Json) -> None:
    """A scenario that expects text-start to reach these processors; tiny reaches one, then two."""
    raw = {
        "title": "Text reaches the processors",
        "rules": ["-".join(name.split("-")[:2])],
        "why": "It hurts.",
        "given": {
            "processors": {"one": {STREAM: []}, "two": {STREAM: []}},
            "outputProcessors": ["one", "two"],
            "model": [{"text": ["hi"]}],
        },
        "run": [{"input": "hello"}],
        "lens": {"work": [STREAM], "when": {"part": {"type": "text-start"}}},
        "expect": [{"work": [text_start(processor) for processor in expected]}],
        **members,
    }
    (folder / "ordering").mkdir(parents=True, exist_ok=True)
    (folder / "ordering" / f"{name}.json").write_text(json.dumps(raw))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two scenarios that tiny passes."""
    write(tmp_path / "mine", "ORD-3-in-order", "one", "two")
    write(tmp_path / "mine", "ORD-8-in-order", "one", "two", title="Another title")
    return tmp_path / "mine"


@pytest.fixture
def broken(folder: Path) -> Path:
    """One more, which it fails."""
    write(folder, "ORD-9-backwards", "two", "one")
    return folder


def run(folder: Path, *arguments: str, impl: str = TINY) -> int:
    return cli.main(["run", "--scenarios", str(folder), "--impl", impl, "--timeout", "2", *arguments])


def misbehaving(way: str) -> str:
    return f"{sys.executable} -m chaos.misbehaving {way}"


def test_an_implementation_that_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("conformant: tiny")


def test_an_implementation_that_fails(broken: Path) -> None:
    assert run(broken) == 1


def test_the_first_line_of_a_failing_run_names_the_rule(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(broken)
    assert capsys.readouterr().out.splitlines()[0].startswith("FAIL ORD-9 · ")


@pytest.mark.parametrize(
    ("arguments", "plays"),
    [
        ([], 4),
        (["ORD-3"], 2),
        (["ORD-3-in-order"], 2),
        (["ORD-3-in-order[stream]"], 1),
        (["ordering"], 4),
        (["ORD"], 4),
        (["--mode", "generate"], 2),
        (["-k", "ORD-3 and stream"], 1),
        (["-k", "not generate"], 2),
    ],
)
def test_what_is_played(folder: Path, tmp_path: Path, arguments: list[str], plays: int) -> None:
    run(folder, *arguments, "--json", str(tmp_path / "report.json"))
    assert len(json.loads((tmp_path / "report.json").read_text())["results"]) == plays


def test_x_stops_at_the_first_failure(broken: Path, tmp_path: Path) -> None:
    run(broken, "ORD-9", "-x", "--json", str(tmp_path / "report.json"))
    assert len(json.loads((tmp_path / "report.json").read_text())["results"]) == 1


def test_lf_plays_what_failed_last_time(broken: Path, tmp_path: Path) -> None:
    run(broken)
    run(broken, "--lf", "--json", str(tmp_path / "report.json"))
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    assert {result["item"] for result in results} == {"ORD-9-backwards[generate]", "ORD-9-backwards[stream]"}


def test_lf_without_a_failure_to_remember_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, "--lf")
    assert capsys.readouterr().err == (
        "--lf: no failure of these is remembered of this implementation; all are played\n"
    )


def test_lf_with_a_failure_to_remember_says_nothing(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(broken)
    run(broken, "--lf")
    assert capsys.readouterr().err == ""


def test_an_unknown_name_is_an_error_and_the_nearest_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "ORD-3-in-ordr") == 2
    assert "did you mean ORD-3-in-order" in capsys.readouterr().err


def test_a_name_that_is_not_played_in_the_mode(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "ORD-1-x", "one", "two", modes=["stream"])
    assert run(folder, "ORD-1-x", "--mode", "generate") == 2
    assert "ORD-1-x is not played in mode generate" in capsys.readouterr().err


@pytest.mark.parametrize("expression", ["nothing_like_it", "ORD-3 and ("], ids=["empty", "wrong"])
def test_an_empty_or_wrong_selection_is_an_error(folder: Path, expression: str) -> None:
    assert run(folder, "-k", expression) == 2


def test_a_capability_that_is_not_declared_is_not_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "ORD-1-x", "one", requires=["context-messages"])
    assert run(folder) == 0
    assert "needs what is not declared: context-messages" in capsys.readouterr().out


def test_nothing_but_what_is_not_declared_is_an_empty_selection(folder: Path) -> None:
    write(folder, "ORD-1-x", "one", requires=["context-messages"])
    assert run(folder, "ORD-1-x") == 2


@pytest.mark.parametrize("impl", ["no-such-command", misbehaving("dies-at-start"), "python:nothing:connect"])
def test_an_adapter_that_does_not_start(folder: Path, impl: str) -> None:
    assert run(folder, impl=impl) == 3


def test_what_an_adapter_wrote_before_it_died_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, impl=misbehaving("dies-at-start"))
    assert "cannot find my framework" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("way", "kind"), [("dies-in-run", "died"), ("hangs-in-run", "hung"), ("prints-in-run", "garbage")]
)
def test_a_fault_is_a_verdict_and_the_run_goes_on(folder: Path, tmp_path: Path, way: str, kind: str) -> None:
    arguments = ["--mode", "stream", "--timeout", "1", "--json", str(tmp_path / "report.json")]
    assert run(folder, *arguments, impl=misbehaving(way)) == 1
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    assert [(one["verdict"], one["message"].split(":")[0]) for one in results] == [("adapter-fault", kind)] * 2


def test_equal_faults_are_told_once_and_first(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broken, impl=misbehaving("prints-in-run")) == 1
    first, what, *others = capsys.readouterr().out.splitlines()
    assert first == "ADAPTER FAULT · 6 plays · first in ORD-3-in-order[generate]"
    assert ("a line that is no JSON" in what, "seen:" in "".join(others)) == (True, False)


def test_a_fault_is_said_as_it_happens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, "ORD-3", impl=misbehaving("prints-in-run"))
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "ORD-3-in-order[generate]", "ORD-3-in-order[stream]",
    ]  # fmt: skip


def test_progress_is_for_a_person_who_watches(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder, "ORD-3")
    unwatched = capsys.readouterr()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(folder, "ORD-3")
    watched = capsys.readouterr()
    assert (unwatched.err, "2/2 ORD-3-in-order[stream]" in watched.err, "2/2" in watched.out) == ("", True, False)


def test_a_play_that_ends_begins_the_count_of_hangs_anew(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "HANGS", 2)
    known, report = tmp_path / "hangs", tmp_path / "report.json"
    way = f"sh -c 'if [ -e {known} ]; then rm {known}; exec {misbehaving('hangs-in-run')}; fi; touch {known}; "
    impl = f"{way} exec {misbehaving('dies-in-run')}'"
    run(broken, "--timeout", "1", "--json", str(report), impl=impl)
    kinds = [one["message"].split(":")[0] for one in json.loads(report.read_text())["results"]]
    assert kinds == ["died", "hung"] * 3


def test_an_adapter_that_only_hangs_is_given_up(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervisor, "HANGS", 3)
    report = tmp_path / "report.json"
    assert run(broken, "--timeout", "1", "--json", str(report), impl=misbehaving("hangs-in-run")) == 1
    stopped = "stopped after 3 plays in a row that hung; 3 of 6 plays not played"
    assert stopped in capsys.readouterr().out.splitlines()
    found = json.loads(report.read_text())
    assert (len(found["results"]), found["message"]) == (3, stopped)


def test_an_adapter_that_does_not_start_again_ends_the_run(folder: Path, tmp_path: Path) -> None:
    once = tmp_path / "adapter.sh"
    once.write_text(f"[ -e {tmp_path}/begun ] && exit 1; touch {tmp_path}/begun; exec {misbehaving('dies-in-run')}")
    write(folder, "ORD-9-more", "one", "two", why="More.")
    assert run(folder, impl=f"sh {once}") == 3


def test_a_scenario_that_makes_no_sense_is_a_bug_of_the_suite(folder: Path) -> None:
    write(folder, "ORD-1-x", expect=[{"work": [{"hook": {"$differs": "x"}}]}])
    assert run(folder) == 4


@pytest.mark.parametrize("hook", ["processOutputResults", "processoutputstream"])
def test_a_scenario_out_of_form_judges_nobody(folder: Path, hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"processors": {"one": {hook: []}}, "outputProcessors": ["one"], "model": [{"text": ["hi"]}]}
    write(folder, "ORD-1-x", "one", given=given)
    assert run(folder) == 4
    ended = capsys.readouterr()
    assert (ended.out, f"ORD-1-x: /given/processors/one/{hook} is no member there" in ended.err) == ("", True)


def test_what_comes_when_the_session_is_closed_fails_its_play(folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert run(folder, "ORD-3", "--json", str(report), impl="python:runner_tiny:connect_late") == 1
    results = json.loads(report.read_text())["results"]
    assert [(one["verdict"], one["divergence"]["came"]) for one in results] == [("fail", {"type": "text-delta"})] * 2


def test_an_adapter_without_the_revision_is_not_played_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, impl="python:runner_tiny:connect_six") == 3
    assert "does not speak the revision nine-hook; ask for one it lists: --revision six-hook" in capsys.readouterr().err


def test_the_scenarios_of_the_revision_asked_for_are_played(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "ORD-9-new", "two", revision=["nine-hook"])
    report = tmp_path / "report.json"
    arguments = ["--revision", "six-hook", "--json", str(report)]
    assert run(folder, *arguments, impl="python:runner_tiny:connect_six") == 0
    found = json.loads(report.read_text())
    assert (found["revision"], len(found["results"])) == ("six-hook", 4)
    assert run(folder, "ORD-9-new", *arguments) == 2
    assert "ORD-9-new is not for the revision six-hook" in capsys.readouterr().err


def test_hooks_that_are_not_there_are_not_asked_for(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "ORD-9-other-hook", "two")
    path = folder / "ordering" / "ORD-9-other-hook.json"
    path.write_text(path.read_text().replace('"processOutputStream": []', '"processOutputStep": []'))
    report = tmp_path / "report.json"
    assert run(folder, "--json", str(report), impl="python:runner_tiny:connect_in_part") == 0
    found = json.loads(report.read_text())
    verdicts = {result["item"]: result["verdict"] for result in found["results"]}
    assert (found["lacks"], verdicts["ORD-9-other-hook[stream]"]) == (["processOutputStep"], "unsupported")
    assert capsys.readouterr().out.splitlines()[-1].startswith("partial: tiny 1.0 keeps")


def test_a_hook_that_there_is_not_is_no_hook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, impl="python:runner_tiny:connect_odd") == 3
    assert "the answer to initialize: /hooks/0 is 'processOutput', not one of " in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--junitxml"])
def test_a_report_that_cannot_be_written_is_said_before_the_run(
    folder: Path, tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, option, str(tmp_path / "nowhere" / "report")) == 2
    ended = capsys.readouterr()
    assert (ended.out, "name a file in a folder that is there" in ended.err) == ("", True)


def test_an_adapter_that_does_not_start_has_a_report_too(folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    run(folder, "--json", str(report), impl=misbehaving("dies-at-start"))
    found = json.loads(report.read_text())
    assert (found["exit"], found["implementation"], found["full"], found["results"]) == (3, None, False, [])
    assert "exit code 3" in found["message"]
    assert list(jsonschema.Draft202012Validator(schema.document("report")).iter_errors(found)) == []


def test_help_has_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["run", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert [code for code in Exit if f"{int(code)} " not in said] == []


def test_coverage_writes_nothing_without_the_mutants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "mutants", lambda: None)
    assert cli.main(["coverage", "--write"]) == 2
    assert "do make mutants ARGS=--write" in capsys.readouterr().err


def test_coverage_fails_where_the_specification_is_not_up_to_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "written", lambda text, found: f"{text}more")
    assert cli.main(["coverage"]) == 1
    assert "not those of today; do coverage --write" in capsys.readouterr().out


def test_the_json_report_is_as_its_schema_says(broken: Path, tmp_path: Path) -> None:
    run(broken, "--json", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text())
    assert list(jsonschema.Draft202012Validator(schema.document("report")).iter_errors(report)) == []


def test_the_junit_report_names_the_rule(broken: Path, tmp_path: Path) -> None:
    run(broken, "--junitxml", str(tmp_path / "junit.xml"))
    assert '<failure message="FAIL ORD-9 · ' in (tmp_path / "junit.xml").read_text("utf-8")


DEVIATIONS = """[[cause]]
id = "backwards"
shows = "It goes forwards"
rules = ["ORD-9"]

[[deviation]]
scenario = "ORD-9-backwards"
cause = "backwards"
reason = "It does not turn the array round."
instead = [
  {at = "/expect/0/work/0/processor", to = "one"},
  {at = "/expect/0/work/1/processor", to = "two"},
]
"""


def known(tmp_path: Path, text: str = DEVIATIONS) -> str:
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    return str(path)


def test_known_deviations_are_no_failure(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broken, "--deviations", known(tmp_path)) == 0
    assert "deviates         It goes forwards [ORD-9; 2 plays; backwards]" in capsys.readouterr().out


def test_a_stale_deviation_fails(folder: Path, tmp_path: Path) -> None:
    write(folder, "ORD-9-backwards", "one", "two", why="It is forwards.")
    assert run(folder, "--deviations", known(tmp_path)) == 1


ENDLESS = """
[[cause]]
id = "endless"
shows = "Its runs do not end."
rules = ["ORD-9"]

[[deviation]]
scenario = "ORD-9-ends"
cause = "endless"
reason = "It waits."
endless = true
instead = [{at = "/expect/0/outcome", remove = true}]
"""


@pytest.mark.parametrize(
    ("impl", "text", "expected"),
    [
        ("python:runner_tiny:connect_endless", ENDLESS, 0),
        ("python:runner_tiny:connect_endless", ENDLESS.replace("endless = true", ""), 1),
        (TINY, ENDLESS, 1),
    ],
)
def test_a_run_that_does_not_end_can_be_a_known_deviation(tmp_path: Path, impl: str, text: str, expected: int) -> None:
    ends = {"work": [text_start("one"), text_start("two")], "outcome": {"text": ""}}
    write(tmp_path / "mine", "ORD-9-ends", modes=["generate"], expect=[ends])
    assert run(tmp_path / "mine", "--deviations", known(tmp_path, text), "--timeout", "0.3", impl=impl) == expected


def test_a_wrong_deviations_file_is_an_error(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broken, "--deviations", known(tmp_path, DEVIATIONS.replace('backwards"\ncause', 'none"\ncause'))) == 2
    assert "there is no scenario 'ORD-9-none'" in capsys.readouterr().err


def test_an_update_proposes_what_explains_the_failures(broken: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    run(broken, "--deviations", str(path), "--update-deviations")
    path.write_text(path.read_text() + DEVIATIONS.split("[[deviation]]")[0].replace('"backwards"', '"unexplained"'))
    assert run(broken, "--deviations", str(path)) == 0


def test_a_proposal_counts_for_nothing_until_it_is_explained(broken: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    run(broken, "--deviations", str(path), "--update-deviations")
    assert run(broken, "--deviations", str(path)) == 2


def test_an_update_adds_to_a_known_deviation_what_it_leaves_over(broken: Path, tmp_path: Path) -> None:
    path = known(tmp_path, DEVIATIONS.replace('  {at = "/expect/0/work/1/processor", to = "two"},\n', ""))
    assert run(broken, "--deviations", path) == 1
    run(broken, "--deviations", path, "--update-deviations")
    assert run(broken, "--deviations", path) == 0


def test_an_update_takes_out_what_is_stale(folder: Path, tmp_path: Path) -> None:
    write(folder, "ORD-9-backwards", "one", "two", why="It is forwards.")
    path = known(tmp_path)
    run(folder, "--deviations", path, "--update-deviations")
    assert Path(path).read_text() == DEVIATIONS.split("\n[[deviation]]")[0]


def test_list_has_a_line_for_each_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["list", "--scenarios", str(folder)])
    assert capsys.readouterr().out.splitlines() == [
        "ORD-3-in-order  generate+stream  Text reaches the processors",
        "ORD-8-in-order  generate+stream  Another title",
    ]


def test_show_begins_with_the_scenario(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "ORD-3-in-order", "--scenarios", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "ORD-3-in-order  (generate, stream)"


def test_show_of_a_rule_lists_its_scenarios(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "ord-3", "--scenarios", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ORD-3 is a rule; what it says: processor-conformance explain ORD-3",
        "",
        "Its scenarios, for processor-conformance show:",
        "  ORD-3-in-order  Text reaches the processors",
    ]


def test_show_of_a_rule_without_scenarios_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "STA-3", "--scenarios", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "No scenario shows it."


def test_a_reader_that_has_had_enough_is_no_error(folder: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    words = [sys.executable, "-m", "processor_conformance", "list", "--scenarios", str(folder)]
    ended = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (Exit.INTERRUPTED, "")


def test_explain_begins_with_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "sta-1"]) == 0
    assert capsys.readouterr().out.startswith("STA-1 · ")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("sta", "STA, the rules of state\n\n  STA-1   "),
        ("one-state-for-all", "one-state-for-all, a mistake that was once made in a broken reference\n  A request has"),
    ],
)
def test_explain_knows_families_and_mistakes(name: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(what)


@pytest.mark.parametrize("arguments", [["show", "ORD-3-none"], ["explain", "ORD-999"]])
def test_what_is_not_there_cannot_be_shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    assert "there is no " in capsys.readouterr().err


def test_lint_says_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "ORD-3-should", "one", "two", title="It should hold")
    assert cli.main(["lint", "--scenarios", str(folder)]) == 1
    assert "ORD-3-should: its title says what holds" in capsys.readouterr().out


def test_record_checks_what_was_recorded(folder: Path, tmp_path: Path) -> None:
    arguments = ["record", "--scenarios", str(folder), "--impl", TINY, "--out", str(tmp_path / "kept")]
    assert [cli.main(arguments), cli.main([*arguments, "--check"])] == [0, 0]


def test_record_check_fails_without_a_recording(folder: Path, tmp_path: Path) -> None:
    arguments = ["record", "--scenarios", str(folder), "--impl", TINY, "--out", str(tmp_path / "kept")]
    assert cli.main([*arguments, "--check"]) == 1


def command(folder: Path, cwd: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "processor_conformance", "run", "--scenarios", str(folder), "--impl", TINY]
    return subprocess.run(
        [*words, *arguments], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


def test_somebody_elses_pytest_settings_change_nothing(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\ntestpaths = tests\n")
    (project / "conftest.py").write_text("raise SystemExit('never to be imported')\n")
    (project / "test_theirs.py").write_text("def test_theirs() -> None:\n    assert False\n")
    before = sorted(path.name for path in project.iterdir())
    ended = command(folder, project, PYTEST_ADDOPTS="--broken", PYTEST_PLUGINS="nowhere")
    assert (ended.returncode, ended.stderr, sorted(path.name for path in project.iterdir())) == (0, "", before)


def test_a_cache_that_cannot_be_written_changes_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = command(folder, tmp_path, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert (ended.returncode, ended.stderr) == (0, "")
