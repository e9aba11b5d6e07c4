"""JSON Schemas of the JSON answers, for the description of the service (``/openapi.json``).

Every object is closed: a field in an answer that its schema lacks is an error, which the tests
detect.
"""

from collections.abc import Mapping, Sequence

from arclink.access.archives import Refused
from arclink.access.capabilities import ColumnKind, RowColumn, capability
from arclink.access.capture_fields import EXPLANATION, TIMEMAP, CaptureForm, FieldKind

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 0}
COUNT: Schema = {"type": "integer", "minimum": 1}
_YES_OR_NO: Schema = {"type": "boolean"}
_TIMESTAMP: Schema = {
    "type": "string",
    "pattern": "^[0-9]{14}$",
    "description": "14 digits, UTC: YYYYMMDDhhmmss",
}
TEXTS: Schema = {"type": "array", "items": TEXT}
TIMESTAMPS: Schema = {"type": "array", "items": _TIMESTAMP, "minItems": 1}


def ref(name: str) -> Schema:
    """Return a reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: Schema) -> Schema:
    """Return the schema of a list of such values."""
    return {"type": "array", "items": schema}


def fields(
    always: Mapping[str, Schema], sometimes: Mapping[str, Schema] | None = None, about: str = ""
) -> Schema:
    """Return the schema of an object with these fields and no others."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": {**always, **(sometimes or {})},
        "required": list(always),
        "additionalProperties": False,
    }
    return {**schema, "description": about} if about else schema


_OF_KIND: Mapping[FieldKind, Schema] = {
    FieldKind.TIME: _TIMESTAMP,
    FieldKind.NUMBER: NUMBER,
    FieldKind.LENGTH: {**NUMBER, "minimum": -1},
}


def _facts(form: CaptureForm) -> Mapping[str, Schema]:
    return {name: _OF_KIND.get(field.kind, TEXT) for name, field in form.fields.items()}


def named(schema: Schema) -> Schema:
    """Return the schema of an object whose field names are data."""
    return {"type": "object", "additionalProperties": schema}


_OF_COLUMN: Mapping[ColumnKind, Schema] = {
    ColumnKind.TEXT: TEXT,
    ColumnKind.NUMBER: NUMBER,
    ColumnKind.TIME: _TIMESTAMP,
    ColumnKind.TEXTS: TEXTS,
    ColumnKind.DECIMAL: {"type": "number"},
    ColumnKind.FLAG: _YES_OR_NO,
}


def _row_of(columns: Sequence[RowColumn]) -> Schema:
    """Return the schema of the rows with these columns."""
    by_presence: Mapping[bool, dict[str, Schema]] = {True: {}, False: {}}
    for one in columns:
        schema = {"enum": [*one.values]} if one.values else _OF_COLUMN[one.kind]
        schema = _or_null(schema) if one.may_be_null else schema
        by_presence[one.is_always][one.name] = {**schema, "description": one.about}
    return fields(by_presence[True], by_presence[False])


def _in_rows(
    name: str,
    always: Mapping[str, Schema],
    sometimes: Mapping[str, Schema] | None = None,
    about: str = "",
) -> Schema:
    """Return the schema of the answers of a capability: `fields`, and its lists of rows."""
    one = capability(name)
    always = {**always, "provenance": ref("Provenance")}
    lists = {of: listed(_row_of(columns)) for of, columns in one.lists.items()}
    if one.has_one_list:
        return fields(always, {**(sometimes or {}), **lists}, about)
    return fields({**always, **lists}, sometimes, about)


_EXTENT = fields(
    {"links": NUMBER, "complete": _YES_OR_NO}, about="size of the part that was counted"
)
_BOTH: Sequence[str] = ("outlinks", "inlinks")


def _per_direction(schema: Schema) -> Schema:
    return fields({}, dict.fromkeys(_BOTH, schema), about="the directions in the query")


_ORDER: Schema = {"enum": ["grouped", "store"]}
_ASKED: Mapping[str, Schema] = {"uri": TEXT, "surt": TEXT}
_INLINKS_KNOWN: Schema = {
    **_or_null(_YES_OR_NO),
    "description": "whether inlinks are known; false: no capture from then was read, so they are "
    "unknown, not none; null: not known, or the query is not for inlinks",
}
_READ_CAPTURES: Schema = {
    **_or_null(
        fields(
            {
                "captures": NUMBER,
                "read": NUMBER,
                "first": _or_null(_TIMESTAMP),
                "last": _or_null(_TIMESTAMP),
            }
        )
    ),
    "description": "without inlinks: the captures of any page from then, those of them whose links "
    "are known (read, or errors and redirects, which have none), and the first and last of these; "
    "null with inlinks, or if the captures are not counted by time",
}
_READ_FROM = fields({"file": TEXT, "offset": NUMBER})
_MEMBER: Mapping[str, Schema] = {
    **_ASKED,
    "kind": TEXT,
    "text": TEXT,
    "rel": _or_null(TEXT),
    "timestamps": TIMESTAMPS,
}
_MEMBER_DETAILS: Mapping[str, Schema] = {
    "uri_ms": TEXTS,
    "evidence": _or_null(listed(ref("Evidence"))),
    "validity": _or_null(ref("Validity")),
    "uris": TEXTS,
    "archives": named(TIMESTAMPS),
}
_OF_GRAPH: Mapping[str, Schema] = {
    "level": {"enum": ["uri", "host", "domain"]},
    "kinds": TEXTS,
    "other_kinds": NUMBER,
}
_DIFFERENT_STATE = fields(
    {"uri": TEXT, "timestamp": _TIMESTAMP, "status": TEXT, "state": TEXT}, {"uri_m": TEXT}
)
_TIMEMAP_MEMENTO = fields(
    {
        "datetime": {"type": "string", "format": "date-time"},
        **_facts(TIMEMAP),
    },
    {"uri": TEXT},
)


_ARCHIVE: Mapping[str, Schema] = {
    "name": TEXT,
    "outcome": {"enum": ["answered", "partial", "failed"]},
    "detail": TEXT,
    "passed_over": NUMBER,
    "refused": fields({}, {reason.value: COUNT for reason in Refused}),
    "seconds": {"type": "number", "minimum": 0},
    "cached": _YES_OR_NO,
}
_OF_QUESTION: Mapping[str, Schema] = {
    "question": TEXT,
    "asks": TEXT,
    "asked": TEXTS,
    "scope": TEXT,
    "level": _or_null(TEXT),
    "by": TEXT,
    "kinds": TEXTS,
    "from": _or_null(_TIMESTAMP),
    "to": _or_null(_TIMESTAMP),
    "total": NUMBER,
    "rows": listed({"type": "object"}),
}
_CAPTURES_OF_ANSWER = fields(
    {
        "count": NUMBER,
        "links_known": NUMBER,
        "first": _or_null(_TIMESTAMP),
        "last": _or_null(_TIMESTAMP),
        "by_period": {"type": "object", "additionalProperties": NUMBER},
    }
)

_DAY: Schema = {"type": "string", "format": "date"}

SCHEMAS: Mapping[str, Schema] = {
    "Provenance": fields(
        {
            "archive": _or_null(TEXT),
            "captures": _or_null(NUMBER),
            "read": _or_null(NUMBER),
            "first": _or_null(_DAY),
            "last": _or_null(_DAY),
            "state": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "arclink": TEXT,
            "asked": _or_null(TEXT),
            "cite": TEXT,
        },
        about="where an answer is from: name of the archive, its captures that the caller may see "
        "and those with known links (null: not known), days of the first and last one, state of "
        "the store, version of ArcLink, the question, and a line to cite",
    ),
    "Pages": fields({"pages": NUMBER, "pageSize": NUMBER, "blocks": NUMBER}),
    "Problem": fields(
        {"type": TEXT, "title": TEXT, "status": NUMBER, "detail": TEXT},
        {
            "parameter": TEXT,
            "value": TEXT,
            "allowed": TEXT,
            "formats": TEXTS,
            "archives": listed(fields({"name": TEXT, "detail": TEXT})),
            "file": TEXT,
            "reason": TEXT,
        },
        about="what is wrong (RFC 9457)",
    ),
    "Known": fields(
        {
            "count": NUMBER,
            "first": _or_null(_TIMESTAMP),
            "last": _or_null(_TIMESTAMP),
            "asked": NUMBER,
            "links_known": NUMBER,
        },
        {"links_known_at_most": NUMBER},
        about="mementos of the URI in the query: 'not captured' is not 'no links'",
    ),
    "Evidence": fields(
        {
            "uri": TEXT,
            "timestamp": _TIMESTAMP,
            "status": TEXT,
            "record_type": TEXT,
            "checksum": TEXT,
            "file": TEXT,
            "offset": NUMBER,
            "length": {"type": "integer", "minimum": -1},
            "read_from": _READ_FROM,
        },
        {"uri_m": TEXT},
        about="a memento that shows the link, and where it is in the archive",
    ),
    "Validity": fields(
        {
            "last_without": _or_null(_TIMESTAMP),
            "first_with": _TIMESTAMP,
            "last_with": _TIMESTAMP,
            "first_without": _or_null(_TIMESTAMP),
        },
        about="between which mementos the link appeared and disappeared",
    ),
    "Outlink": fields({**_MEMBER, "sources": TEXTS}, _MEMBER_DETAILS),
    "Inlink": fields({**_MEMBER, "targets": TEXTS}, _MEMBER_DETAILS),
    "Links": fields(
        {
            **_ASKED,
            "uri_id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "direction": {"enum": ["out", "in", "both"]},
            "outlinks": listed(ref("Outlink")),
            "inlinks": listed(ref("Inlink")),
            "inlinks_known": _INLINKS_KNOWN,
            "inlinks_read_from": _READ_CAPTURES,
            "order": fields(dict.fromkeys(_BOTH, _ORDER)),
            "next": _or_null(TEXT),
        },
        {
            "mementos": ref("Known"),
            "match_type": {"enum": ["prefix", "host", "domain"]},
            "at": _TIMESTAMP,
            "in_force": listed(
                fields(
                    {
                        "uri": TEXT,
                        "timestamp": _TIMESTAMP,
                        "status": TEXT,
                        "links_known": _YES_OR_NO,
                    },
                    {"uri_m": TEXT},
                )
            ),
            "archives": listed(ref("Archive")),
            "followed": listed(
                fields({"uri": TEXT, "timestamp": _TIMESTAMP, "target": TEXT}, {"uri_m": TEXT})
            ),
        },
        about="the links of a URI, or with match_type of several, without mementos",
    ),
    "Archive": fields({**_ARCHIVE, "links": NUMBER}, about="result of the request to one archive"),
    "Anchors": _in_rows(
        "anchors",
        {
            **_ASKED,
            "mementos": ref("Known"),
            "inlinks_known": _INLINKS_KNOWN,
            "inlinks_read_from": _READ_CAPTURES,
            "by": TEXTS,
            "start": NUMBER,
            "total": NUMBER,
            "counted": _EXTENT,
            "next": _or_null(TEXT),
        },
        {"at": _TIMESTAMP},
        about="the words of the links to a URI",
    ),
    "Questions": fields(
        {
            "columns": {"type": "object", "additionalProperties": TEXT},
            "questions": listed(
                fields(
                    {
                        "question": TEXT,
                        "asks": TEXT,
                        "about": TEXT,
                        "level": _or_null(TEXT),
                        "by": _or_null(TEXT),
                        "columns": TEXTS,
                    }
                )
            ),
        },
        about="the questions that can be asked",
    ),
    "Answer": fields(
        {**_OF_QUESTION, "captures": _CAPTURES_OF_ANSWER, "provenance": ref("Provenance")},
        {"unchanged": NUMBER, "unknown": TEXT},
        about="the answer to a question",
    ),
    "MergedAnswer": fields(
        {
            **_OF_QUESTION,
            "apart": _or_null(TEXT),
            "archives": listed(
                fields(
                    {
                        **_ARCHIVE,
                        "rows": NUMBER,
                        "captures": _or_null(_CAPTURES_OF_ANSWER),
                        "unknown": _or_null(TEXT),
                        "provenance": _or_null(ref("Provenance")),
                    }
                )
            ),
        },
        {"unknown": TEXT},
        about="the answer of several archives to a question; apart says why no rows are merged",
    ),
    "Addresses": fields(
        {"addresses": TEXTS}, about="known addresses that begin as the one that is typed"
    ),
    "Count": _in_rows(
        "count",
        {
            "by": _or_null(TEXT),
            "captures": NUMBER,
            "uris": NUMBER,
            "complete": {
                **_YES_OR_NO,
                "description": "Whether all captures of the subset were counted; if not, "
                "there are more.",
            },
        },
        about="the captures of a subset",
    ),
    "Subset": fields(
        {
            "name": TEXT,
            "kind": {"enum": ["view", "list"]},
            "captures": _or_null(NUMBER),
            "made": TEXT,
            "selection": TEXT,
        },
        {"json": {"type": "object", "description": "the selection as JSON"}},
        about="a named subset",
    ),
    "Subsets": fields({"subsets": listed(ref("Subset"))}, about="the named subsets of the store"),
    "Diff": _in_rows(
        "diff",
        {
            **_ASKED,
            "from": _TIMESTAMP,
            "to": _TIMESTAMP,
            "direction": {"enum": ["out", "in", "both"]},
            "in_force": fields({"from": listed(_DIFFERENT_STATE), "to": listed(_DIFFERENT_STATE)}),
            "start": NUMBER,
            "totals": _per_direction(
                fields(dict.fromkeys(("added", "removed", "kept", "unknown"), NUMBER))
            ),
            "counted": _per_direction(_EXTENT),
            "next": _or_null(TEXT),
        },
        about="links that were added, removed and kept",
    ),
    "Path": _in_rows(
        "path",
        {
            "from_uri": TEXT,
            "to_uri": TEXT,
            "find": {"enum": ["earliest", "shortest"]},
            "when": {"enum": ["seen", "in-force"]},
            "kinds": TEXTS,
            "found": _YES_OR_NO,
            "pages": NUMBER,
            "complete": _YES_OR_NO,
            "begin_read_from": _READ_CAPTURES,
            "read_from": _READ_CAPTURES,
        },
        about="a path of links that follows time",
    ),
    "Properties": _in_rows("properties", _OF_GRAPH, about="the properties of the graph"),
    "Pagerank": _in_rows(
        "pagerank",
        {
            **_OF_GRAPH,
            "damping": {"type": "number"},
            "tolerance": {"type": "number"},
            "weight": _or_null(TEXT),
            "self_links": _YES_OR_NO,
            "only_captured": _YES_OR_NO,
            "windows": listed(
                fields(
                    {
                        "window": TEXT,
                        **dict.fromkeys(("nodes", "edges", "iterations", "tied"), NUMBER),
                        "residual": {"type": "number"},
                        "converged": _YES_OR_NO,
                    }
                )
            ),
        },
        about="the nodes with the highest ranks, or how far windows agree, or one node's rank",
    ),
    "Explanations": fields(
        {
            **_ASKED,
            "mementos": listed(
                fields(
                    {
                        **_facts(EXPLANATION),
                        "reason": TEXT,
                        "reason_text": TEXT,
                        "content": _or_null(TEXT),
                        "charset": _or_null(TEXT),
                        "title": _or_null(TEXT),
                        "read_from": _or_null(_READ_FROM),
                        "links": named(NUMBER),
                    }
                )
            ),
        },
        about="what happened to each capture",
    ),
    "TimeMap": fields(
        {
            "original_uri": TEXT,
            "surt": TEXT,
            "self": TEXT,
            "timemap_uri": fields({"json_format": TEXT}, {"link_format": TEXT}),
            "next": _or_null(TEXT),
            "next_from": _or_null(_TIMESTAMP),
            "mementos": fields(
                {
                    "first": _or_null(_TIMEMAP_MEMENTO),
                    "last": _or_null(_TIMEMAP_MEMENTO),
                    "list": listed(_TIMEMAP_MEMENTO),
                }
            ),
        },
        {"timegate_uri": TEXT},
        about="the mementos of a URI (RFC 7089, in MemGator's JSON)",
    ),
    "Health": fields({"status": {"enum": ["ok"]}, "batches": NUMBER}),
}
"""All schemas by name; they refer to each other."""
