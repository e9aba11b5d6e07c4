"""Fixtures: a demo archive, read back by warcio, and its list of true links."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from arclink.demo import DemoSummary, write_demo_archive

TrueLink = tuple[str, str, str, str | None]


@dataclass(frozen=True, slots=True)
class Truth:
    """A line of ``truth.jsonl``."""

    original: str
    timestamp: str
    status: str
    record_type: str
    links: tuple[TrueLink, ...] | None

    def texts(self, target: str) -> list[str]:
        return [text for uri, _, text, _ in self.links or () if uri == target]

    def kinds(self) -> set[str]:
        return {kind for _, kind, _, _ in self.links or ()}


@dataclass(frozen=True, slots=True)
class Seen:
    """A record as warcio reads it; header names are lower case, ``body`` has its codings undone."""

    file: int
    record_type: str
    uri: str
    headers: dict[str, str]
    http: dict[str, str] | None
    status: str
    raw: bytes
    body: bytes

    @property
    def timestamp(self) -> str:
        return "".join(filter(str.isdigit, self.headers["warc-date"]))

    @property
    def digest(self) -> str:
        return self.headers.get("warc-payload-digest", "")

    @property
    def is_capture(self) -> bool:
        return self.record_type in {"response", "revisit", "resource"} and not self.uri.startswith(
            "dns:"
        )


@dataclass(frozen=True, slots=True)
class Archive:
    """Records of all files in order; captures together with their truth."""

    summary: DemoSummary
    records: Sequence[Seen]
    truths: Sequence[Truth]

    @property
    def captures(self) -> list[tuple[Seen, Truth]]:
        return list(
            zip((seen for seen in self.records if seen.is_capture), self.truths, strict=True)
        )


def read_records(files: Sequence[Path]) -> Iterator[Seen]:
    """Yield every record; a digest that does not fit its bytes is an error."""
    for number, path in enumerate(files):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                raw = record.raw_stream.read()
                yield Seen(
                    number,
                    record.rec_type,
                    record.rec_headers.get_header("WARC-Target-URI", ""),
                    {name.lower(): value for name, value in record.rec_headers.headers},
                    None
                    if record.http_headers is None
                    else {name.lower(): value for name, value in record.http_headers.headers},
                    "-" if record.http_headers is None else record.http_headers.get_statuscode(),
                    raw,
                    b"",
                )


def read_bodies(files: Sequence[Path]) -> Iterator[bytes]:
    """Yield the body of every record with its codings undone."""
    for path in files:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                yield record.content_stream().read()


def read_truths(path: Path) -> Iterator[Truth]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            links = row.pop("links")
            kept = (
                None
                if links is None
                else tuple((target, kind, text, rel) for target, kind, text, rel in links)
            )
            yield Truth(**row, links=kept)


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return the demo archive that `make demo` makes."""
    summary = write_demo_archive(tmp_path_factory.mktemp("demo"), captures=300, hosts=12, seed=1)
    bodies = read_bodies(summary.files)
    records = [
        replace(seen, body=body)
        for seen, body in zip(read_records(summary.files), bodies, strict=True)
    ]
    return Archive(summary, records, list(read_truths(summary.truth)))
