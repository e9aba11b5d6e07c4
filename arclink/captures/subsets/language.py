"""The language of selections: text and JSON in, a tree of conditions out, and back.

A selection is made of conditions ``field:value`` (`arclink.captures.subsets.fields`), joined with
``and``, ``or``, ``not`` and brackets; ``not`` binds most tightly, ``or`` least::

    domain:gov and mime:text/html and from:2001 and to:2003
    (host:example.org or links-to:example.org) and not status:4* and pick:latest

An address is a condition, too: ``*.example.org`` and ``http://example.org/news/*`` mean ``uri:``.

``pick`` applies to the captures that all other conditions of its group select. So a group with a
``pick`` keeps its brackets, and ``pick:latest`` alone means ``uri:* and pick:latest``.

A value of ``text``, ``title`` and ``anchor`` is a word; in quotation marks, a phrase. Several that
one page or link has are in brackets: ``anchor:(download "binary release" flink*)``.

`text_of` writes the one text that all spellings of a tree share: the canonical text.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from arclink.access.declarations import warn_renamed
from arclink.access.words import parse_words
from arclink.captures.subsets.fields import ANY_WORD, FIELDS
from arclink.errors import UsageError

LONGEST: Final = 20_000
"""Maximum length of a selection in characters."""

DEEPEST: Final = 50
"""Maximum depth of brackets and ``not``."""

PICK: Final = "pick"
"""The field that applies to its group."""

KEPT: Final = "kept"
"""The field of captures in a stored list. Only a catalog makes such conditions."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One ``field:value``.

    Attributes:
        field: A name in `FIELDS`, but not ``pick``.
        value: In normal form.
        qualifiers: Names and values of further parts, in the order of their declaration.
    """

    field: str
    value: str
    qualifiers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Captures that every part selects; with ``pick``, one of them for each URI.

    Attributes:
        parts: At least two; with ``pick``, at least one. A part that is an `AllOf` has a ``pick``.
        pick: A value of the field ``pick``; empty for all captures.
    """

    parts: tuple["Selection", ...]
    pick: str = ""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Captures that one of the parts selects.

    Attributes:
        parts: At least two, none of which is an `AnyOf`.
    """

    parts: tuple["Selection", ...]


@dataclass(frozen=True, slots=True)
class Except:
    """Captures that a selection does not select.

    Attributes:
        part: Not itself an `Except`.
    """

    part: "Selection"


Selection = Condition | AllOf | AnyOf | Except
"""A selection of captures."""

ALL = Condition("uri", "*")
"""The selection of all captures."""


class SelectionError(UsageError):
    """A selection cannot be read.

    Attributes:
        text: The selection as written; empty for JSON.
        position: The index in ``text`` of the first character that is wrong.
        expected: What was expected there, as a phrase.
    """

    def __init__(self, text: str, position: int, expected: str) -> None:
        self.text = text
        self.position = position
        self.expected = expected
        if not text:
            super().__init__(f"not a selection: {expected}")
            return
        first = max(0, position - 60)
        shown = "".join(sign if sign.isprintable() else " " for sign in text[first : position + 40])
        super().__init__(
            f"not a selection: at character {position + 1}, expected {expected}\n"
            f"  {shown}\n  {' ' * (position - first)}^"
        )


class _Picked(NamedTuple):
    """A ``pick`` that does not have its group yet."""

    value: str


_Part = Selection | _Picked


def parse_selection(text: str) -> Selection:
    """Return the selection that a text describes.

    Raises:
        SelectionError: It is not a selection; the error has the position and what was expected.

    >>> parse_selection("host:a.example and pick:first")
    AllOf(parts=(Condition(field='host', value='a.example', qualifiers=()),), pick='first')
    """
    if len(text) > LONGEST:
        raise SelectionError(text, LONGEST, f"the end: at most {LONGEST:,} characters")
    return _Parser(text).selection()


def text_of(selection: Selection) -> str:
    """Return the canonical text of a selection.

    >>> text_of(parse_selection('(host:"a.example"  AND  status:200)and pick:latest'))
    'host:a.example and status:200 and pick:latest'
    """
    match selection:
        case Condition(field, value, qualifiers):
            written = _terms_written(value) if _has_terms(field) else _quoted(value)
            further = (f" {name}:{_quoted(part)}" for name, part in qualifiers)
            return f"{field}:{written}{''.join(further)}"
        case AllOf(parts, pick):
            texts = [_bracketed(part, AllOf, AnyOf) for part in parts]
            return " and ".join([*texts, *([f"{PICK}:{_quoted(pick)}"] if pick else [])])
        case AnyOf(parts):
            return " or ".join(
                f"({text_of(part)})" if isinstance(part, AllOf) else text_of(part) for part in parts
            )
        case Except(part):
            return f"not {_bracketed(part, AllOf, AnyOf)}"


def json_of(selection: Selection) -> dict[str, object]:
    """Return a selection as JSON.

    >>> json_of(parse_selection("host:a.example and not status:4*"))
    {'and': [{'host': 'a.example'}, {'not': {'status': '4*'}}]}
    """
    match selection:
        case Condition(field, value, qualifiers):
            return {field: value, **dict(qualifiers)}
        case AllOf(parts, pick):
            return {"and": [*map(json_of, parts), *([{PICK: pick}] if pick else [])]}
        case AnyOf(parts):
            return {"or": [*map(json_of, parts)]}
        case Except(part):
            return {"not": json_of(part)}


def conditions_in(selection: Selection) -> Iterator[Condition]:
    """Yield the conditions of a selection, from left to right."""
    match selection:
        case Condition():
            yield selection
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from conditions_in(part)
        case Except(part):
            yield from conditions_in(part)


def all_of(parts: Sequence[Selection], pick: str = "") -> Selection:
    """Return the selection of captures that all parts select; without parts, all captures."""
    flat: list[Selection] = []
    for part in parts:
        flat += part.parts if isinstance(part, AllOf) and not part.pick else (part,)
    if not flat:
        flat = [ALL]
    return flat[0] if len(flat) == 1 and not pick else AllOf(tuple(flat), pick)


def any_of(parts: Sequence[Selection]) -> Selection:
    """Return the selection of captures that one of the parts selects; there is at least one."""
    flat: list[Selection] = []
    for part in parts:
        flat += part.parts if isinstance(part, AnyOf) else (part,)
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


def outside(part: Selection) -> Selection:
    """Return the selection of the captures that ``part`` does not select."""
    return part.part if isinstance(part, Except) else Except(part)


_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[^\s()\":]+")
_BARE = re.compile(r"[^\s()\"]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TERMS = re.compile(r'\(((?:"(?:[^"\\]|\\.)*"|[^()"])*)\)|("(?:[^"\\]|\\.)*"\*?)', re.DOTALL)
"""Terms in brackets, or one in quotation marks."""
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|\*\.)[^\s()\"]")
"""The beginning of an address without a field before it."""
_NEEDS_QUOTES = re.compile(r"[\s()\"]|^$")
_FIELD_NAMES = ", ".join(name for name, field in FIELDS.items() if not field.now)
_CONDITION = "a condition such as *.example.org or status:200, not, or ("
_NEVER_CAPTURED = (
    "a condition on captures: never-captured URIs have none, and `arclink ask gaps` lists them"
)


class _Parser:
    """Reads one selection by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    def selection(self) -> Selection:
        found = self._any()
        if self._position < len(self._text):
            is_bracket = self._text.startswith(")", self._position)
            hint = "; a value with brackets is written in quotes" if is_bracket else ""
            self._fail(f"'and', 'or' or the end{hint}")
        return found

    def _any(self) -> Selection:
        parts = [self._all()]
        while self._takes_word("or"):
            parts.append(self._all())
        return any_of(parts)

    def _all(self) -> Selection:
        parts = [self._one()]
        while self._takes_word("and"):
            begin = self._position
            parts.append(self._one())
            if isinstance(parts[-1], _Picked) and any(
                isinstance(part, _Picked) for part in parts[:-1]
            ):
                self._fail("one pick in a group: write the inner group in brackets", begin)
        return _grouped(parts)

    def _one(self) -> _Part:
        self._skip_space()
        begin = self._position
        if self._takes_word("not"):
            with_depth = self._deeper(begin)
            part = outside(_grouped([self._one()]))
            self._depth = with_depth
            return part
        if self._text.startswith("(", begin):
            with_depth = self._deeper(begin)
            self._position += 1
            found = self._any()
            if not self._text.startswith(")", self._position):
                self._fail("and, or, or )")
            self._position += 1
            self._skip_space()
            self._depth = with_depth
            return found
        return self._condition()

    def _deeper(self, begin: int) -> int:
        """Enter a bracket or a ``not``; return the depth outside it."""
        before = self._depth
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"at most {DEEPEST} brackets and nots inside each other", begin)
        return before

    def _condition(self) -> _Part:
        begin = self._position
        if _ADDRESS.match(self._text, begin):
            return Condition(
                "uri", self._value("uri", FIELDS["uri"].expected, FIELDS["uri"].normal)
            )
        name = self._name()
        if name is None:
            self._fail(_CONDITION)
        if name == "never-captured":
            self._fail(_NEVER_CAPTURED, begin)
        if name not in FIELDS:
            self._fail(f"a field ({_FIELD_NAMES})", begin)
        field = FIELDS[name]
        value = self._value(name, field.expected, field.normal)
        if field.now:
            # Without the value: a service has one line in its log, whatever clients write.
            warn_renamed(f"{name}:", field.now)
        qualifiers: dict[str, str] = {}
        while field.qualifiers:
            begin = self._position
            qualifier = self._name()
            if qualifier is None or qualifier in FIELDS:
                self._position = begin
                break
            if qualifier not in field.qualifiers:
                self._fail(f"and, or, or one of {', '.join(field.qualifiers)} for {name}", begin)
            if qualifier in qualifiers:
                self._fail(f"{qualifier} once", begin)
            declared = field.qualifiers[qualifier]
            qualifiers[qualifier] = self._value(qualifier, declared.expected, declared.normal)
        missing = _missing(name, qualifiers)
        if missing:
            self._fail(missing)
        return _part(name, value, qualifiers)

    def _name(self) -> str | None:
        """Return the name before a colon, and read both; None if there is no name here."""
        word = _WORD.match(self._text, self._position)
        if word is None or not self._text.startswith(":", word.end()):
            if word is not None and word[0] == "never-captured":
                return word[0]
            return None
        self._position = word.end() + 1
        return word[0].lower()

    def _value(self, name: str, expected: str, normal: Callable[[str], str]) -> str:
        begin = self._position
        terms = _TERMS.match(self._text, begin) if _has_terms(name) else None
        quoted = _QUOTED.match(self._text, begin)
        bare = _BARE.match(self._text, begin)
        if terms is not None:
            value = _QUOTED.sub(lambda quoted: f'"{_unescaped(quoted[1])}"', terms[1] or terms[0])
            self._position = terms.end()
        elif quoted is not None:
            value, self._position = _unescaped(quoted[1]), quoted.end()
        elif self._text.startswith('"', begin):
            self._fail('a closing "', len(self._text))
        elif bare is not None:
            value, self._position = bare[0], bare.end()
        else:
            self._fail(f"{expected} after {name}:")
        try:
            found = normal(value)
        except ValueError:
            self._fail(expected, begin)
        if self._position < len(self._text) and self._text[self._position] in '("':
            self._fail('a space; a value with brackets or " is written in quotes')
        self._skip_space()
        return found

    def _takes_word(self, word: str) -> bool:
        """Read a word of the language if it is here; return whether it was."""
        found = _WORD.match(self._text, self._position)
        if found is None or found[0].lower() != word or self._text.startswith(":", found.end()):
            return False
        self._position = found.end()
        self._skip_space()
        return True

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._position)
        assert space is not None
        self._position = space.end()

    def _fail(self, expected: str, position: int | None = None) -> NoReturn:
        raise SelectionError(
            self._text or " ", self._position if position is None else position, expected
        )


def _part(name: str, value: str, qualifiers: Mapping[str, str]) -> _Part:
    if name == PICK:
        return _Picked(value)
    in_order = tuple(
        (qualifier, qualifiers[qualifier])
        for qualifier in FIELDS[name].qualifiers
        if qualifier in qualifiers
    )
    return Condition(name, value, in_order)


def _missing(name: str, qualifiers: Mapping[str, str]) -> str:
    """Return the missing part of a condition, as a phrase; empty if it is complete."""
    for qualifier, declared in FIELDS[name].qualifiers.items():
        if declared.is_required and qualifier not in qualifiers:
            return f"{qualifier}:, {declared.expected}"
    return ""


def _grouped(parts: Sequence[_Part]) -> Selection:
    """Return the selection of a group; at most one of its parts is a ``pick``."""
    pick = next((part.value for part in parts if isinstance(part, _Picked)), "")
    return all_of([part for part in parts if not isinstance(part, _Picked)], pick)


def _bracketed(part: Selection, *kinds: type) -> str:
    return f"({text_of(part)})" if isinstance(part, kinds) else text_of(part)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _has_terms(field: str) -> bool:
    return field in FIELDS and FIELDS[field].has_terms


def _terms_written(value: str) -> str:
    if value == ANY_WORD:
        return value
    terms = [
        f"{_quoted(term.removesuffix('*'))}{'*' * term.endswith('*')}"
        for term in parse_words(value)
    ]
    return terms[0] if len(terms) == 1 else f"({' '.join(terms)})"


def _quoted(value: str) -> str:
    if _NEEDS_QUOTES.search(value) is None:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
