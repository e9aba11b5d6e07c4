"""WAT files: JSON descriptions, made by another tool, of the records of an archive file.

A WAT file is a WARC file of ``metadata`` records, one for each record of the file it describes. Its
JSON has two parts: ``Container`` (the described file, and the offset in it) and ``Envelope`` (the
head of the record, and the contents of its payload). The heads of the WAT's own records say little:
their WARC-Date is the time when the WAT was made, and their target URI may be a file name. So
ArcLink takes everything from the envelope, and a capture read from a WAT is the same memento as the
one read from its WARC: same URI, time, checksum, status.

ArcLink reads both flavours, that of the Internet Archive (webarchive-commons) and that of Common
Crawl (ia-web-commons), for WARC and for ARC. ``docs/reference/wat.md`` describes what a WAT lacks.

Source: the code of the writers, ``ResourceConstants`` (names) and ``ExtractingParseObserver``
(which ``path`` is written for which attribute) of both projects.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

import orjson

from arclink.archives.records import (
    RECORD_TYPES,
    ArchiveRecord,
    HttpHeaders,
    arc_type_of,
    clean_uri,
)
from arclink.errors import RecordError
from arclink.reasons import Reason

Json = Mapping[str, object]
"""A JSON object; the types of its members are checked where they are used."""

_LONGEST_JSON = 64 << 20
"""Maximum bytes of one WAT record that are read; a page of 200,000 links has about 30 MB."""

MOST_VALUES = 2_000_000
"""Maximum number of JSON values in a WAT record; a page of 200,000 links has 800,000."""

_NOTHING: Json = {}


@dataclass(frozen=True, slots=True)
class Described:
    """A capture, as described by a WAT record.

    Attributes:
        capture: The described record. Its ``offset`` and ``length`` are those of the WAT record.
            Its checksum is the declared digest of the payload, else the digest that the WAT's
            writer computed. Its body is empty and counts as damaged.
        container: Name of the archive file that holds the capture; empty if the WAT does not say.
        offset: Bytes into that file, as stored; 0 if the WAT does not say.
        html: ``HTML-Metadata``; None if the WAT has none: its writer did not see HTML in the
            payload, or failed.
    """

    capture: ArchiveRecord
    container: str
    offset: int
    html: Json | None


def is_described(record: ArchiveRecord) -> bool:
    """Return whether a record belongs to a WAT: JSON about another record."""
    return (
        record.record_type == "metadata"
        and record.mime == "application/json"
        and b'"Envelope"' in record.body
    )


def describe(record: ArchiveRecord) -> Described:
    """Return the capture that a WAT record describes, of any record type.

    Args:
        record: A record for which `is_described` is true; its file must be open.

    Raises:
        RecordError: The JSON breaks off, is not JSON, or has too many values (``RECORD_DAMAGED``).
    """
    json = _read_json(record)
    envelope = object_in(json, "Envelope")
    payload = object_in(envelope, "Payload-Metadata")
    http = object_in(payload, "HTTP-Response-Metadata")
    head = object_in(envelope, "WARC-Header-Metadata")
    fields = (
        {name.lower(): text for name, text in _texts_in(head)}
        if head
        else _arc_fields(object_in(envelope, "ARC-Header-Metadata"))
    )
    uri = clean_uri(fields.get("warc-target-uri", ""))
    declared = fields.get("warc-type", "").lower() if head else arc_type_of(uri)
    record_type = declared if declared in RECORD_TYPES else "other"
    if not fields.get("warc-payload-digest"):
        fields["warc-payload-digest"] = _digest(payload, http, record_type)
    status = text_in(object_in(http, "Response-Message"), "Status")
    request = object_in(object_in(payload, "HTTP-Request-Metadata"), "Request-Message")
    # Without a length, the length is unknown: a missing body cannot be digested.
    capture = record._replace(
        record_type=record_type,
        uri=uri,
        status=status if re.fullmatch("[0-9]{3}", status) else "-",
        http_headers=HttpHeaders(tuple(_texts_in(object_in(http, "Headers")))),
        fields=fields,
        body=f"{text_in(request, 'Method')} {text_in(request, 'Path')}".encode()
        if request
        else b"",
        body_length=_number(text_in(http, "Entity-Length"), 1),
        rest=None,
        damage="a WAT has no payload",
    )
    html = http.get("HTML-Metadata")
    container = object_in(json, "Container")
    offset = _number(text_in(container, "Offset"), 0)
    return Described(
        capture, text_in(container, "Filename"), offset, html if _is_object(html) else None
    )


def _digest(payload: Json, http: Json, record_type: str) -> str:
    """Return the digest that the WAT's writer computed.

    It is the digest of the HTTP body, or, without HTTP, of the block, which then is the payload.
    """
    if http:
        return text_in(http, "Entity-Digest") if record_type != "revisit" else ""
    return text_in(payload, "Block-Digest") if record_type == "resource" else ""


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else otherwise


def _arc_fields(head: Json) -> dict[str, str]:
    """Return the columns of an ARC record under their WARC names."""
    return {
        "warc-target-uri": text_in(head, "Target-URI"),
        "warc-date": text_in(head, "Date"),
        "content-type": text_in(head, "Content-Type"),
    }


def _read_json(record: ArchiveRecord) -> Json:
    text = record.read_body(_LONGEST_JSON)
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    if values > MOST_VALUES:  # tiny values take up to 100 times their size in memory
        detail = f"the JSON of a WAT record has {values:,} values; at most {MOST_VALUES:,} are read"
        raise RecordError(Reason.RECORD_DAMAGED, detail, offset=record.offset)
    try:
        json: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RecordError(
            Reason.RECORD_DAMAGED, f"the JSON of a WAT record: {error}", offset=record.offset
        ) from error
    return json if _is_object(json) else _NOTHING


def _is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)


def object_in(json: Json, name: str) -> Json:
    """Return a member that is an object; an empty object if it is not one."""
    value = json.get(name)
    return value if _is_object(value) else _NOTHING


def objects_in(json: Json, name: str) -> list[Json]:
    """Return the objects in a member that is a list; an empty list if it is not one."""
    value = json.get(name)
    return [one for one in value if _is_object(one)] if isinstance(value, list) else []


def text_in(json: Json, name: str) -> str:
    """Return a text, or a number as text; the first if there are several, empty if none."""
    return next((text for found, text in _texts_in({name: json.get(name)}) if found), "")


def _texts_in(json: Json) -> Iterator[tuple[str, str]]:
    """Yield names and texts; a header that occurs several times gives one pair per value."""
    for name, value in json.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int) and not isinstance(one, bool):
                yield name, str(one)
