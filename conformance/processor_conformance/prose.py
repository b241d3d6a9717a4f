"""Parts of a scenario in words: patterns, events, templates, operations, clauses, turns of the model.

Flows in: JSON as scenarios have it. Flows out: text for a person, on one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from .match import named
from .pattern import operator
from .words import Json

SUBJECTS = (
    "hook", "tool", "callback", "store", "warning", "type", "model", "processor", "label", "after", "opened", "tokens",
)  # fmt: skip
PATTERNS: dict[str, Callable[[Json], str]] = {
    "$any": lambda _: "anything",
    "$absent": lambda _: "absent",
    "$bind": lambda name: f"the value <{name}>",
    "$differs": lambda name: f"a value other than <{name}>",
    "$exact": lambda value: f"exactly {pattern(value)}",
    "$oneOf": lambda choices: " or ".join(pattern(choice) for choice in choices),
    "$unordered": lambda several: f"in any order {listed(several)}",
    "$contains": lambda inner: f"containing {pattern(inner)}",
    "$not": lambda inner: f"not {pattern(inner)}",
}
OPERATIONS: dict[str, Callable[[Json], str]] = {
    "read": lambda op: f"reads {op['at']}",
    "token": lambda op: f"asks which object {op['at']} is",
    "set": lambda op: f"sets {op['at']} to {template(op['value'])}",
    "append": lambda op: f"appends {template(op['value'])} to {op['at']}",
    "remove": lambda op: f"removes {op['at']}",
    "call": lambda op: f"calls {op['on']}.{op['method']}({', '.join(template(one) for one in op.get('args', []))})",
    "abort": lambda op: f"calls abort({_members(op, 'op')}) and catches what it raises",
}
STEPS: dict[str, Callable[[Json], str]] = {
    "open": lambda gate: f"opens the gate {gate!r}",
    "wait": lambda gate: f"waits for the gate {gate!r}",
    "cancel": lambda _: "fires the run's abort signal",
    "close": lambda _: "closes the run's stream",
    "read": lambda count: f"reads {count} chunk{'s' * (count != 1)}",
    "rest": lambda _: "reads the rest",
    "result": lambda _: "asks for the result",
}


def pattern(value: Json) -> str:
    """What a pattern accepts."""
    word = operator(value)
    if word:
        return PATTERNS[word](value[word])
    if is_message(value):
        return message(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {pattern(part)}" for key, part in value.items()) + "}"
    return listed(value) if isinstance(value, list) else plain(value)


def is_message(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and "role" in value
        and isinstance(value.get("content"), dict)
        and "parts" in value["content"]
    )


def message(value: Json) -> str:
    """A message: its role, its parts, and what else is said about it."""
    content = {key: part for key, part in value["content"].items() if key not in ("parts", "format")}
    rest = {key: part for key, part in value.items() if key not in ("role", "content", "createdAt")} | content
    more = f" ({', '.join(f'{key} {pattern(part)}' for key, part in rest.items())})" if rest else ""
    return f"{pattern(value['role']).strip(chr(34))}: {_parts(value['content']['parts'])}{more}"


def _parts(parts: Json) -> str:
    """The parts of a message; a text stands for itself."""
    word = operator(parts)
    if word in ("$contains", "$unordered") and isinstance(parts[word], list):
        return {"$contains": "among others ", "$unordered": "in any order "}[word] + _parts(parts[word])
    if not isinstance(parts, list):
        return pattern(parts)
    texts = [
        pattern(one["text"]) if one.keys() == {"type", "text"} else pattern(one)
        for one in parts
        if isinstance(one, dict)
    ]
    return " + ".join(texts) or "no part"


def listed(values: list[Json]) -> str:
    return "[" + ", ".join(pattern(value) for value in values) + "]"


def plain(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def event(wanted: Json) -> str:
    """An expected event: who is called or what comes, then what is said about it."""
    word = operator(wanted)
    if word:
        joint = {"$unordered": "in any order: ", "$oneOf": "one of: "}.get(word, "")
        return joint + "; ".join(event(one) for one in wanted[word])
    text = _subject(wanted)
    about = [f"{key} {pattern(part)}" for key, part in wanted.items() if key not in SUBJECTS]
    about += [f"{key} being {_object(part)}" for key, part in wanted.get("tokens", {}).items()]
    text += f" with {', '.join(about)}" if about else ""
    text += f" ({wanted['label']})" if "label" in wanted else ""
    return text + (f", after {' and '.join(named(wanted['after']))}" if "after" in wanted else "")


def _object(token: Json) -> str:
    """Which object a token says it is."""
    words = {"$bind": "the object <{}>", "$differs": "an object other than <{}>"}
    word = operator(token)
    return words[word].format(token[word]) if word in words else pattern(token)


def _subject(wanted: dict[str, Json]) -> str:
    owner = f" of {pattern(wanted['processor']).strip(chr(34))}" if "processor" in wanted else ""
    for key, text in (
        ("hook", "{}"),
        ("callback", "{}"),
        ("tool", "tool {}"),
        ("store", "store {}"),
        ("warning", "a warning {}"),
        ("type", "chunk {}"),
    ):
        if key in wanted:
            named = wanted[key] if isinstance(wanted[key], str) else pattern(wanted[key])
            return text.format(named) + owner
    return "the stream is handed over" if "opened" in wanted else "model call"


def template(value: Json) -> str:
    """What a processor hands over."""
    if is_message(value):
        return message(value)
    if isinstance(value, dict) and len(value) <= 2:
        for key, words in TEMPLATES.items():
            if key in value:
                return words(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {template(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(template, value)) + "]" if isinstance(value, list) else plain(value)


TEMPLATES: dict[str, Callable[[Json], str]] = {
    "$ref": lambda value: (
        f"its own {value['$ref']}" if "of" not in value else f"{value['$ref']} of {pattern(value['of'])}"
    ),
    "$spread": lambda value: f"a copy of {template(value['$spread'])} with {template(value.get('with', {}))}",
    "$list": lambda value: f"a new message list of {template(value['$list'])}",
    "$abort": lambda value: f"abort({_members(value['$abort'])})",
    "$throw": lambda value: f"an error {template(value['$throw'])}",
    "$undefined": lambda _: "nothing",
    "$model": lambda value: f"the model {value['$model']} itself",
    "$tool": lambda value: f"the tool {value['$tool']}",
    "$value": lambda value: f"the value {template(value['$value'])}",
}


def operation(op: Json) -> str:
    """One thing that a processor does while its call is open."""
    if "op" in op:
        return OPERATIONS[op["op"]](op)
    return ", ".join(STEPS[key](value) for key, value in op.items() if key in STEPS)


def clause(script: dict[str, Json]) -> str:
    """One scripted answer: when it answers, what it does, what it returns."""
    done = [operation(op) for op in script.get("do", ())]
    done += [STEPS[key](script[key]) for key in ("open", "cancel", "close", "wait") if key in script]
    if "return" in script:
        done.append(_returned(script["return"]))
    text = ", ".join(done) or "answers neutrally"
    limit = f" ({script['times']} time{'s' * (script['times'] != 1)})" if "times" in script else ""
    return (f"when {pattern(script['when'])}: " if "when" in script else "") + text + limit


def _returned(value: Json) -> str:
    if isinstance(value, dict) and "$abort" in value:
        return f"aborts with {_members(value['$abort']) or 'no reason'}"
    if isinstance(value, dict) and "$throw" in value:
        return f"raises {template(value['$throw'])}"
    return f"returns {template(value)}"


def turn(said: dict[str, Json]) -> str:
    """One answer of the model."""
    pieces = [f"reasons {plain(said['reasoning'])}"] if "reasoning" in said else []
    if said.get("text"):
        pieces.append("says " + " + ".join(plain(delta) for delta in said["text"]))
    pieces += [
        f"calls {call['name']}({_members(call.get('args', {}))}) as {call['id']}" for call in said.get("toolCalls", ())
    ]
    if "parts" in said:
        pieces.append("sends " + ", ".join(_part(part) for part in said["parts"]))
    if "error" in said:
        pieces.append(f"fails with {template(said['error'])}")
    pieces += [STEPS[key](said[key]) for key in ("open", "wait") if key in said]
    pieces += [f"finishes with {said['finishReason']}"] if "finishReason" in said else []
    return ", ".join(pieces) + (", its parts fetched one by one" if said.get("pull") else "")


def _part(part: dict[str, Json]) -> str:
    return f"{part.get('type')} {template(part.get('payload', {}))}"


def _members(value: dict[str, Json], *but: str) -> str:
    return ", ".join(f"{key}: {template(part)}" for key, part in value.items() if key not in but)
