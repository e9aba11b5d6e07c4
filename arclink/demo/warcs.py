"""Writing of captures as several WARC files, with revisits and their payloads in different ones.

Each file begins with a warcinfo record. Between the captures are the records that crawlers add: the
DNS look-up of a host before its first capture, a request for each answer, and sometimes metadata.
Files are gzip with one member per record and without times; files with an odd number are WARC 1.1,
the others 1.0.
"""

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from arclink.archives.writing import (
    digested_record,
    field_lines,
    http_head,
    member_of,
    revisit_profile,
    warc_date,
)
from arclink.demo.captures import REASONS, DemoCapture
from arclink.model import Timestamp


def write_warcs(folder: Path, captures: Sequence[DemoCapture], seed: int) -> list[Path]:
    """Write ``captures``, in order, to ``demo-00000.warc.gz`` and so on; return these files."""
    size = _captures_a_file(len(captures))
    paths = []
    for number, start in enumerate(range(0, len(captures), size)):
        path = folder / f"demo-{number:05}.warc.gz"
        with path.open("wb") as out:
            ids = uuid.uuid5(uuid.NAMESPACE_URL, f"{seed}/{number}")
            for record in _records(
                path.name, captures[start : start + size], ids, _version_of(number)
            ):
                out.write(member_of(record))
        paths.append(path)
    return paths


def _captures_a_file(count: int) -> int:
    """Return the number of captures per file for ``count`` captures: 10 to 500, in eight files."""
    return min(500, max(10, -(-count // 8)))


def _version_of(number: int) -> str:
    """Return the WARC version of a file by its number."""
    return "1.1" if number % 2 else "1.0"


def _records(
    name: str, captures: Sequence[DemoCapture], ids: uuid.UUID, version: str
) -> Iterator[bytes]:
    """Yield the records of one file."""
    made = 0
    record = partial(digested_record, version=version)

    def common(timestamp: Timestamp) -> dict[str, str]:
        nonlocal made
        made += 1
        identity = f"<urn:uuid:{uuid.uuid5(ids, str(made))}>"
        return {"WARC-Record-ID": identity, "WARC-Date": warc_date(timestamp)}

    about = {"software": "ArcLink demo archive", "format": f"WARC File Format {version}"}
    named = {**common(captures[0].timestamp), "WARC-Filename": name}
    yield record("warcinfo", "", named, field_lines(about))
    hosts: set[str] = set()
    for number, capture in enumerate(captures):
        host, when = capture.location.host, capture.timestamp
        if host not in hosts:
            hosts.add(host)
            address = f"192.0.2.{len(hosts) % 250 + 1}"
            look_up = f"{when}\n{host}.\t60\tIN\tA\t{address}\n".encode()
            yield record("response", f"dns:{host}", common(when), look_up, content_type="text/dns")
        fields = common(when)
        yield _capture_record(capture, fields, version)
        concurrent = {"WARC-Concurrent-To": fields["WARC-Record-ID"]}
        if capture.status is not None:
            sent = (("Host", host), ("User-Agent", "arclink-demo"))
            http = http_head(f"GET {capture.location.path} HTTP/1.1", sent)
            yield record("request", capture.original, common(when) | concurrent, http=http)
        if number % 5 == 0:
            took = b"fetchTimeMs: 20\r\n"
            yield record("metadata", capture.original, common(when) | concurrent, took)


def _capture_record(capture: DemoCapture, fields: dict[str, str], version: str) -> bytes:
    kind, http, mime = capture.record_type, b"", ""
    if kind == "resource":
        mime = dict(capture.headers)["Content-Type"]
    elif capture.status is not None:
        headers = list(capture.headers)
        if kind == "response" and "Transfer-Encoding" not in dict(headers):
            headers.append(("Content-Length", str(len(capture.body))))
        http = http_head(f"HTTP/1.1 {capture.status} {REASONS[capture.status]}", headers)
    if (revisit := capture.revisit) is not None:
        fields["WARC-Profile"] = revisit_profile(revisit.profile, version)
        if revisit.digest is not None:
            fields["WARC-Payload-Digest"] = revisit.digest
        if revisit.refers_to is not None:
            fields["WARC-Refers-To-Target-URI"] = revisit.refers_to[0]
            fields["WARC-Refers-To-Date"] = warc_date(revisit.refers_to[1])
    return digested_record(kind, capture.original, fields, capture.body, http, mime, version)
