"""The captures of one URI or many, as rows of a capture index (CDX) like those of CDX servers.

A row says what the graph knows about a capture. Two kinds of captures have no digest here: a
redirect, which the graph knows by its status and target, and a "not modified" revisit, which has no
payload.

Source: pywb, *CDXJ Server API*; OutbackCDX, *Querying*; the Internet Archive's Wayback CDX Server
(``collapse``, ``page``, ``resumeKey``, ``showNumPages``, ``showResumeKey``).
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated, Any, NamedTuple, Self, TypedDict

import orjson

from arclink.access.capture_fields import CDX, UNKNOWN, Collapse, Collapser, parse_collapse
from arclink.access.cursors import CursorError, decode_fields, encode_fields
from arclink.access.declarations import (
    FROM,
    LIMIT,
    SINCE,
    TO,
    UNTIL,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    matching,
    named,
    span_of,
    switch,
    whole_number,
)
from arclink.access.kinds import LONGEST, Filter, parse_filter
from arclink.access.queries import (
    MATCH_TYPE,
    URI,
    BadParameterError,
    ConflictError,
    LinkQuery,
    few_filters,
    without_asterisk,
)
from arclink.access.reader import of_one_state
from arclink.access.replay import moment_of
from arclink.access.texts import printable_uri
from arclink.access.timemaps import by_distance
from arclink.model import ALL_TIME, Memento, Span, Surt, Timestamp, UriR
from arclink.store.protocols import Answers
from arclink.timestamps import PATTERN as TIME_PATTERN
from arclink.timestamps import PATTERN_OF_SECONDS, first_of

MOST_ROWS = 10_000
"""Largest number of rows of one answer."""

ROWS_OF_PAGE = MOST_ROWS
"""Number of rows of a page, for clients that ask for pages."""

MOST_READ = 200_000
"""Largest number of captures that one answer reads; the rest is in the next answer."""

LAST_MOMENT = Timestamp("99991231235959")


_IN_CDX = (
    *("urlkey", "timestamp", "url", "mime", "status", "digest", "redirect", "robotflags"),
    *("length", "offset", "filename"),
)
_UNKNOWN = ("redirect", "robotflags")
_OF_ROWS: Mapping[str, Callable[[Memento], str]] = {
    "urlkey": lambda memento: printable_uri(memento.surt).replace(" ", "%20"),
    "mime": lambda memento: (
        "warc/revisit" if memento.record_type == "revisit" else memento.mime or UNKNOWN
    ),
    **dict.fromkeys(_UNKNOWN, lambda memento: UNKNOWN),
}
"""What rows write in their own way."""

FIELDS: Mapping[str, Callable[[Memento], str]] = {
    name: _OF_ROWS.get(name) or CDX.getters[name] for name in dict.fromkeys((*_IN_CDX, *CDX.fields))
}
"""Fields by their names in pywb and Common Crawl, first those of a CDX row, in its order."""

_ALIASES = {
    "original": "url",
    "mimetype": "mime",
    "statuscode": "status",
    "redirecturl": "redirect",
    "file": "filename",
    "surt": "urlkey",
}
"""Names of the same fields in OutbackCDX and at the Internet Archive."""

_IN_CDXJ = [(name, FIELDS[name]) for name in _IN_CDX[2:] if name not in _UNKNOWN]
_LATER = [*FIELDS.items()][len(_IN_CDX) :]
_NAMES = {name: name for name in FIELDS} | _ALIASES


class RowOutput(NamedTuple):
    """A form of the rows.

    Attributes:
        media_type: Its media type.
        line: Returns the line of a capture, with the given fields; empty fields mean the default.
    """

    media_type: str
    line: Callable[[Memento, tuple[str, ...]], bytes]


def _known(memento: Memento) -> dict[str, str]:
    """Return the fields of a row as JSON; those that no CDX has only if they are known."""
    known = {name: value(memento) for name, value in _IN_CDXJ}
    for name, value in _LATER:
        text = value(memento)
        if text != UNKNOWN:
            known[name] = text
    return known


def _cdxj(memento: Memento, names: tuple[str, ...]) -> bytes:
    fields = (
        {name: FIELDS[name](memento) for name in names if name not in ("urlkey", "timestamp")}
        if names
        else _known(memento)
    )
    key = f"{FIELDS['urlkey'](memento)} {memento.timestamp} ".encode()
    return key + orjson.dumps(fields)


def _text(memento: Memento, names: tuple[str, ...]) -> bytes:
    return " ".join(FIELDS[name](memento).replace(" ", "%20") for name in names or _IN_CDX).encode()


def _json(memento: Memento, names: tuple[str, ...]) -> bytes:
    fields = {name: FIELDS[name](memento) for name in names or ("urlkey", "timestamp")}
    return orjson.dumps(fields if names else fields | _known(memento))


OUTPUTS: Mapping[str, RowOutput] = {
    "cdxj": RowOutput("text/x-cdxj; charset=utf-8", _cdxj),
    "text": RowOutput("text/plain; charset=utf-8", _text),
    "json": RowOutput("application/x-ndjson", _json),
}
"""Forms of the rows by their names in the parameter ``output``."""

_FILTERED = "|".join(_NAMES)


def _closest(text: str) -> Timestamp:
    return LAST_MOMENT if text == "now" else first_of(_seconds(text))


def _seconds(text: str) -> str:
    """Return a time without milliseconds, if it has 15 to 17 digits as in some CDX files."""
    return text[:14] if re.fullmatch("[0-9]{15,17}", text) else text


def _with_milliseconds(form: Form[Timestamp]) -> Form[Timestamp]:
    allowed = f"{form.allowed}; 15 to 17 digits have milliseconds, which are ignored"
    schema = {"type": "string", "pattern": f"^(?:{TIME_PATTERN}|{PATTERN_OF_SECONDS}[0-9]{{1,3}})$"}
    return Form(allowed, schema, lambda text: form.read(_seconds(text)))


_CDX_FROM = replace(FROM, form=_with_milliseconds(SINCE))
_CDX_TO = replace(TO, form=_with_milliseconds(UNTIL))

_OF_CAPTURES = replace(
    MATCH_TYPE,
    about="Captures of this URI (exact), of all URIs that begin like it (prefix: their SURTs begin "
    "with its SURT), of its host, or of its host and all subdomains (domain). Also written as "
    "url=PREFIX* and url=*.HOST.",
)
_CLOSEST = Parameter(
    "closest",
    "Sort by the distance from this time.",
    Form(
        f"{FROM.form.allowed}, or now",
        {"type": "string", "pattern": f"^(?:{TIME_PATTERN}|{PATTERN_OF_SECONDS}[0-9]{{1,3}}|now)$"},
        _closest,
    ),
    fields=(),
)
_SORT = Parameter(
    "sort",
    "By SURT and time; the newest first; or the nearest to closest first.",
    named({name: name for name in ("default", "reverse", "closest")}),
    default="default",
)
_CAPTURE_FILTER = Parameter(
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
    fields=("filters",),
    unite=few_filters,
)


def _rows(text: str) -> int:
    number = int(text) if re.fullmatch("-?[0-9]{1,5}", text) else 0
    if re.fullmatch("-?0+", text):
        raise ValueError(f"not all rows: {RESUME_KEY.name} reads any number of them")
    if not 1 <= abs(number) <= MOST_ROWS:
        raise ValueError
    return number


ROWS = replace(
    LIMIT,
    about=f"{LIMIT.about.partition(';')[0]}; with a minus, the last ones.",
    form=Form(
        f"a number from 1 to {MOST_ROWS}, or from -1 to -{MOST_ROWS}",
        {"type": "integer", "minimum": -MOST_ROWS, "maximum": MOST_ROWS, "not": {"const": 0}},
        _rows,
    ),
    default=str(MOST_ROWS),
)
_SKIP = Parameter(
    "offset", "Skip this number of rows.", whole_number(MOST_READ, least=0), default="0"
)
PAGE = Parameter(
    "page",
    f"The rows of this page: 0 is the first. A page has {ROWS_OF_PAGE:,} rows.",
    whole_number(MOST_READ // ROWS_OF_PAGE, least=0),
    otherwise="no pages",
)
_PAGE_SIZE = Parameter(
    "pageSize",
    "No effect: all pages have the same number of rows.",
    whole_number(MOST_READ, least=1),
    otherwise="no effect",
)
_SHOW_NUM_PAGES = switch(
    "showNumPages", "Answer with the number of pages, as JSON.", field="counts_pages"
)


def _collapse(text: str) -> Collapse:
    name, length = parse_collapse(text)
    if name not in _NAMES:
        raise ValueError
    return Collapse(_NAMES[name], length)


_COLLAPSE = Parameter(
    "collapse",
    "Leave out rows whose field, or its first N characters, equals that of the row before.",
    matching(
        rf"(?:{_FILTERED})(?::[1-9][0-9]{{0,3}})?",
        f"FIELD or FIELD:N, with a field of {', '.join(_NAMES)}",
        _collapse,
    ),
    is_list=True,
)
_COLLAPSE_TIME = Parameter(
    "collapseTime",
    "Leave out rows whose first N digits of the time and whose status equal those of the row "
    "before.",
    whole_number(14, least=1),
    otherwise="none is left out",
)
GZIP = switch("gzip", "No effect: a proxy compresses answers (Accept-Encoding).")
_ALLOW_FUZZY = switch("allowFuzzy", "No effect: no rule finds other URIs.")
_RESOLVE_REVISITS = Parameter(
    "resolveRevisits",
    "Only false: rows of revisits name their own records, and /web resolves them.",
    named({"false": False}),
    default="false",
)
_FIELD_LIST = Parameter(
    "fl",
    "Only these fields.",
    named(_NAMES),
    is_list=True,
    has_commas=True,
    also=("fields",),
    fields=("fields",),
)
_OUTPUT = Parameter(
    "output", "How rows are written.", named({name: name for name in OUTPUTS}), default="cdxj"
)
RESUME_KEY = Parameter(
    "resumeKey",
    "Position to continue from: a value in the previous answer to the same query.",
    Form("a key of an answer to the same query", {"type": "string"}, str),
)
_SHOW_RESUME_KEY = switch(
    "showResumeKey",
    "Write the key after the last row and an empty line, if there are more rows.",
    field="shows_key",
)

CAPTURE_PARAMETERS = (
    URI,
    _OF_CAPTURES,
    _CDX_FROM,
    _CDX_TO,
    _CLOSEST,
    _SORT,
    _CAPTURE_FILTER,
    _COLLAPSE,
    _COLLAPSE_TIME,
    ROWS,
    _SKIP,
    PAGE,
    _PAGE_SIZE,
    _SHOW_NUM_PAGES,
    _FIELD_LIST,
    _OUTPUT,
    RESUME_KEY,
    _SHOW_RESUME_KEY,
    GZIP,
    _ALLOW_FUZZY,
    _RESOLVE_REVISITS,
)


class RowPosition(NamedTuple):
    """The last capture that was read; rows continue after it.

    Attributes:
        collapsed: The values of the last row that collapses compare (`Collapser.state`).
    """

    surt: Surt
    timestamp: Timestamp
    original: UriR
    checksum: str
    collapsed: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptureQuery(DeclaredQuery):
    """A query for captures.

    Attributes:
        links: The query with the same URI and match type, whose stems these captures have.
        span: Only captures in this range.
        closest: Time whose nearest captures come first; None: by SURT and time.
        is_reversed: Whether the newest capture comes first.
        filters: Only captures that pass all of these.
        collapses: Fields whose repetitions are left out.
        limit: Most rows; negative for the last ones.
        skipped: Number of rows before the first one that are left out.
        counts_pages: Whether the answer is the number of pages.
        fields: Names of the fields to write; empty for those of the output.
        output: Name of the output.
        after: Continue after this capture; None from the first one on.
        shows_key: Whether to write the key of the next answer after the rows.
    """

    DECLARED = CAPTURE_PARAMETERS

    links: LinkQuery
    span: Span = ALL_TIME
    closest: Timestamp | None = None
    is_reversed: bool = False
    filters: tuple[Filter, ...] = ()
    collapses: tuple[tuple[Collapse, ...], ...] = ()
    limit: int = MOST_ROWS
    skipped: int = 0
    counts_pages: bool = False
    fields: tuple[str, ...] = ()
    output: str = "cdxj"
    after: RowPosition | None = None
    shows_key: bool = False

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        asked = without_asterisk(given, is_of_index=True)
        links = LinkQuery(*URI.required(asked), MATCH_TYPE.required(asked))
        values = cls.values(given, otherwise)
        closest, sort = _CLOSEST.optional(given), _SORT.required(given)
        if sort == "closest" and closest is None:
            raise ConflictError(_SORT.name, sort, "cannot be closest without closest=TIME")
        is_sorted = sort != "default" or closest is not None
        if closest is not None and links.is_range:
            raise ConflictError(
                _CLOSEST.name,
                given.text(_CLOSEST),
                f"cannot be used with {MATCH_TYPE.name}={links.match_type.value}",
            )
        for without_effect in (_PAGE_SIZE, GZIP, _ALLOW_FUZZY, _RESOLVE_REVISITS):
            without_effect.optional(given)  # only its value is checked
        limit, page, skipped = values["limit"], PAGE.optional(given), _SKIP.required(given)
        if limit < 0 and (is_sorted or page is not None or skipped):
            raise ConflictError(
                ROWS.name, given.text(ROWS), "cannot be used with sort, closest, page or offset"
            )
        if page is not None and skipped:
            raise ConflictError(PAGE.name, given.text(PAGE), "cannot be used with offset")
        key = RESUME_KEY.optional(given)
        if key and (is_sorted or limit < 0 or page is not None or skipped):
            raise ConflictError(
                RESUME_KEY.name,
                key,
                "cannot be used with sort, closest, page, offset or a negative limit",
            )
        of_time = _COLLAPSE_TIME.optional(given)
        collapses: list[tuple[Collapse, ...]] = [(one,) for one in _COLLAPSE.many(given)]
        if of_time is not None:
            collapses.append((Collapse("timestamp", of_time), Collapse("status", 0)))
        return cls(
            links=links,
            span=span_of(given, _CDX_FROM, _CDX_TO),
            closest=closest if sort != "reverse" else None,
            is_reversed=sort == "reverse",
            collapses=tuple(collapses),
            skipped=skipped if page is None else page * ROWS_OF_PAGE,
            after=_position(key, links, len(collapses)) if key else None,
            **values,
        )

    def passes(self, memento: Memento) -> bool:
        """Return whether a capture passes all filters."""
        return all(
            one.passes(FIELDS[_ALIASES.get(one.name, one.name)](memento)) for one in self.filters
        )

    def collapser(self) -> Collapser:
        """Return the collapser of a new answer."""
        fields = [[(FIELDS[one.name], one.length) for one in parts] for parts in self.collapses]
        return Collapser(fields, self.after.collapsed if self.after is not None else None)


class PagesFields(TypedDict):
    """The number of pages of an answer, as pywb counts them."""

    pages: int
    pageSize: Annotated[int, "Blocks of a page."]
    blocks: int


@dataclass(frozen=True, slots=True)
class CaptureRows:
    """The captures that answer a query.

    Attributes:
        query: The query.
        captures: In the order of the query.
        resume_key: Where the next answer continues; None if there are no more captures.
        pages: Number of pages, if the query counts these.
    """

    query: CaptureQuery
    captures: tuple[Memento, ...]
    resume_key: str | None
    pages: int = 0

    @property
    def media_type(self) -> str:
        """The media type of the rows."""
        if self.query.counts_pages:
            return "application/json"
        return OUTPUTS[self.query.output].media_type

    def lines(self) -> Iterator[bytes]:
        """Yield the rows, each with a line end."""
        if self.query.counts_pages:  # as pywb: a block is a page here
            counts: PagesFields = {"pages": self.pages, "pageSize": 1, "blocks": self.pages}
            yield orjson.dumps(counts, option=orjson.OPT_APPEND_NEWLINE)
            return
        line = OUTPUTS[self.query.output].line
        for memento in self.captures:
            yield line(memento, self.query.fields) + b"\n"
        if self.query.shows_key and self.resume_key:
            yield b"\n" + self.resume_key.encode() + b"\n"


@of_one_state
def answer_captures(store: Answers, query: CaptureQuery) -> CaptureRows:
    """Return the captures that answer a query; a sorted answer has no next one.

    Raises:
        BadParameterError: The answer needs all rows, and there are too many.
        StoreError: The store cannot be read.
    """
    if query.counts_pages:
        return CaptureRows(query, (), None, -(-len(_all(store, query)) // ROWS_OF_PAGE))
    if query.limit < 0:
        return CaptureRows(query, tuple(_all(store, query, keeps=-query.limit)), None)
    is_sorted = query.is_reversed or query.closest is not None
    if not is_sorted:
        return _in_order(store, query)
    if query.collapses or query.links.is_range:
        rows: Iterable[Memento] = _all(store, query)
        rows = reversed(list(rows)) if query.closest is None else _nearest_first(rows, query)
    else:
        nearest = by_distance(store, query.links.surt, query.closest or LAST_MOMENT)
        rows = filter(
            query.passes,
            islice((one for one in nearest if one.timestamp in query.span), MOST_READ),
        )
    return CaptureRows(query, tuple(islice(rows, query.skipped, query.skipped + query.limit)), None)


def _nearest_first(rows: Iterable[Memento], query: CaptureQuery) -> list[Memento]:
    assert query.closest is not None
    moment = moment_of(query.closest)
    return sorted(rows, key=lambda memento: abs(moment_of(memento.timestamp) - moment))


def _all(store: Answers, query: CaptureQuery, keeps: int | None = None) -> deque[Memento]:
    """Return all rows in the order of the store, or the last ones.

    Raises:
        BadParameterError: The captures are too many to be read for one answer.
    """
    collapser = query.collapser()
    found: deque[Memento] = deque(maxlen=keeps)
    for count, memento in enumerate(_captures(store, query)):
        if count == MOST_READ:
            raise _too_many(query)
        if query.passes(memento) and collapser.passes(memento):
            found.append(memento)
    return found


def _too_many(query: CaptureQuery) -> BadParameterError:
    return BadParameterError(
        URI.name,
        str(query.links.uri),
        f"a URI with at most {MOST_READ:,} captures, for an answer that counts, sorts or skips "
        f"rows; {RESUME_KEY.name} reads any number",
    )


def _in_order(store: Answers, query: CaptureQuery) -> CaptureRows:
    found: list[Memento] = []
    collapser = query.collapser()
    last: Memento | None = None
    skipped = 0
    for count, memento in enumerate(_captures(store, query)):
        if len(found) == query.limit or count == MOST_READ:
            if skipped < query.skipped:
                raise _too_many(query)
            assert last is not None
            position = (last.surt, last.timestamp, last.original, last.checksum)
            key = encode_fields(["captures", *position, collapser.state])
            return CaptureRows(query, tuple(found), key)
        last = memento
        if query.passes(memento) and collapser.passes(memento):
            if skipped < query.skipped:
                skipped += 1
            else:
                found.append(memento)
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
    return (memento.timestamp, memento.original, memento.checksum) > position[1:4]


def _position(key: str, links: LinkQuery, collapses: int) -> RowPosition:
    """Return the position that a key names.

    Raises:
        BadParameterError: The text is not a key of an answer to this query.
    """
    try:
        match decode_fields(key):
            case ["captures", str(surt), str(timestamp), str(original), str(checksum), list(last)]:
                position = RowPosition(
                    Surt(surt), Timestamp(timestamp), UriR(original), checksum, tuple(last)
                )
            case _:
                raise CursorError("a key of another query")
        if len(last) != collapses:
            raise CursorError("a key of another query")
        if not surt.startswith(links.stems) or (not links.is_range and surt != links.surt):
            raise CursorError("a key of another query")
    except CursorError as error:
        raise BadParameterError(RESUME_KEY.name, key, RESUME_KEY.form.allowed) from error
    return position
