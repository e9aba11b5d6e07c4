"""The outcome of each capture, as text for users and as JSON fields."""

from collections.abc import Iterator
from typing import Annotated, Any, TypedDict

from arclink.access.capture_fields import EXPLANATION
from arclink.access.evidence import Explanation
from arclink.access.formats.fields import AskedFields, RecordFields
from arclink.access.formats.table import date_and_time
from arclink.access.texts import printable, printable_uri
from arclink.checksums import is_reference, timestamp_of_reference, uri_of_reference
from arclink.model import NO_LANGUAGE
from arclink.reasons import Reason
from arclink.rows.pointers import NO_FILE
from arclink.uris.surts import method_of_key


class ExplanationFields(TypedDict):
    """What happened to a capture: its fields, then why its links are known or unknown."""

    reason: Annotated[str, "The reason in one word."]
    reason_text: Annotated[str, "The reason in words."]
    content: Annotated[str | None, "The content that has its links; null if they are unknown."]
    charset: Annotated[str | None, "The charset that it was read in; null if it was not read."]
    title: Annotated[str | None, "Title of the page; null if it is not known."]
    read_from: Annotated[RecordFields | None, "The record with the payload; null if not read."]
    links: Annotated[dict[str, int], "Links of the page by reason, most frequent first."]


class ExplanationsFields(AskedFields):
    """What happened to each capture."""

    mementos: list[Annotated[ExplanationFields, EXPLANATION]]


def explanation_fields(found: Explanation) -> dict[str, Any]:
    """Return the JSON fields of one explanation, cleaned for writing."""
    payload = found.payload if found.content is not None else None
    outcome: ExplanationFields = {
        "reason": found.reason.name,
        "reason_text": found.reason.text,
        "content": found.content,
        "charset": None if payload is None else printable(payload.charset),
        "title": found.title,
        "read_from": None
        if payload is None
        else {"file": printable(payload.file), "offset": payload.offset},
        "links": {reason.name: count for reason, count in found.counts},
    }
    return {**EXPLANATION.of(found.memento), **outcome}


def explanation_lines(found: Explanation) -> Iterator[str]:
    """Yield one explanation as lines of text, the first without indent."""
    memento, payload = found.memento, found.payload
    method = method_of_key(memento.surt)
    yield f"{date_and_time(memento.timestamp)}  {printable_uri(memento.original)}"
    yield (
        f"  {printable(memento.record_type)}{f' to {method}' if method else ''}, "
        f"status {printable(memento.status)}, "
        f"{printable(memento.mime)}"
        + ("" if memento.languages == NO_LANGUAGE else f", language {memento.languages}")
    )
    yield (
        f"  {printable(memento.file)} at byte {memento.offset:,}, checksum "
        f"{printable(memento.checksum)}"
    )
    if found.reason is Reason.PAYLOAD_RECORDED:
        yield f"  {found.reason.text}; content {found.content}"
        return
    if found.reason is not Reason.PAYLOAD_READ or payload is None:
        yield f"  not read: {found.reason.text}"
        yield from _sought(found)
        return
    read = f"read as {printable(payload.charset)}" + (
        f" from {printable(payload.file)} at byte {payload.offset:,}"
        if _is_from_another_record(found)
        else ""
    )
    yield f"  {read}; content {found.content}"
    if found.title is not None:
        yield f"  title: {found.title}" if found.title else "  no title"
    counts = ", ".join(f"{count:,} {reason.text}" for reason, count in found.counts)
    yield f"  links as written, repeats included: {counts or 'none'}"


def _sought(found: Explanation) -> Iterator[str]:
    """Yield where the payload of a capture that was not read should be."""
    checksum, payload = found.memento.checksum, found.payload
    if is_reference(checksum):
        when = timestamp_of_reference(checksum)
        uri = printable_uri(uri_of_reference(checksum))
        at = f"the capture of {uri} at {date_and_time(when)}" if when else "the capture before it"
        yield f"  it repeats {at}"
    elif payload is not None and payload.file != NO_FILE:
        yield f"  was to be read from {printable(payload.file)} at byte {payload.offset:,}"


def _is_from_another_record(found: Explanation) -> bool:
    """Return whether the payload was read from the record of another capture."""
    memento, payload = found.memento, found.payload
    return payload is not None and (payload.file, payload.offset) != (memento.file, memento.offset)
