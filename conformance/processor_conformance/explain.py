"""`show` and `explain`: a scenario, a rule, a family or a mistake, for somebody who has never seen the project.

Flows in: one of them, with what belongs to it. Flows out: lines of text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from . import prose
from .pattern import operator
from .report import Mutants
from .scenario import Scenario
from .spec import FAMILIES, Rule
from .telling import WIDTH
from .words import ARRAYS, HOOKS, Json

SCRIPTED = (*HOOKS, "onViolation")
ABOUT = {
    "work": "what is called (hooks, tools, callbacks, the store)",
    "client": "what the client gets (in mode stream)",
    "provider": "what the model is asked",
    "spans": "its trace, in the order in which spans began",
}
WORDS = {
    "document": "the documents",
    "decision": "our decisions, where the documents leave it open",
    "observed": "observation",
}


def show(scenario: Scenario, spec: dict[str, Rule]) -> list[str]:
    """A scenario as a timeline: what is given, what is done, what has to be seen, in order."""
    raw = scenario.raw
    lines = [f"{scenario.id}  ({', '.join(scenario.modes)})", scenario.title, ""]
    lines += _paragraph("Why it matters: ", raw.get("why", ""))
    lines += ["", "Given", *_given(raw["given"]), "", "Done"]
    lines += [
        f"  {line}" for name, call in zip(scenario.run_names, scenario.calls, strict=True) for line in _call(name, call)
    ]
    lines += [
        "",
        *_looked_at(scenario.lens),
        "",
        "Expected: each list is complete and in order; <name> is one value throughout",
    ]
    for name, expected in zip(scenario.run_names, scenario.expect, strict=True):
        lines += _expected(f"run {name}", expected)
    lines += [line for entry in scenario.stored for line in _stored(entry)]
    lines += ["", *_control(raw.get("twin"))]
    for rule in scenario.rules:
        lines += _rule(spec[rule]) if rule in spec else [rule]
    return lines


def _given(given: dict[str, Json]) -> list[str]:
    lines = []
    for name, label in (("inputProcessors", "input"), ("outputProcessors", "output"), ("errorProcessors", "error")):
        array = given.get(name)
        if isinstance(array, dict) and "$callback" in array:
            lines += _item(f"{label} processors: a function that {'; '.join(map(prose.clause, array['$callback']))}")
        elif isinstance(array, dict):
            lines += _item(f"{label} processors: {prose.template(array)}")
        elif array:
            named = (key if isinstance(key, str) else prose.template(key) for key in array)
            lines += _item(f"{label} processors: {', '.join(named)}")
    for key, processor in given.get("processors", {}).items():
        lines += _processor(key, processor)
    for kind, word in (("tools", "tool"), ("otherTools", "a tool beside the agent's,")):
        for name, tool in given.get(kind, {}).items():
            lines += _item(f"{word} {tool.get('name', name)}: {_tool(tool)}")
    for name, clauses in given.get("callbacks", {}).items():
        lines += _item(f"callback {name}: {'; '.join(map(prose.clause, clauses)) or 'answers neutrally'}")
    for number, turn in enumerate(given.get("model", ()), 1):
        lines += _item(f"model call {number}: the model {prose.turn(turn)}")
    told = (*ARRAYS, "processors", "tools", "otherTools", "callbacks", "model")
    return lines + [
        line for key, value in given.items() if key not in told for line in _item(f"{key}: {prose.template(value)}")
    ]


def _processor(key: str, processor: dict[str, Json]) -> list[str]:
    plain = {name: value for name, value in processor.items() if not (name in SCRIPTED and isinstance(value, list))}
    about = f" ({', '.join(f'{name} {prose.plain(value)}' for name, value in plain.items())})" if plain else ""
    lines = _item(f"processor {key}{about}")
    for hook, clauses in processor.items():
        if hook in SCRIPTED and isinstance(clauses, list):
            texts = [prose.clause(clause) for clause in clauses] or ["only listens"]
            lines += [line for text in texts for line in _item(f"{hook}: {text}", 4)]
    return lines


def _tool(tool: dict[str, Json]) -> str:
    execute = tool.get("execute", [])
    if execute is False:
        return "the client's own, not executed here"
    if "$value" in tool or isinstance(execute, dict):
        return prose.template(tool)
    return "; ".join(map(prose.clause, execute)) or "returns {ok: true}"


def _call(name: str, call: dict[str, Json]) -> list[str]:
    text = f"run {name}: the agent is asked {prose.template(call['input'])}"
    text += f", together with the other calls of {call['together']!r}" if "together" in call else ""
    text += f", with {prose.template(call['options'])}" if "options" in call else ""
    lines = textwrap.wrap(text, WIDTH - 4, subsequent_indent="    ")
    lines += [
        f"  model call {number}: the model {prose.turn(turn)}" for number, turn in enumerate(call.get("model", ()), 1)
    ]
    if "reading" in call:
        lines.append(f"  the client {', then '.join(prose.operation(step) for step in call['reading'])}")
    return lines


def _looked_at(lens: dict[str, Json]) -> list[str]:
    names = [*lens.get("work", ()), *(f"chunk {name}" for name in lens.get("chunks", ()))]
    names += [f"span {kind}" for kind in lens.get("spans", ())]
    text = ", ".join(names) if names else "everything"
    only = f"; of these only where {prose.pattern(lens['when'])}" if "when" in lens else ""
    return _paragraph("Looked at: ", text + only)


def _expected(run: str, expected: dict[str, Json]) -> list[str]:
    lines = []
    for lane, about in ABOUT.items():
        if lane in expected:
            lines.append(f"  {run}, {about}")
            patterns = expected[lane] if isinstance(expected[lane], list) else [expected[lane]]
            for number, wanted in enumerate(patterns, 1):
                lines += _item(f"{number}. {prose.event(wanted)}", 4)
            lines += [] if patterns else ["    nothing"]
    if "outcome" in expected:
        lines += [f"  {run}, its outcome", *_item(prose.pattern(expected["outcome"]), 4)]
    return lines


def _stored(entry: dict[str, Json]) -> list[str]:
    lines = [f"  the store at the end, thread {entry['thread']} of {entry['resource']}"]
    choices = entry["messages"]["$oneOf"] if operator(entry["messages"]) == "$oneOf" else [entry["messages"]]
    for number, messages in enumerate(choices):
        texts = [prose.pattern(one) for one in messages] if isinstance(messages, list) else [prose.pattern(messages)]
        lines += ["  or"] if number else []
        lines += [line for text in texts or ["nothing"] for line in _item(text, 4)]
    return lines


def _control(twin: dict[str, str] | None) -> list[str]:
    if not twin:
        return []
    if "self" in twin:
        return [*_paragraph("It is its own control: ", twin["self"]), ""]
    return [*_paragraph(f"Its control, {twin['of']}, shows the same present: ", twin["edit"]), ""]


def _rule(rule: Rule) -> list[str]:
    lines = [f"Rule {rule.id} · {rule.title}  ({rule.level}; {'; '.join(rule.sources)})", *_indented(rule.statement)]
    return lines + _indented(f"Intent: {rule.intent}") if rule.intent else lines


def explain(rule: Rule, scenarios: Sequence[Scenario], mutants: Mutants | None) -> list[str]:
    """A rule: what holds, what for, on whose word, what shows it, what breaks it."""
    lines = [f"{rule.id} · {rule.title}", f"{rule.level}, a rule of {FAMILIES.get(rule.family, rule.family)}", ""]
    lines += [*_indented(rule.statement), ""]
    lines += _paragraph("What for: ", rule.intent) if rule.intent else []
    lines += _paragraph("Why so: ", rule.why) if rule.why else []
    lines += _paragraph("On whose word: ", "; ".join(map(_whose, rule.sources)))
    lines += _paragraph("Holds in: ", " and ".join(rule.revisions))
    lines += _paragraph("Seen at: ", "; ".join(rule.seen_at)) if rule.seen_at else []
    shown = [one for one in scenarios if rule.id in one.rules]
    lines += ["", "Shown by" if shown else "No scenario shows it."]
    for one in shown:
        lines += [f"  {one.id}  ({', '.join(one.modes)})", f"    {one.title}"]
    lines += _mutants(rule, mutants or Mutants({}, {}))
    return [*lines, "", f"Try it: processor-conformance run {rule.id} --impl 'your adapter'"]


def family(name: str, spec: dict[str, Rule]) -> list[str]:
    """A family: its rules, one a line."""
    rules = [rule for rule in spec.values() if rule.family == name]
    width = max((len(rule.id) for rule in rules), default=0)
    lines = [f"{name}, the rules of {FAMILIES[name]}", "", *(f"  {rule.id:<{width}}  {rule.title}" for rule in rules)]
    return [*lines, "", f"Try them: processor-conformance run {name} --impl 'your adapter'"]


def mistake(name: str, mutants: Mutants, spec: dict[str, Rule]) -> list[str]:
    """A known mistake: what somebody got wrong, which rule it breaks, and what notices it."""
    rule = mutants.rules[name]
    lines = [f"{name}, a mistake that was once made in a broken reference", *_indented(mutants.mistakes.get(name, ""))]
    lines += ["", *(_rule(spec[rule]) if rule in spec else [rule]), "", "Noticed by"]
    own = sorted(item for item in mutants.killed_by[name] if item.startswith(f"{rule}-"))
    more = len(mutants.killed_by[name]) - len(own)
    return [*lines, *(f"  {item}" for item in own), *([f"  and {more} plays of other rules"] if more else [])]


def scenarios_of(rule: str, scenarios: Sequence[Scenario]) -> list[str]:
    """What there is to show of a rule: its scenarios, one a line, and where the rule itself is told."""
    shown = [one for one in scenarios if rule in one.rules]
    lines = [f"{rule} is a rule; what it says: processor-conformance explain {rule}", ""]
    lines += ["Its scenarios, for processor-conformance show:"] if shown else ["No scenario shows it."]
    width = max((len(one.id) for one in shown), default=0)
    return lines + [f"  {one.id:<{width}}  {one.title}" for one in shown]


def _mutants(rule: Rule, mutants: Mutants) -> list[str]:
    names = sorted(name for name, own in mutants.rules.items() if own == rule.id)
    lines = ["", "Mistakes that it catches, each made once in a broken reference"] if names else []
    for name in names:
        lines += [f"  {name}", *_item(mutants.mistakes.get(name, ""), 4)]
    return lines


def _whose(source: str) -> str:
    word, _, rest = source.partition(" ")
    return f"{WORDS.get(word, word)} ({rest})" if rest else WORDS.get(word, word)


def _item(text: str, indent: int = 2) -> list[str]:
    start = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=start + "    ", break_on_hyphens=False)


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(label + text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _indented(text: str) -> list[str]:
    return [
        line
        for piece in text.split("\n")
        for line in textwrap.wrap(piece, WIDTH, initial_indent="  ", subsequent_indent="  ")
    ]
