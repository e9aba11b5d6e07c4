"""Writing of captures as several WARC files, with revisits and their payloads in different ones.

Each file begins with a warcinfo record. Between the captures are the records that crawlers add: the
DNS look-up of a host before its first capture, a request for each answer, and sometimes metadata.
Files are gzip with one member per record and without times; files with an odd number are WARC 1.1,
the others 1.0.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

from arclink.archives.warc_fields import warc_date
from arclink.demo.captures import REASONS, DemoCapture, Headers
from arclink.model import Timestamp

PROFILES = "http://netpreserve.org/warc/{version}/revisit/{profile}"


def write_warcs(folder: Path, captures: Sequence[DemoCapture], seed: int) -> list[Path]:
    """Write ``captures``, in order, to ``demo-00000.warc.gz`` and so on; return these files."""
    size = _captures_a_file(len(captures))
    paths = []
    for number, start in enumerate(range(0, len(captures), size)):
        path = folder / f"demo-{number:05}.warc.gz"
        with path.open("wb") as out:
            writer = WARCWriter(out, gzip=True, warc_version=_version_of(number))
            ids = uuid.uuid5(uuid.NAMESPACE_URL, f"{seed}/{number}")
            for record in _records(
                path.name, captures[start : start + size], ids, _version_of(number)
            ):
                writer.write_record(record.built(writer))
        paths.append(path)
    return paths


def _captures_a_file(count: int) -> int:
    """Return the number of captures per file for ``count`` captures: 10 to 500, in eight files."""
    return min(500, max(10, -(-count // 8)))


def _version_of(number: int) -> str:
    """Return the WARC version of a file by its number."""
    return "1.1" if number % 2 else "1.0"


@dataclass(frozen=True, slots=True)
class _Record:
    """A WARC record before its digests and lengths are known.

    Attributes:
        http: First line and headers of an HTTP message; None without one.
    """

    record_type: str
    uri: str
    headers: Headers
    body: bytes = b""
    http: tuple[str, Headers] | None = None
    content_type: str = ""

    def built(self, writer: WARCWriter) -> object:
        """Return the record as an object of warcio."""
        http = None
        if self.http is not None:
            line, headers = self.http
            if self.record_type == "request":
                http = StatusAndHeaders(line, list(headers), is_http_request=True)
            else:
                http = StatusAndHeaders(line, list(headers), protocol="HTTP/1.1")
        return writer.create_warc_record(
            self.uri,
            self.record_type,
            payload=BytesIO(self.body),
            length=len(self.body),
            warc_content_type=self.content_type,
            warc_headers_dict=dict(self.headers),
            http_headers=http,
        )


def _records(
    name: str, captures: Sequence[DemoCapture], ids: uuid.UUID, version: str
) -> Iterator[_Record]:
    """Yield the records of one file."""
    made = 0

    def common(timestamp: Timestamp) -> Headers:
        nonlocal made
        made += 1
        return ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid5(ids, str(made))}>"), (
            "WARC-Date",
            warc_date(timestamp),
        )

    info = f"software: ArcLink demo archive\r\nformat: WARC File Format {version}\r\n".encode()
    yield _Record("warcinfo", "", (*common(captures[0].timestamp), ("WARC-Filename", name)), info)
    hosts: set[str] = set()
    for number, capture in enumerate(captures):
        host = capture.location.host
        if host not in hosts:
            hosts.add(host)
            look_up = (
                f"{capture.timestamp}\n{host}.\t60\tIN\tA\t192.0.2.{len(hosts) % 250 + 1}\n"
            ).encode()
            yield _Record(
                "response",
                f"dns:{host}",
                common(capture.timestamp),
                look_up,
                content_type="text/dns",
            )
        headers = common(capture.timestamp)
        yield _capture_record(capture, headers, version)
        concurrent = ("WARC-Concurrent-To", headers[0][1])
        if capture.status is not None:
            line = f"GET {capture.location.path} HTTP/1.1"
            sent = (("Host", host), ("User-Agent", "arclink-demo"))
            yield _Record(
                "request",
                capture.original,
                (*common(capture.timestamp), concurrent),
                http=(line, sent),
            )
        if number % 5 == 0:
            yield _Record(
                "metadata",
                capture.original,
                (*common(capture.timestamp), concurrent),
                b"fetchTimeMs: 20\r\n",
            )


def _capture_record(capture: DemoCapture, headers: Headers, version: str) -> _Record:
    if capture.record_type == "resource":
        return _Record(
            "resource",
            capture.original,
            headers,
            capture.body,
            content_type=dict(capture.headers)["Content-Type"],
        )
    http = None
    if capture.status is not None:
        length: Headers = ()
        if capture.record_type == "response" and not any(
            name == "Transfer-Encoding" for name, _ in capture.headers
        ):
            length = (("Content-Length", str(len(capture.body))),)
        http = f"{capture.status} {REASONS[capture.status]}", (*capture.headers, *length)
    revisit = capture.revisit
    if revisit is None:
        return _Record("response", capture.original, headers, capture.body, http)
    profile = PROFILES.format(version=version, profile=revisit.profile)
    more: list[tuple[str, str]] = [("WARC-Profile", profile)]
    if revisit.digest is not None:
        more.append(("WARC-Payload-Digest", revisit.digest))
    if revisit.refers_to is not None:
        original, timestamp = revisit.refers_to
        more += [
            ("WARC-Refers-To-Target-URI", original),
            ("WARC-Refers-To-Date", warc_date(timestamp)),
        ]
    return _Record("revisit", capture.original, (*headers, *more), http=http)
