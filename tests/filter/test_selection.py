import random
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.errors import CdxError
from arclink.files import spill
from arclink.filter import selection
from arclink.filter.rules import DEFAULT_RULES, Rules
from arclink.filter.selection import map_captures, reduce_captures
from arclink.model import Checksum, Forgotten, Memento, Span, Surt, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.cdx import Capture, parse_row
from arclink.rows.pointers import (
    FIRST_PART,
    NO_FILE,
    ORIGINALS,
    POINTERS,
    FallBack,
    Pointer,
    PointerKind,
    format_pointer,
    parse_pointer,
)
from arclink.rows.relations import MEMENTOS, format_memento, parse_memento, split_block
from arclink.uris.resolution import PARTS, part_of_origin
from arclink.uris.surts import surt_of
from tests.filter.generated import (
    EMPTY,
    FAR,
    ONE,
    REFUSED,
    TWO,
    answer,
    lines,
    revisit,
    row,
    rule_sets,
)


class Filtered:
    """What one run of filter gives, in an order that does not depend on tasks."""

    def __init__(
        self,
        lines: Sequence[bytes],
        rules: Rules = DEFAULT_RULES,
        tasks: int = 1,
        block: int = 3,
        forgotten: Sequence[Forgotten] = (),
    ) -> None:
        self.counts: Counter[Reason] = Counter()
        pairs = [
            pair
            for task in range(tasks)
            for pair in map_captures(
                lines[task::tasks], rules, self.counts, block, forgotten=forgotten
            )
        ]
        assert not any(b"\t" in key or b"\n" in key + value for key, value in pairs)
        relations: dict[bytes, list[bytes]] = {MEMENTOS: [], POINTERS: []}
        for key, group in groupby(sorted(pairs), itemgetter(0)):
            for relation, line in reduce_captures(key, (value for _, value in group), self.counts):
                relations[relation].append(line)
        self.lines = len(lines)
        self.blocks = [len(list(split_block(rows))) for rows in relations[MEMENTOS]]
        self.mementos = sorted(
            (parse_memento(row) for rows in relations[MEMENTOS] for row in split_block(rows)),
            key=repr,
        )
        self.pointers = sorted((parse_pointer(row) for row in relations[POINTERS]), key=repr)

    def total(self, group: str) -> int:
        return sum(count for reason, count in self.counts.items() if reason.group == group)


def payload(
    original: str,
    timestamp: str,
    checksum: str = ONE,
    file: str = "a.warc.gz",
    offset: int = 5,
    **more: object,
) -> Pointer:
    capture = (file, offset, 100, Timestamp(timestamp), UriR(original))
    return Pointer(PointerKind.PAYLOAD, Checksum(checksum), *capture, **more)  # type: ignore[arg-type]  # any of its fields


def test_a_page_is_a_memento_and_a_pointer() -> None:
    found = Filtered([row()])
    assert found.mementos == [
        Memento(
            surt=surt_of("http://example.org/"),
            timestamp=Timestamp("20140103030321"),
            original=UriR("http://example.org/"),
            checksum=Checksum(ONE),
            status="200",
            mime="text/html",
            record_type="response",
            file="a.warc.gz",
            offset=5,
            length=100,
        )
    ]
    assert found.pointers == [
        payload("http://example.org/", "20140103030321", originals=("http://example.org/",))
    ]
    assert found.counts == {Reason.ROW_KEPT: 1, Reason.MEMENTO_WITH_PAYLOAD: 1}


def test_the_earliest_of_equal_payloads_is_read_and_others_in_other_files_are_fall_backs() -> None:
    found = Filtered(
        [
            row("http://example.org/b", "20150101000000", file="late.warc.gz"),
            row("http://example.org/a", "20120101000000", file="first.warc.gz", offset=10),
            row("http://example.org/a", "20120101000000", file="first.warc.gz", offset=9),
            row("http://example.org/a", "20120201000000", file="first.warc.gz", offset=1),
            row("http://example.org/c", "20130101000000", file="second.warc.gz"),
            row("http://example.org/c", "20140101000000", file="third.warc.gz"),
            revisit("http://example.org/r", "20000101000000", file="early.warc.gz"),
        ]
    )
    (pointer,) = found.pointers
    assert pointer == payload(
        "http://example.org/a",
        "20120101000000",
        file="first.warc.gz",
        offset=9,
        originals=tuple(f"http://example.org/{name}" for name in "abcr"),
        fall_backs=(
            FallBack(
                "second.warc.gz", 5, 100, Timestamp("20130101000000"), UriR("http://example.org/c")
            ),
            FallBack(
                "third.warc.gz", 5, 100, Timestamp("20140101000000"), UriR("http://example.org/c")
            ),
        ),
    )
    assert found.counts[Reason.MEMENTO_WITH_PAYLOAD] == 1
    assert found.counts[Reason.MEMENTO_DUPLICATE] == 6


@pytest.mark.parametrize("method", ["POST", "HEAD", "OPTIONS", "M-SEARCH"])
@pytest.mark.parametrize("status", ["200", "302", "404"])
def test_an_answer_to_another_method_has_a_key_of_its_own_and_is_not_read(
    method: str, status: str
) -> None:
    found = Filtered([answer(method=method, status=status), row(checksum=TWO)])
    assert [(one.surt, one.original, one.reason) for one in found.mementos] == [
        ("org,example)/ " + method, "http://example.org/", "MEMENTO_METHOD"),
        ("org,example)/", "http://example.org/", "-"),
    ]
    assert [pointer.checksum for pointer in found.pointers] == [TWO]
    assert found.counts[Reason.MEMENTO_METHOD] == found.counts[Reason.RULE_METHOD] == 1
    assert found.counts[Reason.NOTE_SURT_OTHER] == 0


def test_the_method_rule_decides_which_methods_count_as_get() -> None:
    rows = [answer(method="POST"), answer(method="HEAD", checksum=TWO)]
    surts = {
        methods: sorted(one.surt for one in Filtered(rows, Rules(methods=methods)).mementos)
        for methods in ((), ("GET",), ("GET", "POST"))
    }
    assert surts == {
        (): ["org,example)/", "org,example)/"],
        ("GET",): ["org,example)/ HEAD", "org,example)/ POST"],
        ("GET", "POST"): ["org,example)/", "org,example)/ HEAD"],
    }


@pytest.mark.parametrize("prefix", ["org,example)/", "org,example)/ POST", "org"])
def test_a_takedown_covers_answers_to_all_methods(prefix: str) -> None:
    found = Filtered([answer()], forgotten=[Forgotten(Surt(prefix))])
    assert found.mementos == []
    assert found.counts == {Reason.ROW_FORGOTTEN: 1}


def test_a_takedown_of_one_method_leaves_the_others() -> None:
    forgotten = [Forgotten(Surt("org,example)/ POST"))]
    found = Filtered([answer(), answer(method="HEAD"), row()], forgotten=forgotten)
    assert found.counts[Reason.ROW_FORGOTTEN] == 1
    assert found.counts[Reason.ROW_KEPT] == 2


def test_the_record_of_a_row_without_type_and_status_is_read_to_see_what_it_is() -> None:
    found = Filtered(
        [
            row(mime="-", status="-"),
            row("http://example.org/a.gif", mime="-", status="-"),
            row("http://example.org/form", mime="application/x-www-form-urlencoded", status="-"),
            row("http://example.org/b.png", mime="image/png", status="-"),
        ]
    )
    assert sorted(
        (pointer.kind.value, pointer.original, parse_memento(pointer.memento).reason)
        for pointer in found.pointers
    ) == [
        ("undigested", "http://example.org/", "-"),
        ("undigested", "http://example.org/a.gif", "MEMENTO_EXTENSION"),
        ("undigested", "http://example.org/form", "MEMENTO_MIME"),
    ]
    assert [one.original for one in found.mementos] == ["http://example.org/b.png"]
    assert found.total("mementos") == 4


def test_a_checksum_with_revisits_only_points_nowhere() -> None:
    found = Filtered(
        [revisit(FAR, "20140101000000"), revisit("http://example.org/", "20150101000000")]
    )
    assert found.pointers == [
        Pointer(
            PointerKind.REVISIT_ONLY,
            Checksum(ONE),
            NO_FILE,
            0,
            -1,
            Timestamp("20140101000000"),
            UriR(FAR),
            originals=(UriR("http://example.org/"), UriR(FAR)),
        )
    ]
    assert found.counts == {
        Reason.ROW_KEPT: 2,
        Reason.MEMENTO_DUPLICATE: 2,
        Reason.RULE_CHECKSUM: 1,
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(row(status="404"), Reason.MEMENTO_STATUS, id="status"),
        pytest.param(row(mime="image/gif"), Reason.MEMENTO_MIME, id="mime"),
        pytest.param(
            row("http://example.org/a.gif", mime="unk"), Reason.MEMENTO_EXTENSION, id="extension"
        ),
        pytest.param(
            revisit("http://example.org/a.gif"),
            Reason.MEMENTO_EXTENSION,
            id="extension of a revisit",
        ),
        pytest.param(
            row(status="404", checksum="-"),
            Reason.MEMENTO_STATUS,
            id="no checksum, but not to be read anyway",
        ),
        pytest.param(
            row(status="304", checksum=EMPTY),
            Reason.MEMENTO_STATUS,
            id="not modified is no redirect",
        ),
    ],
)
def test_a_capture_that_fails_a_rule_is_a_memento_that_is_not_read(
    line: bytes, reason: Reason
) -> None:
    found = Filtered([line])
    assert [memento.reason for memento in found.mementos] == [reason.name]
    assert found.pointers == []
    assert found.counts[reason] == found.total("mementos") == 1


NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        pytest.param(row(status="302"), PointerKind.REDIRECT, id="redirect"),
        pytest.param(
            row("http://example.org/a.gif", mime="image/gif", status="301"),
            PointerKind.REDIRECT,
            id="redirect of an image",
        ),
        pytest.param(
            row(status="302", mime="warc/revisit"), PointerKind.REDIRECT, id="redirect repeated"
        ),
        pytest.param(row(checksum="-"), PointerKind.UNDIGESTED, id="no checksum"),
        pytest.param(row(checksum=EMPTY), PointerKind.UNDIGESTED, id="checksum of nothing"),
        pytest.param(
            revisit(checksum="-"), PointerKind.NOT_MODIFIED, id="revisit without checksum"
        ),
        pytest.param(revisit(checksum=EMPTY), PointerKind.NOT_MODIFIED, id="revisit of nothing"),
        pytest.param(
            b'- 20140103030321 {"url":"http://example.org/","mime":"warc/revisit","digest":"%b","offset":5,"filename":"a.warc.gz",'
            b'"profile":"%b"}' % (ONE.encode(), NOT_MODIFIED.encode()),
            PointerKind.NOT_MODIFIED,
            id="server not modified",
        ),
    ],
)
def test_a_row_without_checksum_or_status_has_a_pointer_of_its_own(
    line: bytes, kind: PointerKind
) -> None:
    found = Filtered([line])
    assert found.mementos == []
    (pointer,) = found.pointers
    assert pointer.kind is kind
    memento = parse_memento(pointer.memento)
    assert (memento.file, memento.offset, memento.original, memento.checksum, memento.reason) == (
        pointer.file,
        pointer.offset,
        pointer.original,
        pointer.checksum,
        "-",
    )
    assert found.total("mementos") == found.counts[Reason.ROW_KEPT] == 1
    assert found.counts[Reason.MEMENTO_WITH_PAYLOAD] == (kind is not PointerKind.NOT_MODIFIED)


def test_what_our_own_index_knows_travels_with_the_pointer() -> None:
    line = b'- 2014 {"url":"http://h/","mime":"%b","status":"%b","offset":5,"filename":"f",%b}'
    found = Filtered(
        [
            line % (b"text/html", b"302", b'"location":"/there"'),
            line
            % (
                b"warc/revisit",
                b"304",
                b'"refers_to_uri":"http://h/","refers_to_timestamp":"20130101000000"',
            ),
        ]
    )
    assert {
        (one.kind, one.location, one.refers_to_uri, one.refers_to_timestamp)
        for one in found.pointers
    } == {
        (PointerKind.REDIRECT, "/there", "", ""),
        (PointerKind.NOT_MODIFIED, "", "http://h/", "20130101000000"),
    }


def test_redirects_are_judged_by_the_rules_when_they_are_not_read() -> None:
    found = Filtered([row(status="302")], Rules(read_redirects=False))
    assert [memento.reason for memento in found.mementos] == ["MEMENTO_STATUS"]
    assert found.pointers == []


def test_without_the_checksum_rule_every_payload_is_read() -> None:
    found = Filtered([row(), row(timestamp="2015"), revisit()], Rules(checksum=False))
    assert [pointer.kind for pointer in found.pointers] == [
        PointerKind.REVISIT_ONLY,
        PointerKind.UNDIGESTED,
        PointerKind.UNDIGESTED,
    ]
    assert len(found.mementos) == 1
    assert found.total("mementos") == 3


def test_what_is_outside_the_selection_is_counted_and_not_kept() -> None:
    lines = [row(), row(FAR), row(timestamp="20150101000000")]
    found = Filtered(lines, Rules(prefixes=("org,example)",), last=Timestamp("2014")))
    assert [memento.original for memento in found.mementos] == ["http://example.org/"]
    assert found.counts[Reason.ROW_OUTSIDE_SELECTION] == 2
    assert found.total("rows") == 3


def test_what_is_forgotten_is_counted_and_not_kept() -> None:
    lines = [
        row(),
        row(FAR),
        row(FAR, timestamp="20150101000000"),
        row("http://org.example/"),
        revisit(original=FAR),
    ]
    forgotten = [
        Forgotten(Surt("example,far)/"), Span(last=Timestamp("20141231235959"))),
        Forgotten(Surt("org,exampl")),
    ]
    found = Filtered(lines, forgotten=[*forgotten, Forgotten(Surt("example,org"))])
    assert [memento.original for memento in found.mementos] == [FAR, "http://example.org/"]
    assert found.counts[Reason.ROW_FORGOTTEN] == 3
    assert found.total("rows") == 5


def test_the_surt_is_that_of_the_original_whatever_the_key() -> None:
    found = Filtered(
        [row().replace(b"org,example)/ ", b"example.org/ "), b"- " + row().split(b" ", 1)[1]]
    )
    assert {memento.surt for memento in found.mementos} == {"org,example)/"}
    assert found.counts[Reason.NOTE_SURT_OTHER] == 1


def test_a_uri_that_surt_refuses_is_its_own_key() -> None:
    found = Filtered([row(REFUSED, timestamp="2014"), row(REFUSED, timestamp="2015")])
    assert {memento.surt for memento in found.mementos} == {surt_of(REFUSED)}
    assert found.counts[Reason.NOTE_SURT_REFUSED] == 2


def test_each_rule_is_counted_by_itself_for_every_capture() -> None:
    found = Filtered(
        [
            row(),
            row(timestamp="2015"),
            row("http://example.org/a.gif", status="404", mime="image/gif"),
            row("http://example.org/b.gif", status="404", mime="-"),
            row("http://example.org/c.gif", status="404"),
            row(status="302", checksum=TWO),
            row(status="404", checksum=TWO),
            row(status="404", checksum="-"),
            row(status="404", checksum="-"),
        ]
    )
    assert {reason: count for reason, count in found.counts.items() if reason.group == "rules"} == {
        Reason.RULE_STATUS: 7,
        Reason.RULE_MIME: 1,
        Reason.RULE_EXTENSION: 2,
        Reason.RULE_CHECKSUM: 5,  # five captures of one payload, two of the other
    }


def test_a_row_that_cannot_be_read_is_counted_and_the_rest_is_read() -> None:
    found = Filtered(
        [
            b" CDX N b a m s k r M S V g\n",
            b"\n",
            b"a b c\n",
            row(),
            row("dns:example.org", mime="text/dns", status="-"),
        ]
    )
    assert found.counts == {
        Reason.ROW_HEADER: 2,
        Reason.ROW_MALFORMED: 1,
        Reason.ROW_NOT_A_CAPTURE: 1,
        Reason.ROW_KEPT: 1,
        Reason.MEMENTO_WITH_PAYLOAD: 1,
    }


def test_memento_blocks_are_full_but_for_the_last() -> None:
    assert Filtered([row(timestamp=str(2001 + year)) for year in range(8)], block=3).blocks == [
        3,
        3,
        2,
    ]


def test_a_memento_block_is_keyed_by_its_first_surt() -> None:
    rows = [row(original) for original in ("http://a.org/", "http://b.org/", "http://c.org/")]
    pairs = map_captures(rows, DEFAULT_RULES, Counter(), block=2)
    assert [key for key, _ in pairs if key.startswith(b"m")] == [b"morg,a)/", b"morg,c)/"]


def test_a_run_of_equal_captures_is_one_candidate_but_no_longer_than_a_block() -> None:
    rows = [row(timestamp=str(2001 + year)) for year in range(7)]
    pairs = list(map_captures(rows, DEFAULT_RULES, Counter(), block=3))
    assert [value.split(b"\t")[1] for key, value in pairs if key.startswith(b"p")] == [
        b"3",
        b"3",
        b"1",
    ]


# A payload at very many URIs.


def million(number: int) -> Iterator[bytes]:
    """Yield the candidates of one payload captured at ``number`` URIs, sorted; the last one is the
    earliest.
    """
    for position in range(number):
        original = b"http://example.org/soft-404/%09d" % position
        yield b"%b\t1\t0\t\t%d0101000000 %d 100 a.warc.gz" % (
            original,
            2999 - position * 1000 // number,
            position,
        )


def test_originals_past_the_limit_follow_in_further_pointers() -> None:
    number = 3 * ORIGINALS + 7
    counts: Counter[Reason] = Counter()
    pointers = [
        parse_pointer(line)
        for _, line in reduce_captures(b"p" + ONE.encode(), million(number), counts)
    ]
    assert [(pointer.chunk, len(pointer.originals)) for pointer in pointers] == [
        (0, ORIGINALS),
        (1, ORIGINALS),
        (2, ORIGINALS),
        (3, 7),
    ]
    originals = [original for pointer in pointers for original in pointer.originals]
    assert originals == sorted(set(originals))
    assert len(originals) == number
    assert (
        len(
            {
                (
                    one.kind,
                    one.checksum,
                    one.file,
                    one.offset,
                    one.timestamp,
                    one.original,
                    one.fall_backs,
                )
                for one in pointers
            }
        )
        == 1
    )
    assert counts[Reason.MEMENTO_DUPLICATE] == number - 1


def test_very_many_originals_of_a_payload_are_sorted_out_by_parts_of_their_origins() -> None:
    """All originals of an origin are in one part, and the first pointer has the first original."""
    hosts, number = 300, (selection.UNDIVIDED + 2) * ORIGINALS
    starts = (b"http", b"https", b"http", b"ftp")
    originals = sorted(
        b"%b://h%03d.example/%d" % (starts[one % 4], one % hosts, one) for one in range(number)
    )
    candidates = (b"%b\t1\t0\t\t20200101000000 0 100 a.warc.gz" % one for one in originals)
    lines = [line for _, line in reduce_captures(b"p" + ONE.encode(), candidates, Counter())]
    pointers = list(map(parse_pointer, lines))
    assert [pointer.chunk for pointer in pointers] == list(range(len(pointers)))
    found = [original.encode() for pointer in pointers for original in pointer.originals]
    assert sorted(found) == originals
    assert found[0] == originals[0]
    parts = {pointer.part for pointer in pointers}
    assert 50 < len(parts) <= 2 * PARTS + 1
    firsts = [part for part in parts if part.endswith(FIRST_PART)]
    assert {part.rstrip("0123456789abcdef*") for part in firsts} == {"http", "https", "other"}
    assert len(firsts) == 3
    for pointer in pointers:
        found_parts = {"".join(part_of_origin(original)) for original in pointer.originals}
        assert found_parts == {pointer.part.removesuffix(FIRST_PART)}
        assert list(pointer.originals) == sorted(pointer.originals)
    assert len(pointers) <= number // ORIGINALS + len(parts)


def test_a_pointer_without_part_and_names_is_written_without_them() -> None:
    whole = [line for _, line in reduce_captures(b"p" + ONE.encode(), million(2), Counter())]
    assert len(orjson.loads(whole[0])) == len(fields(Pointer)) - 2
    assert format_pointer(parse_pointer(whole[0])) == whole[0]
    divided = replace(parse_pointer(whole[0]), part="0a")
    assert parse_pointer(format_pointer(divided)) == divided


@pytest.mark.costly
def test_memory_does_not_grow_with_the_uris_of_a_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MEMORY", 1 << 16)
    tracemalloc.start()
    try:
        for _ in reduce_captures(b"p" + ONE.encode(), million(20_000), Counter()):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000  # all originals at once: 6 MB


# Held against a plain program.


def filter_plainly(
    rows: Sequence[bytes], rules: Rules
) -> tuple[list[Memento], list[Pointer], Counter[Reason]]:
    """Return mementos, pointers and counts as defined in the documents, computed in memory."""
    counts: Counter[Reason] = Counter()
    mementos: list[Memento] = []
    pointers: list[Pointer] = []
    groups: dict[str, list[Capture]] = {}
    left_out: set[str] = set()
    checksums: Counter[str] = Counter()
    for line in rows:
        try:
            capture = parse_row(line)
        except CdxError as error:
            counts[error.reason] += 1
            continue
        if capture.note:
            counts[capture.note] += 1
        if not rules.selects(surt_of(capture.original), capture.timestamp):
            counts[Reason.ROW_OUTSIDE_SELECTION] += 1
            continue
        counts[Reason.ROW_KEPT] += 1
        surt = surt_of(capture.original)
        is_of_method = capture.method != "" and capture.method not in (
            rules.methods or (capture.method,)
        )
        counts[Reason.NOTE_SURT_OTHER] += (
            bool(capture.key) and capture.key != surt and not capture.method
        )
        counts[Reason.RULE_METHOD] += is_of_method
        counts[Reason.NOTE_SURT_REFUSED] += capture.original == REFUSED
        is_revisit = capture.record_type == "revisit"
        counts[Reason.RULE_STATUS] += rules.fails_status(capture.status, capture.record_type)
        counts[Reason.RULE_MIME] += not is_revisit and rules.fails_mime(capture.mime)
        counts[Reason.RULE_EXTENSION] += rules.fails_extension(capture.original, capture.mime)
        if capture.is_digested:
            checksums[capture.checksum] += 1
        reason = rules.first_failing(capture)
        kind = None
        may_be_request = capture.record_type == "resource" and b'"type"' not in line
        if is_of_method:
            assert reason is Reason.MEMENTO_METHOD
            surt = Surt(f"{surt} {capture.method}")
        elif rules.read_redirects and capture.status[0] == "3":
            kind, reason = PointerKind.REDIRECT, None
        elif reason is None and capture.is_unmodified:
            kind = PointerKind.NOT_MODIFIED
        elif (
            reason is None
            and not is_revisit
            and (may_be_request or not (capture.is_digested and rules.checksum))
        ) or (may_be_request and capture.mime == "-"):
            kind = PointerKind.UNDIGESTED
        memento = Memento(
            surt,
            capture.timestamp,
            capture.original,
            capture.checksum,
            capture.status,
            capture.mime,
            capture.record_type,
            capture.file,
            capture.offset,
            capture.length,
            reason.name if reason else "-",
        )
        if kind:
            address = (
                capture.file,
                capture.offset,
                capture.length,
                capture.timestamp,
                capture.original,
            )
            pointers.append(
                Pointer(
                    kind,
                    capture.checksum,
                    *address,
                    originals=(capture.original,),
                    memento=format_memento(memento),
                )
            )
            counts[
                reason
                or (
                    Reason.MEMENTO_DUPLICATE
                    if kind is PointerKind.NOT_MODIFIED
                    else Reason.MEMENTO_WITH_PAYLOAD
                )
            ] += 1
            if reason and not is_revisit:
                left_out.add(capture.checksum)
            continue
        mementos.append(memento)
        if reason:
            counts[reason] += 1
            if not is_revisit:
                left_out.add(capture.checksum)
        else:
            groups.setdefault(capture.checksum, []).append(capture)
    for checksum, group in groups.items():
        names = tuple(sorted({one.original for one in group}))
        payloads = sorted(
            (one.timestamp, one.original, one.file, one.offset, one.length)
            for one in group
            if one.record_type != "revisit"
        )
        if payloads:
            by_file = {one[2]: one for one in reversed(payloads)}
            first, *others = (
                FallBack(one[2], one[3], one[4], one[0], one[1])
                for one in sorted(by_file.values())[:3]
            )
            kind = PointerKind.PAYLOAD
        else:
            timestamp, original = min((one.timestamp, one.original) for one in group)
            first, others, kind = (
                FallBack(NO_FILE, 0, -1, timestamp, original),
                [],
                PointerKind.REVISIT_ONLY,
            )
        address = (first.file, first.offset, first.length, first.timestamp, first.original)
        why = "PAYLOAD_LEFT_OUT" if not payloads and checksum in left_out else ""
        pointers.append(
            Pointer(
                kind,
                Checksum(checksum),
                *address,
                originals=names,
                fall_backs=tuple(others),
                reason=why,
            )
        )
        counts[Reason.MEMENTO_WITH_PAYLOAD] += bool(payloads)
        counts[Reason.MEMENTO_DUPLICATE] += len(group) - bool(payloads)
    counts[Reason.RULE_CHECKSUM] += sum(checksums.values()) - len(checksums)
    return sorted(mementos, key=repr), sorted(pointers, key=repr), +counts


@given(st.lists(lines, max_size=25), rule_sets, st.integers(1, 3), st.integers(1, 4))
def test_filter_gives_what_a_plain_program_gives(
    rows: list[bytes], rules: Rules, tasks: int, block: int
) -> None:
    found = Filtered(rows, rules, tasks, block)
    assert (found.mementos, found.pointers, found.counts) == filter_plainly(rows, rules)


@given(st.lists(lines, max_size=25), rule_sets)
def test_every_row_and_every_memento_ends_in_exactly_one_reason(
    rows: list[bytes], rules: Rules
) -> None:
    found = Filtered(rows, rules)
    assert found.total("rows") == len(rows)
    assert found.total("mementos") == found.counts[Reason.ROW_KEPT]
    assert (
        len(found.mementos) + sum(bool(pointer.memento) for pointer in found.pointers)
        == found.counts[Reason.ROW_KEPT]
    )
    read = [
        pointer
        for pointer in found.pointers
        if pointer.kind not in (PointerKind.REVISIT_ONLY, PointerKind.NOT_MODIFIED)
        and (not pointer.memento or parse_memento(pointer.memento).reason == "-")
    ]
    assert len(read) == found.counts[Reason.MEMENTO_WITH_PAYLOAD]


@given(st.lists(lines, max_size=25), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(rows: list[bytes], shuffle: random.Random) -> None:
    found = Filtered(rows)
    shuffle.shuffle(rows)
    again = Filtered(rows)
    assert (again.mementos, again.pointers, again.counts) == (
        found.mementos,
        found.pointers,
        found.counts,
    )


@pytest.mark.parametrize("original", ['http://h/"quoted"', "http://h/back\\slash", "http://h/ü"])
@pytest.mark.parametrize("checksum", [ONE, 'od"d', "od\\d"])
def test_what_json_escapes_reads_back(original: str, checksum: str) -> None:
    rows = [
        row(original, checksum=checksum),
        row(original, "20150103030321", checksum, file='b"\\.warc.gz'),
    ]
    found = Filtered(rows)
    assert (found.mementos, found.pointers, found.counts) == filter_plainly(rows, DEFAULT_RULES)
    assert [
        (pointer.checksum, pointer.original, len(pointer.fall_backs)) for pointer in found.pointers
    ] == [(checksum, original, 1)]


def test_pointers_read_back() -> None:
    pointer = payload(
        "http://h/ü",
        "20140101000000",
        originals=("a", "b"),
        fall_backs=(FallBack("f", 1, 2, Timestamp("3"), UriR("u")),),
        chunk=2,
    )
    assert parse_pointer(format_pointer(pointer)) == pointer
    assert b"\n" not in format_pointer(pointer)


# Real CDX files.


def filter_file(path: Path) -> Filtered:
    return Filtered(path.read_bytes().splitlines(keepends=True), tasks=2, block=100)


def test_mementos_of_the_flink_site_are_those_of_its_cdx(shared_data: Path) -> None:
    path = shared_data / "flink_web/flink-2015-2018.cdx"
    found = filter_file(path)
    columns = [line.split() for line in path.read_text().splitlines()[1:]]
    assert sorted((one.original, one.timestamp) for one in found.mementos) == sorted(
        (one[2], one[1]) for one in columns
    )
    assert found.counts == {
        Reason.ROW_HEADER: 1,
        Reason.ROW_KEPT: 3647,
        Reason.MEMENTO_WITH_PAYLOAD: 2023,
        Reason.MEMENTO_DUPLICATE: 1253,
        Reason.MEMENTO_STATUS: 143,
        Reason.MEMENTO_MIME: 228,
        Reason.RULE_STATUS: 143,
        Reason.RULE_MIME: 228,
        Reason.RULE_EXTENSION: 216,
        Reason.RULE_CHECKSUM: 1455,
    }


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        # 94 pages with status 200, four of them copies of another, and nine feeds
        pytest.param(
            "aut/example.warc.gz.published.cdx",
            {PointerKind.PAYLOAD: 99, PointerKind.REDIRECT: 7},
            id="crawl of 2008",
        ),
        pytest.param(
            "pywb/cdx/iana.cdx", {PointerKind.PAYLOAD: 16, PointerKind.REDIRECT: 4}, id="iana.org"
        ),
        pytest.param(
            "cdx/one-url-2012-2014.cdx",
            {
                PointerKind.PAYLOAD: 1215,
                PointerKind.REDIRECT: 681,
                PointerKind.NOT_MODIFIED: 53,
                PointerKind.REVISIT_ONLY: 2,
            },
            id="archive.org",
        ),
    ],
)
def test_what_of_a_real_cdx_is_read(
    name: str, kinds: dict[PointerKind, int], shared_data: Path
) -> None:
    found = filter_file(shared_data / name)
    assert Counter(pointer.kind for pointer in found.pointers) == kinds
    assert found.total("rows") == found.lines
    assert found.total("mementos") == found.counts[Reason.ROW_KEPT]
