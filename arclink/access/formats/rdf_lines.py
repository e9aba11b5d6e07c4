"""RDF as text: N-Triples, N-Quads, Turtle and JSON-LD, written in constant memory.

N-Quads has the same lines as N-Triples, because all statements are in the default graph. Turtle has
the same statements with prefixes, one block per description. JSON-LD is in expanded form, without a
context: the prefixes of a context would turn the target ``rdf:x`` of a link into another URI.

Source: RDF 1.1 N-Triples, N-Quads, Turtle; JSON-LD 1.1, section 9 (expanded form).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import orjson

from arclink.access.answers import LinkAnswer
from arclink.access.formats import Profile
from arclink.access.formats.statements import (
    RDF,
    TWG,
    Blank,
    Description,
    Iri,
    Literal,
    Node,
    describe,
)

_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"})
# An IRI may contain spaces such as U+00A0, but rdflib ends it at any that is not escaped. It has no
# ASCII space: `arclink.access.formats.iris.iri` encodes these.
_BLANK = re.compile(r"\s")
_LOCAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_ntriples(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield the lines of one description after the other; UTF-8."""
    return ntriples_lines(describe(answer, profile))


def ntriples_lines(descriptions: Iterable[Description]) -> Iterator[bytes]:
    """Yield the lines of each description; UTF-8."""
    for subject, properties in descriptions:
        start = _term(subject)
        lines = [
            f"{start} {_term(predicate)} {_term(value)} .\n" for predicate, value in properties
        ]
        yield "".join(lines).encode()


def write_turtle(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield the prefixes, then one block per description; UTF-8."""
    yield f"@prefix rdf: <{RDF}> .\n@prefix twg: <{TWG}> .\n".encode()
    for subject, properties in describe(answer, profile):
        lines = " ;\n    ".join(
            f"{_short(predicate)} {_short(value)}" for predicate, value in properties
        )
        yield f"\n{_term(subject)} {lines} .\n".encode()


def write_jsonld(answer: LinkAnswer, profile: Profile) -> Iterator[bytes]:
    """Yield one array of node objects, one per line; a subject may be in several of them."""
    start = b"["
    for subject, properties in describe(answer, profile):
        node: dict[str, object] = {"@id": _id(subject)}
        for predicate, value in properties:
            values = node.setdefault(predicate.value, [])
            assert isinstance(values, list)
            values.append(_json_value(value))
        yield start + b"\n" + orjson.dumps(node)
        start = b","
    yield b"\n]\n"


def _term(term: Node | Literal) -> str:
    match term:
        case Iri(value):
            return f"<{value if value.isascii() else _BLANK.sub(_escape, value)}>"
        case Blank(label):
            return f"_:{label}"
        case Literal(text):
            return f'"{text.translate(_ESCAPED)}"'


def _escape(blank: re.Match[str]) -> str:
    return f"\\u{ord(blank[0]):04X}"


def _short(term: Node | Literal) -> str:
    """Return a term in Turtle syntax, with the prefix ``rdf`` or ``twg`` if possible."""
    if isinstance(term, Iri):
        if term.value == RDF + "type":
            return "a"
        for prefix, namespace in (("rdf", RDF), ("twg", TWG)):
            if term.value.startswith(namespace) and _LOCAL_NAME.fullmatch(
                term.value.removeprefix(namespace)
            ):
                return f"{prefix}:{term.value.removeprefix(namespace)}"
    return _term(term)


def _id(node: Node) -> str:
    return node.value if isinstance(node, Iri) else f"_:{node.label}"


def _json_value(value: Node | Literal) -> Mapping[str, str]:
    return {"@value": value.text} if isinstance(value, Literal) else {"@id": _id(value)}
