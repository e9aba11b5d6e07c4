"""Small graphs, and the graph files that a build writes for them, batch by batch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

import orjson
from hypothesis import strategies as st

from arclink.graph.join import Block
from arclink.model import (
    EMPTY_PAYLOAD,
    Checksum,
    ContentId,
    Kind,
    Memento,
    Outlink,
    Payload,
    Scope,
    Timestamp,
    UriR,
)
from arclink.rows.relations import format_memento, format_payload
from arclink.store.protocols import KnownPayloads
from arclink.uris.resolution import content_id
from arclink.uris.surts import surt_of

ORIGINALS = [
    UriR(uri)
    for uri in (
        "http://example.org/",
        "http://www.example.org/",
        "https://example.org",
        "http://example.org/News/",
        "http://example.org/news",
        "http://example.org/news/a.html",
        "http://example.org/news/b.html?x=1",
        "http://example.org:8080/news/b.html",
        "http://sub.example.org/é",
        "ftp://example.org/a b",
        "http://other.example/",
    )
]
TARGETS = [
    *ORIGINALS,
    UriR("http://target.example/%7Ea"),
    UriR("mailto:someone@example.org"),
    UriR("HTTP://Odd.example/"),
    UriR("x:y"),
]
TEXTS = [
    "",
    "News",
    "Latest news",
    "],[",
    '"],["',
    'a","b",null],["c',
    "\\",
    "مرحبا",
    "🛷 sled",
    "a\u00a0b",
    "null",
]
LABELS = [
    ("a@href", None),
    ("a@href", "nofollow"),
    ("a@href", ""),
    ("img@src", None),
    ("http@location", None),
]
TIMESTAMPS = [
    Timestamp(text)
    for text in ("20091103011307", "20091103011308", "20100130003005", "20120101000000")
]
CONTENTS_OF_A_BLOCK = 3
RELATIONS = ("mementos", "payloads", "outlinks", "inlinks")


def checksum_of(name: str) -> Checksum:
    """Return a checksum: a SHA-1, one of another algorithm, or that of a redirect."""
    digest = "".join(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[octet % 32]
        for octet in (sha1(name.encode()).digest() * 2)[:32]
    )
    return Checksum({"o": f"sha256:{name}-{name}", "r": f"redirect:{digest}"}.get(name[0], digest))


@dataclass(frozen=True)
class PayloadTruth:
    """What is in a payload. A link of a payload with a scope leads elsewhere for each cut."""

    checksum: Checksum
    scope: Scope
    is_html: bool
    links: tuple[Outlink, ...]
    title: str | None = None

    def contents(self, originals: Iterable[UriR]) -> dict[ContentId, list[Outlink]]:
        """Return the contents that these originals need, with their links."""
        contents = {}
        for original in originals:
            content = content_id(self.checksum, original, self.scope)
            cut = content.removeprefix(self.checksum)
            moved = [
                Outlink(UriR(link.target + cut), link.kind, link.text, link.rel)
                for link in self.links[:1]
            ]
            contents[content] = [*moved, *self.links[1:]]
        return contents

    def payload(self) -> Payload:
        """Return the outcome of its reading."""
        counts = (("LINK_KEPT", len(self.links)), ("LINK_SAME_PAGE", 3)) if self.is_html else ()
        if not self.is_html:
            return Payload(self.checksum, None, "-", "a.warc.gz", 7, "PAYLOAD_EMPTY")
        return Payload(
            self.checksum, self.scope, "utf-8", "a.warc.gz", 7, "PAYLOAD_READ", counts, self.title
        )


PAYLOAD_NAMES = ["p1", "p2", "p3", "p4", "o1", "r1"]

outlinks = st.builds(
    lambda target, label, text: Outlink(target, Kind(label[0]), text, label[1]),
    st.sampled_from(TARGETS),
    st.sampled_from(LABELS),
    st.sampled_from(TEXTS),
)


@st.composite
def payload_truths(draw: st.DrawFn) -> dict[Checksum, PayloadTruth]:
    """Draw what is in each payload."""
    truths = {}
    for name in PAYLOAD_NAMES:
        checksum = checksum_of(name)
        links = tuple(draw(st.lists(outlinks, max_size=6)))
        truths[checksum] = PayloadTruth(
            checksum,
            draw(st.sampled_from(list(Scope))),
            draw(st.integers(0, 5)) > 0,
            links,
            draw(st.none() | st.sampled_from([*TEXTS, "n" * 1_000])),
        )
    return truths


def memento(
    original: str,
    timestamp: str,
    checksum: str,
    record_type: str = "response",
    file: str = "a.warc.gz",
    offset: int = 0,
    length: int = -1,
    reason: str = "-",
    languages: str = "-",
) -> Memento:
    """Return a memento, with its SURT."""
    mime = "warc/revisit" if record_type == "revisit" else "text/html"
    is_redirect = checksum.startswith("redirect:")
    status = "-" if record_type == "revisit" else "302" if is_redirect else "200"
    uri = UriR(original)
    return Memento(
        surt_of(uri),
        Timestamp(timestamp),
        uri,
        Checksum(checksum),
        status,
        mime,
        record_type,
        file,
        offset,
        length,
        reason,
        languages,
    )


mementos = st.builds(
    memento,
    st.sampled_from(ORIGINALS),
    st.sampled_from(TIMESTAMPS),
    st.sampled_from([*map(checksum_of, PAYLOAD_NAMES), EMPTY_PAYLOAD, "-"]),
    st.sampled_from(["response", "response", "revisit"]),
    st.sampled_from(["a.warc.gz", "b.warc.gz"]),
    st.sampled_from([0, 7, 4_000_000_000]),
    st.sampled_from([-1, 0, 1234]),
    st.sampled_from(["-", "-", "-", "-", "MEMENTO_MIME"]),
    st.sampled_from(["-", "-", "en", "de,en"]),
)


@dataclass(frozen=True)
class Graph:
    """Payloads and the mementos of each batch."""

    truths: Mapping[Checksum, PayloadTruth]
    batches: Sequence[Sequence[Memento]]

    def as_one_batch(self) -> "Graph":
        """Return the same mementos in one batch."""
        return Graph(self.truths, [[memento for batch in self.batches for memento in batch]])


@st.composite
def graphs(draw: st.DrawFn, max_batches: int = 5) -> Graph:
    """Draw a graph in which the attributes of a memento that are not its key follow from its key.

    Only file, offset, length and reason may differ between two rows of one memento.
    """
    facts: dict[tuple[str, ...], Memento] = {}
    batches = []
    for _ in range(draw(st.integers(1, max_batches))):
        batch = []
        for drawn in draw(st.lists(mementos, max_size=8)):
            known = facts.setdefault((drawn.timestamp, drawn.original, drawn.checksum), drawn)
            batch.append(
                memento(
                    *_key(known),
                    known.record_type,
                    drawn.file,
                    drawn.offset,
                    drawn.length,
                    drawn.reason,
                )
            )
        batches.append(batch)
    return Graph(draw(payload_truths()), batches)


def _key(one: Memento) -> tuple[str, str, str]:
    return one.original, one.timestamp, one.checksum


def write_next(
    store: KnownPayloads, graph: Graph, batch: Sequence[Memento], folder: Path, parts: int = 1
) -> None:
    """Write the graph files that a build would write for a batch: it reads a payload when there is
    a response with it.
    """
    by_checksum: dict[Checksum, list[Memento]] = {}
    for one in batch:
        if one.reason == "-" and one.checksum in graph.truths:
            by_checksum.setdefault(one.checksum, []).append(one)
    wanted = [
        (checksum, sorted({one.original for one in by_checksum[checksum]}))
        for checksum in sorted(by_checksum)
    ]
    payloads: list[Payload] = []
    contents: dict[ContentId, tuple[UriR, list[Outlink]]] = {}
    for (checksum, originals), (known, missing) in zip(
        wanted, list(store.known_contents(wanted)), strict=True
    ):
        truth = graph.truths[checksum]
        needed = list(missing)
        if known is None or known.scope is None:
            if all(one.record_type == "revisit" for one in by_checksum[checksum]):
                continue
            needed = sorted({*originals, *store.originals_of(checksum)})
        if needed:
            payloads.append(truth.payload())
            if truth.is_html:
                contents.update(
                    {
                        content: (needed[0], links)
                        for content, links in truth.contents(needed).items()
                    }
                )
    write_batch(folder, batch, payloads, contents, parts)


def write_batch(
    folder: Path,
    batch: Sequence[Memento],
    payloads: Sequence[Payload],
    contents: Mapping[ContentId, tuple[UriR, Sequence[Outlink]]],
    parts: int = 1,
) -> None:
    """Write graph files.

    Args:
        folder: Of the batch.
        batch: Its mementos.
        payloads: Its payloads.
        contents: Its contents: an original each was seen at, and its links.
        parts: Of each relation.
    """
    outlinks, inlinks = link_rows(
        sorted(
            (surt_of(original), content, links) for content, (original, links) in contents.items()
        )
    )
    rows = {
        "mementos": [
            format_memento(one)
            for one in sorted(
                batch, key=lambda one: (one.surt, one.timestamp, one.original, one.checksum)
            )
        ],
        "payloads": [format_payload(payload) for payload in payloads],
        "outlinks": outlinks,
        "inlinks": inlinks,
    }
    for relation in RELATIONS:
        (folder / relation).mkdir(parents=True, exist_ok=True)
        for part in range(parts):
            lines = [row + b"\n" for row in rows[relation][part::parts]]
            (folder / relation / f"part-{part:05d}").write_bytes(b"".join(lines))


def link_rows(
    contents: Sequence[tuple[str, ContentId, Sequence[Outlink]]],
) -> tuple[list[bytes], list[bytes]]:
    """Return the ``outlinks`` and ``inlinks`` rows of contents: (SURT, content, links), sorted by
    SURT. A target has a row for each block, so its rows may be in several parts, as those of a hub
    are.
    """
    outlinks: list[bytes] = []
    inlinks: dict[tuple[str, str, str], dict[tuple[str, str, str | None], list[int]]] = {}
    for begin in range(0, len(contents), CONTENTS_OF_A_BLOCK):
        some = contents[begin : begin + CONTENTS_OF_A_BLOCK]
        block = Block()
        for _, content, links in some:
            pieces = [orjson.dumps([link.target, link.kind, link.text, link.rel]) for link in links]
            block.add(
                content,
                [block.number_of.setdefault(piece, len(block.number_of)) for piece in pieces],
            )
        outlinks.append(block.row(some[0][0]))
        for position, (_, _, links) in enumerate(some):
            for link in dict.fromkeys(links):
                by_head = inlinks.setdefault((surt_of(link.target), link.target, block.name), {})
                by_head.setdefault((link.kind, link.text, link.rel), []).append(position)
    return outlinks, [
        f"{surt}\t{target}\t".encode()
        + orjson.dumps([[*head, [(name, positions)]] for head, positions in by_head.items()])
        for (surt, target, name), by_head in sorted(inlinks.items())
    ]
