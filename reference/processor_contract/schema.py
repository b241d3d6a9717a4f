"""A subset of JSON Schema (draft 2020-12): what arguments and answers are checked with.

Flows in: a schema, and values that JSON can hold. Flows out: the first thing that does not fit, in words that say where
it stands and what belongs there, and never quote the value: it may hold what a processor took out elsewhere.

Checked is what stands in `KEYWORDS`: `type`, `enum`, `const`; `properties`, `required`, `additionalProperties`,
`patternProperties`, `propertyNames`, `minProperties`, `maxProperties`; `items`, `prefixItems`, `minItems`, `maxItems`,
`uniqueItems`; `minLength`, `maxLength`, `pattern` (searched, as in JavaScript), `format` (one of `FORMATS`); `minimum`,
`maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`; `allOf`, `anyOf`, `oneOf`, `not`; `$ref` to a schema in
the same document; `true` and `false`. Titles, defaults and the like (`ANNOTATIONS`) say nothing about what fits. All
else is refused when the schema is read: a limit that nobody checks would be none.
"""

from __future__ import annotations

from urllib.parse import unquote

from .data import Json, clone
from .errors import InvalidSchema
from .keywords import KEYWORDS, Place, kinds_of

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$schema",
     "contentMediaType", "contentEncoding"}
)  # fmt: skip


class Schema:
    """A schema that has been read. Raises `InvalidSchema` for what is none of the subset, naming the place."""

    def __init__(self, document: Json) -> None:
        self._read: dict[int, Json] = {}  # every schema in it, by identity: what `$ref` may point at
        try:
            self._document = clone(document)
            self._take(self._document, "#")
        except RecursionError:
            raise InvalidSchema("the schema is nested too deeply; use $ref where it repeats itself") from None
        for node in self._read.values():
            self._check_reference(node)
        self._check_ends()

    def fault(self, value: Json, name: str = "the value") -> str | None:
        """What does not fit, as a sentence about `name`; None where everything does."""
        known: dict[tuple[int, int, str], str | None] = {}  # no question twice: alternatives may ask it again and again

        def fault_at(node: Json, value: Json, at: str) -> str | None:
            """The same, for one schema of the document and one place in the value."""
            if isinstance(node, bool):
                return None if node else f"{at} is not allowed"
            asked = (id(node), id(value), at)
            if asked in known:
                return known[asked]
            kinds = kinds_of(value)
            rows = ((KEYWORDS[keyword], argument) for keyword, argument in node.items() if keyword in KEYWORDS)
            fault = None
            for row, argument in rows:
                if not row.of or row.of in kinds:
                    fault = row.fault(Place(node, value, at, fault_at, self.target), argument)
                    if fault is not None:
                        break
            known[asked] = fault
            return fault

        try:
            return fault_at(self._document, value, name)
        except RecursionError:
            return f"{name} is nested too deeply to be checked"
        except (TypeError, ValueError):
            return f"{name} holds what JSON cannot hold, or a number too long to be written"

    def target(self, reference: str) -> Json:
        """The schema that a `$ref` points at. Raises LookupError, ValueError."""
        if not (reference == "#" or reference.startswith("#/")):  # the name of an anchor is no place
            raise LookupError(reference)
        node = self._document
        for step in unquote(reference[1:]).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and not (step.isascii() and step.isdigit()):  # -1 is none from the end
                raise LookupError(reference)
            node = node[int(step)] if isinstance(node, list) else node[step]
        return node

    def _take(self, node: Json, at: str) -> None:
        if isinstance(node, bool):
            return
        if not isinstance(node, dict):
            raise InvalidSchema(f"{at} is no schema; write an object, true or false there")
        self._read[id(node)] = node
        for keyword, argument in node.items():
            if keyword in ANNOTATIONS:
                continue
            if keyword not in KEYWORDS:
                raise InvalidSchema(f"{at} has {keyword!r}, which is not checked here; say it in another way")
            form = KEYWORDS[keyword].form
            if not form.fits(argument):
                raise InvalidSchema(f"{at}/{keyword} is not in order; write {form.words} there")
            for name, inner in form.inside(argument):
                self._take(inner, f"{at}/{keyword}{name}")

    def _check_reference(self, node: Json) -> None:
        if "$ref" in node:
            try:
                found = self.target(node["$ref"])
            except (LookupError, ValueError, TypeError):
                found = None
            if not (isinstance(found, bool) or id(found) in self._read):
                raise InvalidSchema(f"there is no schema at {node['$ref']!r}; point at one in the same document")

    def _check_ends(self) -> None:
        """No schema asks for itself about the very same value: that question has no end."""
        done: set[int] = set()

        def follow(node: Json, above: tuple[int, ...]) -> None:
            if id(node) in above:
                raise InvalidSchema("a schema refers to itself for the same value; refer to it for a member of that")
            if isinstance(node, bool) or id(node) in done:
                return
            same = [*node.get("allOf", ()), *node.get("anyOf", ()), *node.get("oneOf", ())]
            same += [node["not"]] if "not" in node else []
            same += [self.target(node["$ref"])] if "$ref" in node else []
            for inner in same:
                follow(inner, (*above, id(node)))
            done.add(id(node))

        for node in self._read.values():
            follow(node, ())
