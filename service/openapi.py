"""Description of the service's resources: an OpenAPI document, also shown as a page for people.

A `Resource` refers to the same parameter declarations that its view parses, so the description
cannot differ from the service. `arclink.service.schemas` describes the answers.

Source: OpenAPI Specification 3.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from arclink.access.capabilities import Capability, Cost, capability
from arclink.access.captures import OUTPUTS
from arclink.access.declarations import SUBSET, AnyParameter
from arclink.access.formats import CSVW, FORMATS, PARQUET, Format
from arclink.access.formats.rows import ROW_FORMATS, RowFormat
from arclink.access.formats.timemaps import LINK_FORMAT
from arclink.access.queries import CURSOR, URI
from arclink.analysis.questions.queries import WORDS
from arclink.analysis.questions.rows import ASK_FORMATS
from arclink.analysis.questions.table import QUESTIONS
from arclink.captures.queries import FORMATS_OF_FILES, FORMATS_OF_STREAMS
from arclink.captures.subsets.fields import NAME_PATTERN
from arclink.captures.write import WRITERS
from arclink.rooms import CAPABILITIES
from arclink.service.archived import CDX, EXPORT, RECORD, STREAM
from arclink.service.problems import MEDIA_TYPE
from arclink.service.query_resources import (
    AGGREGATE,
    ASK,
    COMPLETE,
    EXPLAIN,
    FOUND,
    LEFT_OUT,
    LINK_QUERY,
    LIST,
    UNKNOWN,
    in_rows,
)
from arclink.service.schemas import SCHEMAS, TEXT, Schema, ref
from arclink.version import VERSION

_OPENAPI_VERSION: Final = "3.1.0"

_STATUSES: Mapping[int, str] = {
    400: (
        "A parameter is wrong, unknown or given twice; the problem names it, its value and the "
        "allowed values."
    ),
    404: (
        "There is no such path. Links: never for a URI that the graph does not know. Captures and "
        "TimeMaps: also if the URI has no capture, or its payload is not at hand."
    ),
    406: "No available format is in Accept; the problem lists the available ones.",
    409: "The answer needs the text of pages, which was not read; the problem says how to read it.",
    410: "What the request names existed and was removed; the problem says how to continue.",
    414: "The query part of the request, or an address that the answer needs, is too long.",
    422: (
        "The answer needs more time or memory than the service allows a question. The same request "
        "would need it again: narrow it to a host, a page or fewer years."
    ),
    502: (
        "No archive answered; the problem says why for each. For a capture: its record is "
        "damaged, or another record is at its place."
    ),
    503: (
        "The store cannot be read, or the tables of an answer are being made; Retry-After says "
        "when to try again. For a capture: its archive file is missing."
    ),
}


@dataclass(frozen=True, slots=True)
class Resource:
    """Description of one path.

    Attributes:
        path: Path in OpenAPI's notation.
        about: Description of the answer, in a sentence or two.
        answers: Schema of the answer by media type.
        errors: Statuses of `_STATUSES` that the resource may return, besides 414; and 409 if it
            takes a subset.
        parameters: Parameters of the query string.
        of_path: Schemas of the path's parameters, by name.
        headers: Descriptions of further response headers, by name.
        is_of_store: Whether the answer changes only when the store does.
        further: Descriptions of further responses, by status; ``default`` for any other.
        cost: What an answer costs.
        own_name: Name of the operation, if it is not the first part of the path.
    """

    path: str
    about: str
    answers: Mapping[str, Schema]
    errors: Sequence[int] = (400, 406, 503)
    parameters: Sequence[AnyParameter] = ()
    of_path: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    is_of_store: bool = True
    further: Mapping[str, str] = field(default_factory=dict)
    cost: Cost = Cost.ORDINARY
    own_name: str = ""

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.own_name or self.path.split("/")[1]


def _in(formats: Mapping[str, Format] | Mapping[str, RowFormat], name: str) -> Mapping[str, Schema]:
    """Return the schemas of an answer in these formats; ``name`` is that of its JSON."""
    return {
        media_type: ref(name) if media_type == "application/json" else _schema_of(media_type)
        for form in formats.values()
        for media_type in form.media_types
    }


_OF_MEDIA_TYPE: Mapping[str, Schema] = {
    PARQUET: {"type": "string", "format": "binary"},
    "application/ld+json": {"type": "array"},
    "application/yaml": {"type": "object"},
    CSVW: {"type": "object"},
}
"""What bodies are after their media type is read; others are texts."""


def _schema_of(media_type: str) -> Schema:
    return _OF_MEDIA_TYPE.get(media_type, TEXT)


_NEXT = {"Link": 'rel="next": the next part of the answer.'}
_OF_ARCHIVES = {"ArcLink-Archives": "For each archive: NAME=answered, partial or failed."}
_OF_ANSWERS = {
    FOUND: "Number of rows without limit.",
    UNKNOWN: "Why an answer without rows does not mean 'none'; missing if it does, or has rows.",
    LEFT_OUT: "With seeds and browsertrix: addresses of rows that are neither http nor https.",
}
_MEMENTO = {
    "Link": (
        'rel="next": the next part of the answer; if mementos have addresses also original, '
        "timemap and memento (RFC 7089)."
    ),
    "Memento-Datetime": "With at: timestamp of the newest memento in force.",
}
_URI_IN_PATH: Mapping[str, Schema] = {
    "uri": {
        "type": "string",
        "minLength": 1,
        "description": "The whole URI, unchanged or percent-encoded.",
    }
}


def _of_capability(one: Capability[Any]) -> Resource:
    has_pages = CURSOR in one.query.DECLARED
    answers, is_question = _in(ROW_FORMATS, one.schema), one.name in QUESTIONS
    if is_question:  # about a part of the archive
        of_json = {"anyOf": [ref(one.schema), ref("Answer")]}
        answers = {**answers, "application/json": of_json}
    has_limit = is_question or one.cost is Cost.EXPENSIVE
    return Resource(
        f"/{one.name}",
        one.asks,
        answers,
        (400, 406, *([422] if has_limit else []), 503),
        in_rows(one),
        headers=_NEXT if has_pages else {},
        cost=one.cost,
    )


def _page(path: str, about: str, *errors: int, **others: Any) -> Resource:
    """Return the description of a page for people."""
    return Resource(path, about, {"text/html": TEXT}, errors, **others)


_TYPED = replace(WORDS, name="q", about="Words to find, as `words`.", otherwise="none")
_LINKS = Resource(
    "/linkQuery",
    "The outlinks and inlinks of a URI through time.",
    _in(FORMATS, "Links"),
    parameters=LINK_QUERY,
    headers=_MEMENTO,
)
_ASK = Resource(
    "/ask/{question}",
    "The answer to a question, with the captures that it is read from.",
    _in(ASK_FORMATS, "Answer"),
    (400, 406, 422, 503),
    ASK,
    headers=_OF_ANSWERS,
    of_path={"question": {"type": "string", "enum": [*QUESTIONS]}},
    cost=Cost.EXPENSIVE,
)
_TIMEMAP = Resource(
    "/timemap/json/{uri}",
    "The mementos of a URI, as JSON.",
    {"application/json": ref("TimeMap")},
    (400, 404, 503),
    of_path=_URI_IN_PATH,
    own_name="timemapJson",
)

RESOURCES: Sequence[Resource] = (
    _LINKS,
    replace(
        _LINKS,
        path="/LinkService/linkQuery",
        about="The same resource, at the path of the paper.",
    ),
    *map(_of_capability, map(capability, CAPABILITIES)),
    Resource(
        "/ask",
        "The questions about pages, sites and the whole archive, and the columns of their answers.",
        _in(ROW_FORMATS, "Questions"),
        (400, 406),
        LIST,
        own_name="questions",
    ),
    _ASK,
    Resource(
        "/complete",
        "Known hosts or pages whose addresses begin in this way, at most ten.",
        {"application/json": ref("Addresses")},
        (400, 503),
        COMPLETE,
        further={"204": "The tables are not ready, or this takes longer than a reader types."},
    ),
    Resource(
        "/explain",
        "What happened to each capture of a URI, and why.",
        {"application/json": ref("Explanations")},
        (400, 503),
        EXPLAIN,
    ),
    _TIMEMAP,
    replace(
        _TIMEMAP,
        path="/timemap/link/{uri}",
        own_name="timemapLink",
        about="The mementos of a URI in link format (RFC 7089).",
        answers={LINK_FORMAT: TEXT},
    ),
    Resource(
        "/web/{time}id_/{uri}",
        "A capture as archived: status, body, content type; all archived headers as "
        "X-Archive-Orig-.",
        {"*/*": {}},
        (400, 404, 502, 503),
        of_path={
            "time": {
                "type": "string",
                "pattern": "^[1-9][0-9]{3,13}$",
                "description": "14 digits.",
            },
            **_URI_IN_PATH,
        },
        headers={
            "Memento-Datetime": "Time of the capture.",
            LEFT_OUT: "Number of archived headers that are not in the answer, if there are any.",
            "Link": (
                "original, timegate, timemap, and mementos: this one, first, prev, next and last "
                "(RFC 7089)."
            ),
        },
        further={
            "206": "The range of bytes that the request names; also an archived part.",
            "302": "Where the nearest capture is, or an archived redirect.",
            "416": "The range begins after the end of the capture.",
            "default": "The archived status.",
        },
    ),
    Resource(
        "/timegate/{uri}",
        "Leads to the capture that is nearest to Accept-Datetime (RFC 7089), else to the newest.",
        {},
        (400, 404, 503),
        of_path=_URI_IN_PATH,
        headers={"Link": "original, timegate, timemap and mementos."},
        further={"302": "Where the capture is."},
    ),
    Resource(
        "/cdx",
        "The captures of a URI or of many, as rows of a capture index, in the words of pywb "
        "and OutbackCDX.",
        {
            **{output.media_type.partition(";")[0]: TEXT for output in OUTPUTS.values()},
            "application/json": ref("Pages"),
        },
        (400, 404, 503),
        CDX,
        headers=_NEXT,
    ),
    Resource(
        "/stream",
        "Every capture with its bytes, once, in an order; the last line or record says "
        "whether the stream is complete.",
        {WRITERS[form].media_type: TEXT for form in FORMATS_OF_STREAMS},
        (400, 404, 410, 503),
        STREAM,
        is_of_store=False,
        cost=Cost.EXPENSIVE,
    ),
    Resource(
        "/record",
        "The WARC or ARC record of a capture that the graph shows, by archive file and offset.",
        {"application/warc": {}},
        (400, 404, 502, 503),
        RECORD,
        further={
            "206": "The range of bytes that the request names.",
            "416": "The range begins after the end of the record.",
        },
    ),
    Resource(
        "/subsets",
        "The named subsets of the store.",
        {"application/json": ref("Subsets")},
        (503,),
        is_of_store=False,
    ),
    Resource(
        "/subsets/{name}",
        "A named subset: its selection as text and as JSON.",
        {"application/json": ref("Subset")},
        (404, 503),
        of_path={"name": {"type": "string", "pattern": f"^{NAME_PATTERN}$"}},
        is_of_store=False,
        own_name="subset",
    ),
    _page(
        "/select",
        "A page for people: a form that builds a selection of captures, and its count.",
        *(400, 503),
        parameters=(SUBSET,),
        is_of_store=False,
        further={"302": "The address of the selection that the form builds."},
        cost=Cost.EXPENSIVE,
    ),
    Resource(
        "/export",
        "Captures as a file to download: WARC, WACZ, an index of the records, or a table.",
        {WRITERS[form].media_type: {} for form in FORMATS_OF_FILES},
        (400, 404, 503),
        EXPORT,
        headers={"Content-Disposition": "The name of the file."},
        cost=Cost.EXPENSIVE,
    ),
    Resource(
        "/aggregate",
        "The links of a URI in this and other archives, merged; each with the archives that "
        "have it.",
        _in(FORMATS, "Links"),
        (400, 406, 502, 503),
        AGGREGATE,
        headers={**_NEXT, **_OF_ARCHIVES},
        is_of_store=False,
        cost=Cost.EXPENSIVE,
    ),
    replace(
        _ASK,
        path="/aggregate/ask/{question}",
        own_name="aggregateAnswers",
        about="The answers of this and other archives to a question: rows with one name as one "
        "row, and those of each archive.",
        answers=_in(ASK_FORMATS, "MergedAnswer"),
        errors=(400, 406, 502),
        headers={**_OF_ANSWERS, **_OF_ARCHIVES},
        is_of_store=False,
    ),
    _page(
        "/browse/{time}/{uri}",
        "A page for people: a page at a time in the past, replayed, and its links then.",
        *(400, 503),
        of_path={
            "time": {
                "type": "string",
                "pattern": (
                    "^[12][0-9]{3}(0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]$"
                ),
                "description": "14 digits, UTC, or fewer.",
            },
            **_URI_IN_PATH,
        },
        further={"302": "The same page at a time in 14 digits."},
    ),
    _page(
        "/browse/",
        "Leads to the page that the form of a page asks for.",
        *(400, 503),
        further={"302": "Where the page is."},
        own_name="browseForm",
    ),
    _page("/", "A page for people.", 400, 422, 503, own_name="page"),
    _page(
        "/search",
        "Leads to the page that finds words; without any, to the field for them.",
        *(503,),
        parameters=(_TYPED,),
        further={"302": "Where the page is."},
    ),
    _page("/docs", "This description as a page.", is_of_store=False),
    _page(
        "/docs/reasons",
        "What each reason means, as a page.",
        is_of_store=False,
        own_name="reasons",
    ),
    Resource(
        "/openapi.json",
        "This description.",
        {"application/json": {"type": "object"}},
        (),
        is_of_store=False,
        own_name="openapi",
    ),
    Resource(
        "/metrics",
        "Metrics for Prometheus.",
        {"text/plain": TEXT},
        (),
        is_of_store=False,
        cost=Cost.CHEAP,
    ),
    Resource(
        "/health",
        "Whether the store can be read.",
        {"application/json": ref("Health")},
        (503,),
        is_of_store=False,
        cost=Cost.CHEAP,
    ),
)
"""Every path of the service, except those of style sheets and pictures."""


def describe(base_path: str) -> Mapping[str, object]:
    """Return the OpenAPI document of a service below the path ``base_path``; empty for the root."""
    return {
        "openapi": _OPENAPI_VERSION,
        "info": {
            "title": "ArcLink",
            "version": VERSION,
            "summary": "The temporal link graph of a web archive.",
            "license": {"name": "AGPL-3.0-or-later", "identifier": "AGPL-3.0-or-later"},
        },
        "servers": [{"url": base_path or "/"}],
        "paths": {resource.path: {"get": operation(resource)} for resource in RESOURCES},
        "components": {"schemas": SCHEMAS},
    }


def operation(resource: Resource) -> Mapping[str, Any]:
    """Return the description of one path: an operation object of OpenAPI."""
    headers = (
        {"ETag": "Changes when the store does.", "Last-Modified": "When the store last changed."}
        if resource.is_of_store
        else {}
    )
    of_subset = [409] if SUBSET in resource.parameters else []
    errors: dict[str, object] = {
        str(status): _error(_STATUSES[status], status == 503)
        for status in sorted({*resource.errors, *of_subset, 414})
    }
    unchanged = (
        {"304": {"description": "Nothing changed since the answer with this ETag or time."}}
        if resource.is_of_store
        else {}
    )
    return {
        "operationId": resource.name,
        "summary": resource.about,
        "parameters": [
            *map(_parameter, resource.parameters),
            *(_in_path(name, schema) for name, schema in resource.of_path.items()),
        ],
        "responses": {
            **({"200": _answer(resource, headers)} if resource.answers else {}),
            **{status: {"description": about} for status, about in resource.further.items()},
            **unchanged,
            **errors,
        },
    }


def _answer(resource: Resource, headers: Mapping[str, str]) -> Mapping[str, object]:
    return {
        "description": "The answer.",
        "headers": {
            name: {"description": about, "schema": TEXT}
            for name, about in {**headers, **resource.headers}.items()
        },
        "content": {
            media_type: {"schema": schema} for media_type, schema in resource.answers.items()
        },
    }


EXAMPLES = {
    "question": "linkers",
    "uri": "http://example.org/",
    "time": "20100217101229",
    "name": "gov",
}
"""Examples of the parameters in paths."""

_PROBLEM = {MEDIA_TYPE: {"schema": ref("Problem")}}


_ON_PAGE = {"text/html": {"schema": TEXT}}
"""The content that a browser gets for an error."""


def _error(about: str, has_retry: bool) -> Mapping[str, object]:
    headers = (
        {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
        if has_retry
        else {}
    )
    return {"description": about, "headers": headers, "content": {**_PROBLEM, **_ON_PAGE}}


def _parameter(parameter: AnyParameter) -> Mapping[str, object]:
    schema: Mapping[str, object] = parameter.form.schema
    if parameter.default is not None and not parameter.is_list:
        schema = {
            **schema,
            "default": parameter.form.read(parameter.default)
            if schema.get("type") in ("integer", "boolean")
            else parameter.default,
        }
    also = f" Also: {', '.join(parameter.also)}." if parameter.also else ""
    allowed = f" Expected: {parameter.form.allowed}." if parameter.form.allowed else ""
    otherwise = f" By default: {parameter.otherwise}." if parameter.otherwise else ""
    described: dict[str, object] = {
        "name": parameter.name,
        "in": "query",
        "description": f"{parameter.about}{also}{allowed}{otherwise}",
        "required": parameter.is_required,
        "schema": _list_of(schema, parameter.default) if parameter.is_list else schema,
    }
    if parameter.is_list:
        described |= {"style": "form", "explode": True}
    if not parameter.is_required:
        described["allowEmptyValue"] = True
    if parameter.name == URI.name or parameter.form is URI.form:
        described["example"] = "http://example.org/"
    return described


def _list_of(item_schema: Mapping[str, object], default: str | None) -> Mapping[str, object]:
    several: Mapping[str, object] = {"type": "array", "items": item_schema}
    return several if default is None else {**several, "default": [default]}


def _in_path(name: str, schema: Schema) -> Mapping[str, object]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": schema,
        "example": EXAMPLES[name],
    }
