"""WAT: what another tool found in each record of an archive file, as JSON, instead of the records themselves.

A WAT file is a WARC file of ``metadata`` records, one for each record of the file it describes. Its JSON has two parts:
``Container`` (the file described, and where in it), ``Envelope`` (the head of the record, and what its payload held). The
heads of the WAT's own records say little: their WARC-Date is when the WAT was made, their target URI may be a file name.
So everything is taken from the envelope, and a capture read from a WAT is the same memento as the one read from its WARC:
same URI, time, checksum, status.

Both flavours are read, that of the Internet Archive (webarchive-commons) and that of Common Crawl (ia-web-commons), of
WARC and of ARC. What a WAT lacks, and how the graphs differ, is in ``docs/wat.md``.

Source: the writers themselves, ``ResourceConstants`` (names) and ``ExtractingParseObserver`` (which ``path`` is written for
which attribute) of both projects.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

import orjson

from arclink.errors import PayloadError, RecordError
from arclink.extract.charsets import encoding_of
from arclink.extract.html import Limits, PageLinks, WrittenLink, collect_links
from arclink.extract.records import RECORD_TYPES, ArchiveRecord, HttpHeaders, arc_type_of, clean_uri
from arclink.model import Kind
from arclink.reasons import Reason

Json = Mapping[str, object]
"""A JSON object; what its members are is looked at where they are used."""

LONGEST_JSON = 64 << 20
"""Bytes of one WAT record that are read; a page of 200,000 links has some 30 MB."""

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\"'\s;,]+)", re.IGNORECASE)
_CHARSET_UNSAID = "utf-8"
"""For queries of links only: text in a WAT is decoded already."""

_NOTHING: Json = {}


@dataclass(frozen=True, slots=True)
class Described:
    """A capture, as a WAT record describes it.

    Attributes:
        capture: The record described. Its place (``offset``, ``length``) is that of the WAT record, its checksum the
            declared digest of the payload, else the one that the WAT's writer took. Its body breaks off before it begins.
        container: Name of the archive file that holds the capture; empty if the WAT does not say.
        place: Bytes into that file, as stored; 0 if the WAT does not say.
        html: ``HTML-Metadata``; None if the WAT has none: its writer took the payload for something else, or failed.
    """

    capture: ArchiveRecord
    container: str
    place: int
    html: Json | None


def is_described(record: ArchiveRecord) -> bool:
    """Tell whether a record is one of a WAT: JSON about another record."""
    return record.record_type == "metadata" and record.mime == "application/json" and b'"Envelope"' in record.body


def describe(record: ArchiveRecord) -> Described:
    """Return what a WAT record describes, whatever its type.

    Args:
        record: For which `is_described` holds; its file has to be open.

    Raises:
        RecordError: Its JSON breaks off, or is none (``RECORD_DAMAGED``).
    """
    json = _read_json(record)
    envelope = _object(json, "Envelope")
    payload = _object(envelope, "Payload-Metadata")
    http = _object(payload, "HTTP-Response-Metadata")
    head = _object(envelope, "WARC-Header-Metadata")
    fields = {name.lower(): text for name, text in _texts(head)} if head else _arc_fields(_object(envelope, "ARC-Header-Metadata"))
    uri = clean_uri(fields.get("warc-target-uri", ""))
    declared = fields.get("warc-type", "").lower() if head else arc_type_of(uri)
    record_type = declared if declared in RECORD_TYPES else "other"
    if not fields.get("warc-payload-digest"):
        fields["warc-payload-digest"] = _digest(payload, http, record_type)
    status = _text(_object(http, "Response-Message"), "Status")
    capture = replace(
        record,
        record_type=record_type,
        uri=uri,
        status=status if re.fullmatch("[0-9]{3}", status) else "-",
        http_headers=HttpHeaders(tuple(_texts(_object(http, "Headers")))),
        fields=fields,
        body=b"",
        body_length=_number(_text(http, "Entity-Length"), 1),  # unknown: what is not there cannot be digested
        rest=None,
        damage="a WAT holds no payload",
    )
    html = http.get("HTML-Metadata")
    container = _object(json, "Container")
    place = _number(_text(container, "Offset"), 0)
    return Described(capture, _text(container, "Filename"), place, html if _is_object(html) else None)


def wat_links(described: Described, limits: Limits) -> tuple[PageLinks, str]:
    """Return the links that a WAT lists of a page, by the rules of `extract_links`, and the charset of the page.

    In the order of the WAT: ``link`` elements, scripts, the refresh, then the rest of the page. Links of kinds that are
    not asked for are counted.

    Raises:
        PayloadError: The WAT says nothing about its links (``PAYLOAD_NOT_IN_WAT``).
    """
    html = described.html
    if html is None:
        raise PayloadError(Reason.PAYLOAD_NOT_IN_WAT, described.capture.uri, offset=described.capture.offset)
    head = _object(html, "Head")
    base = _text(head, "Base") if "Base" in head else None
    return collect_links(_written(html, head), limits, base), _charset_of(described.capture, head)


def _written(html: Json, head: Json) -> Iterator[WrittenLink]:
    for entries in (_objects(head, "Link"), _objects(head, "Scripts")):
        yield from map(_link, entries)
    for meta in _objects(head, "Metas"):
        if _text(meta, "http-equiv").lower() == "refresh":
            yield WrittenLink(Kind("meta@refresh"), _text(meta, "content"))
    yield from map(_link, _objects(html, "Links"))


def _link(entry: Json) -> WrittenLink:
    """Return one entry of a WAT: ``{"path": "A@/href", "url": …, "text": …, "alt": …, "rel": …}``."""
    # "href" instead of "url": addresses in style sheets.
    url = _text(entry, "url") or _text(entry, "href")
    kind = _text(entry, "path").lower().replace("@/", "@")
    return WrittenLink(Kind(kind), url, _text(entry, "text" if kind == "a@href" else "alt"), _text(entry, "rel"))


def _charset_of(capture: ArchiveRecord, head: Json) -> str:
    """Return the charset that HTTP or a ``meta`` declares; it only matters to queries that are not ASCII."""
    declared = capture.http_charset
    for meta in _objects(head, "Metas"):
        if declared is None and _text(meta, "http-equiv").lower() == "content-type":
            found = _CHARSET.search(_text(meta, "content"))
            declared = found[1] if found else None
    return (encoding_of(declared) if declared else None) or _CHARSET_UNSAID


def _digest(payload: Json, http: Json, record_type: str) -> str:
    """Return the digest that the WAT's writer took: of the body of HTTP, else of the block, which then is the payload."""
    if http:
        return _text(http, "Entity-Digest") if record_type != "revisit" else ""
    return _text(payload, "Block-Digest") if record_type == "resource" else ""


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else otherwise


def _arc_fields(head: Json) -> dict[str, str]:
    """Return the columns of an ARC record under the names that WARC has for them."""
    return {"warc-target-uri": _text(head, "Target-URI"), "warc-date": _text(head, "Date"), "content-type": _text(head, "Content-Type")}


def _read_json(record: ArchiveRecord) -> Json:
    try:
        json: object = orjson.loads(record.read_body(LONGEST_JSON))
    except orjson.JSONDecodeError as error:
        raise RecordError(Reason.RECORD_DAMAGED, f"the JSON of a WAT record: {error}", offset=record.offset) from error
    return json if _is_object(json) else _NOTHING


def _is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)


def _object(json: Json, name: str) -> Json:
    value = json.get(name)
    return value if _is_object(value) else _NOTHING


def _objects(json: Json, name: str) -> list[Json]:
    value = json.get(name)
    return [one for one in value if _is_object(one)] if isinstance(value, list) else []


def _text(json: Json, name: str) -> str:
    """Return a text, or a number as text; empty if it is not there. Of a field that came more than once, the first."""
    return next((text for found, text in _texts({name: json.get(name)}) if found), "")


def _texts(json: Json) -> Iterator[tuple[str, str]]:
    """Yield names and texts; a name for each of its values, where a header came more than once."""
    for name, value in json.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int) and not isinstance(one, bool):
                yield name, str(one)
