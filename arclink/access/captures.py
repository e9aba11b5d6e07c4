"""The captures of one URI or many, as rows of a capture index (CDX) like those of CDX servers.

A row says what the graph knows about a capture. Two kinds of captures have no digest here: a
redirect, which the graph knows by its status and target, and a "not modified" revisit, which has no
payload.

Source: pywb, *CDXJ Server API*; OutbackCDX, *Querying*; the Internet Archive's Wayback CDX Server
(``resumeKey``, ``showResumeKey``).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple, Self

import orjson

from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    SWITCH,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    matching,
    named,
    whole_number,
)
from arclink.access.filters import LONGEST, MOST, Filter, parse_filter
from arclink.access.nearby import by_distance
from arclink.access.queries import (
    MATCH_TYPE,
    URI,
    BadParameterError,
    ConflictError,
    LinkQuery,
    MatchType,
)
from arclink.access.snapshots import of_one_state
from arclink.access.texts import printable_uri
from arclink.access.times import FROM, TO, span_of
from arclink.checksums import is_reference
from arclink.languages import NO_LANGUAGE
from arclink.model import NO_CHECKSUM, Memento, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.timestamps import PATTERN as TIME_PATTERN
from arclink.timestamps import first_of
from arclink.uris.methods import method_of_key

MOST_ROWS = 10_000
"""Largest number of rows of one answer."""

MOST_READ = 200_000
"""Largest number of captures that one answer reads; the rest is in the next answer."""

LAST_MOMENT = Timestamp("99991231235959")


def _digest(memento: Memento) -> str:
    checksum = memento.checksum
    is_own = not (checksum.startswith("redirect:") or is_reference(checksum))
    return checksum if is_own else NO_CHECKSUM


FIELDS: Mapping[str, Callable[[Memento], str]] = {
    "urlkey": lambda memento: printable_uri(memento.surt).replace(" ", "%20"),
    "timestamp": lambda memento: memento.timestamp,
    "url": lambda memento: printable_uri(memento.original),
    "mime": lambda memento: (
        "warc/revisit" if memento.record_type == "revisit" else memento.mime or "-"
    ),
    "status": lambda memento: memento.status,
    "digest": _digest,
    "redirect": lambda memento: "-",
    "robotflags": lambda memento: "-",
    "length": lambda memento: str(memento.length) if memento.length >= 0 else "-",
    "offset": lambda memento: str(memento.offset),
    "filename": lambda memento: memento.file,
    "languages": lambda memento: memento.languages,
    "method": lambda memento: method_of_key(memento.surt) or "-",
}
"""Fields by their names in pywb and Common Crawl, first those of a CDX row, in its order."""

_IN_CDX = tuple(FIELDS)[:11]

ALIASES = {
    "original": "url",
    "mimetype": "mime",
    "statuscode": "status",
    "redirecturl": "redirect",
    "file": "filename",
    "surt": "urlkey",
}
"""Names of the same fields in OutbackCDX and at the Internet Archive."""

_IN_CDXJ = ("url", "mime", "status", "digest", "length", "offset", "filename")
_NAMES = {name: name for name in FIELDS} | ALIASES


class RowOutput(NamedTuple):
    """A form of the rows.

    Attributes:
        media_type: Its media type.
        line: Returns the line of a capture, with the given fields; empty fields mean the default.
    """

    media_type: str
    line: Callable[[Memento, tuple[str, ...]], bytes]


def _fields_of(memento: Memento) -> tuple[str, ...]:
    """Return the fields of a row as JSON; languages only if known, the method only if not GET."""
    languages = () if memento.languages == NO_LANGUAGE else ("languages",)
    return (*_IN_CDXJ, *languages, *(("method",) if method_of_key(memento.surt) else ()))


def _cdxj(memento: Memento, names: tuple[str, ...]) -> bytes:
    fields = {
        name: FIELDS[name](memento)
        for name in names or _fields_of(memento)
        if name not in ("urlkey", "timestamp")
    }
    key = f"{FIELDS['urlkey'](memento)} {memento.timestamp} ".encode()
    return key + orjson.dumps(fields)


def _text(memento: Memento, names: tuple[str, ...]) -> bytes:
    return " ".join(FIELDS[name](memento).replace(" ", "%20") for name in names or _IN_CDX).encode()


def _json(memento: Memento, names: tuple[str, ...]) -> bytes:
    return orjson.dumps(
        {
            name: FIELDS[name](memento)
            for name in names or ("urlkey", "timestamp", *_fields_of(memento))
        }
    )


OUTPUTS: Mapping[str, RowOutput] = {
    "cdxj": RowOutput("text/x-cdxj; charset=utf-8", _cdxj),
    "text": RowOutput("text/plain; charset=utf-8", _text),
    "json": RowOutput("application/x-ndjson", _json),
}
"""Forms of the rows by their names in the parameter ``output``."""

_FILTERED = "|".join(_NAMES)


def _closest(text: str) -> Timestamp:
    return LAST_MOMENT if text == "now" else first_of(text)


OF_CAPTURES = replace(
    MATCH_TYPE,
    about="Captures of this URI (exact), of all URIs that begin like it (prefix: their SURTs begin "
    "with its SURT), of its host, or of its host and all subdomains (domain). "
    "Also written as url=PREFIX* and url=*.HOST.",
)
CLOSEST = Parameter(
    "closest",
    "Sort by the distance from this time.",
    Form(
        f"{FROM.form.allowed}, or now",
        {"type": "string", "pattern": f"^(?:{TIME_PATTERN}|now)$"},
        _closest,
    ),
)
SORT = Parameter(
    "sort",
    "By SURT and time; the newest first; or the nearest to closest first.",
    named({name: name for name in ("default", "reverse", "closest")}),
    default="default",
)
CAPTURE_FILTER = Parameter(
    "filter",
    "Only captures that pass: [!][=~]field:value, contains, = is, ~ matches a regular "
    "expression (RE2) from its beginning, ! does not.",
    matching(
        rf"!?[=~]?({_FILTERED}):[^\x00-\x1f]{{0,{LONGEST}}}",
        f"[!][=~]field:value, with a field of {', '.join(_NAMES)} and a value of at most "
        f"{LONGEST:,} characters",
        parse_filter,
    ),
    is_list=True,
)
ROWS = Parameter(
    "limit",
    "Most rows.",
    whole_number(MOST_ROWS, f"a number from 1 to {MOST_ROWS}", least=1),
    default=str(MOST_ROWS),
)
FIELD_LIST = Parameter(
    "fl",
    "Only these fields.",
    named(_NAMES),
    is_list=True,
    has_commas=True,
    also=("fields",),
)
OUTPUT = Parameter(
    "output", "How rows are written.", named({name: name for name in OUTPUTS}), default="cdxj"
)
RESUME_KEY = Parameter(
    "resumeKey",
    "Position to continue from: a value in the previous answer to the same query.",
    Form("a key of an answer to the same query", {"type": "string"}, str),
)
SHOW_RESUME_KEY = Parameter(
    "showResumeKey",
    "Write the key after the last row and an empty line, if there are more rows.",
    SWITCH,
    default="false",
)

CAPTURE_PARAMETERS = (
    URI,
    OF_CAPTURES,
    FROM,
    TO,
    CLOSEST,
    SORT,
    CAPTURE_FILTER,
    ROWS,
    FIELD_LIST,
    OUTPUT,
    RESUME_KEY,
    SHOW_RESUME_KEY,
)


class RowPosition(NamedTuple):
    """The last capture that was read; rows continue after it."""

    surt: Surt
    timestamp: Timestamp
    original: UriR
    checksum: str


@dataclass(frozen=True, slots=True)
class CaptureQuery(DeclaredQuery):
    """A query for captures.

    Attributes:
        links: The query with the same URI and match type, whose stems these captures have.
        span: Only captures in this range.
        closest: Time whose nearest captures come first; None: by SURT and time.
        is_reversed: Whether the newest capture comes first.
        filters: Only captures that pass all of these.
        limit: Most rows.
        fields: Names of the fields to write; empty for those of the output.
        output: Name of the output.
        after: Continue after this capture; None from the first one on.
        shows_key: Whether to write the key of the next answer after the rows.
    """

    DECLARED = CAPTURE_PARAMETERS

    links: LinkQuery
    span: Span
    closest: Timestamp | None
    is_reversed: bool
    filters: tuple[Filter, ...]
    limit: int
    fields: tuple[str, ...]
    output: str
    after: RowPosition | None
    shows_key: bool

    @classmethod
    def of(cls, given: Given) -> Self:
        links = _links(given)
        closest, sort = CLOSEST.of(given), SORT.sure(given)
        if sort == "closest" and closest is None:
            raise ConflictError(SORT.name, sort, "cannot be closest without closest=TIME")
        is_sorted = sort != "default" or closest is not None
        if is_sorted and links.is_range:
            refused = SORT if sort != "default" else CLOSEST
            raise ConflictError(
                refused.name,
                given.text(refused),
                f"cannot be used with {MATCH_TYPE.name}={links.match_type.value}",
            )
        filters = CAPTURE_FILTER.all_of(given)
        if len(filters) > MOST:
            raise BadParameterError(
                CAPTURE_FILTER.name, filters[-1].text, f"at most {MOST} filters"
            )
        key = RESUME_KEY.of(given)
        if key and is_sorted:
            raise ConflictError(RESUME_KEY.name, key, "cannot be used with sort or closest")
        return cls(
            links=links,
            span=span_of(given),
            closest=closest if sort != "reverse" else None,
            is_reversed=sort == "reverse",
            filters=filters,
            limit=ROWS.sure(given),
            fields=tuple(FIELD_LIST.all_of(given)),
            output=OUTPUT.sure(given),
            after=_position(key, links) if key else None,
            shows_key=SHOW_RESUME_KEY.sure(given),
        )

    def passes(self, memento: Memento) -> bool:
        """Return whether a capture passes all filters."""
        return all(
            one.passes(FIELDS[ALIASES.get(one.name, one.name)](memento)) for one in self.filters
        )


@dataclass(frozen=True, slots=True)
class CaptureRows:
    """The captures that answer a query.

    Attributes:
        query: The query. captures: In the order of the query. resume_key: Where the next answer
        continues; None if there are no more captures.
    """

    query: CaptureQuery
    captures: tuple[Memento, ...]
    resume_key: str | None

    @property
    def media_type(self) -> str:
        """The media type of the rows."""
        return OUTPUTS[self.query.output].media_type

    def lines(self) -> Iterator[bytes]:
        """Yield the rows, each with a line end."""
        line = OUTPUTS[self.query.output].line
        for memento in self.captures:
            yield line(memento, self.query.fields) + b"\n"
        if self.query.shows_key and self.resume_key:
            yield b"\n" + self.resume_key.encode() + b"\n"


@of_one_state
def answer_captures(store: Answers, query: CaptureQuery) -> CaptureRows:
    """Return the captures that answer a query; a sorted answer has no next one.

    Raises:
        StoreError: The store cannot be read.
    """
    surt = query.links.surt
    if query.closest is not None:
        nearest = (
            memento
            for memento in by_distance(store, surt, query.closest)
            if memento.timestamp in query.span
        )
        return CaptureRows(query, _limited(query, nearest), None)
    if query.is_reversed:
        newest = (
            memento
            for memento in by_distance(store, surt, LAST_MOMENT)
            if memento.timestamp in query.span
        )
        return CaptureRows(query, _limited(query, newest), None)
    return _in_order(store, query)


def _limited(query: CaptureQuery, captures: Iterator[Memento]) -> tuple[Memento, ...]:
    return tuple(islice(filter(query.passes, islice(captures, MOST_READ)), query.limit))


def _in_order(store: Answers, query: CaptureQuery) -> CaptureRows:
    found: list[Memento] = []
    last: Memento | None = None
    for count, memento in enumerate(_captures(store, query)):
        if len(found) == query.limit or count == MOST_READ:
            assert last is not None
            position = (last.surt, last.timestamp, last.original, last.checksum)
            return CaptureRows(query, tuple(found), encode_fields(["captures", *position]))
        if query.passes(memento):
            found.append(memento)
        last = memento
    return CaptureRows(query, tuple(found), None)


def _captures(store: Answers, query: CaptureQuery) -> Iterator[Memento]:
    after = query.after
    if not query.links.is_range:
        yield from _after(store.mementos(query.links.surt, query.span), after)
        return
    for stem in query.links.stems:
        if after is not None and after.surt.startswith(stem):
            yield from _after(store.mementos(after.surt, query.span), after)
        elif after is not None and stem < after.surt:
            continue
        start = after.surt if after is not None and after.surt.startswith(stem) else None
        for surt in store.captured_surts(stem, start):
            yield from store.mementos(surt, query.span)


def _after(captures: Iterator[Memento], after: RowPosition | None) -> Iterator[Memento]:
    if after is None:
        return captures
    is_after = partial(_is_after, position=after)
    return filter(is_after, captures)


def _is_after(memento: Memento, position: RowPosition) -> bool:
    return (memento.timestamp, memento.original, memento.checksum) > position[1:]


def _links(given: Given) -> LinkQuery:
    """Return the link query about the same URIs; ``*`` in the URI may say which."""
    name, texts = given.found(URI)
    text = "".join(texts).strip()
    words: list[tuple[str, str]] = []
    if not given.text(MATCH_TYPE):
        if text.startswith("*."):
            text, words = text[2:], [(MATCH_TYPE.name, MatchType.DOMAIN.value)]
        elif text.endswith("*"):
            text, words = text[:-1], [(MATCH_TYPE.name, MatchType.PREFIX.value)]
    else:
        words = [(MATCH_TYPE.name, given.text(MATCH_TYPE))]
    return LinkQuery.from_parameters([(name, text), *words])


def _position(key: str, links: LinkQuery) -> RowPosition:
    """Return the position that a key names.

    Raises:
        BadParameterError: The text is not a key of an answer to this query.
    """
    try:
        match decode_fields(key):
            case ["captures", str(surt), str(timestamp), str(original), str(checksum)]:
                position = RowPosition(Surt(surt), Timestamp(timestamp), UriR(original), checksum)
            case _:
                raise CursorError("a key of another query")
        if not surt.startswith(links.stems) or (not links.is_range and surt != links.surt):
            raise CursorError("a key of another query")
    except CursorError as error:
        raise BadParameterError(RESUME_KEY.name, key, RESUME_KEY.form.allowed) from error
    return position
