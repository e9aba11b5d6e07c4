"""The fuzz targets pass on their seeds, on earlier findings, and on some random bytes.

`make fuzz` searches for further findings.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.archives.made_archives import arc, http, warc
from tests.fuzz import cdx_row, feed_links, html_links, uri_resolution, warc_record, wat

TARGETS = [cdx_row, feed_links, html_links, uri_resolution, warc_record, wat]
Check = Callable[[bytes], None]

SEEDS = [
    pytest.param(target.check, seed, id=f"{target.__name__.rpartition('.')[2]} {n}")
    for target in TARGETS
    for n, seed in enumerate(target.SEEDS)
]

FINDS = [
    pytest.param(
        warc_record.check,
        b"\1WARC/1.0\r8\r\n\r\n" + warc("http://a.example/", http(b"x")),
        id="sound record after a damaged one in a gzip member",
    ),
    pytest.param(
        warc_record.check,
        b"\0" + warc("{x}", http(b"x")) + warc("!x", http(b"x")) + warc("CDX", http(b"x")),
        id="URIs that look like JSON or a header",
    ),
    pytest.param(
        cdx_row.check,
        b' {"org,a)/ 2010 {"url": "http://a.org/", "offset": "0", "filename": "f"}',
        id="key that looks like JSON",
    ),
    pytest.param(
        cdx_row.check,
        b'{"urlkey": "a b", "timestamp": "2010", "url": "http://a.org/", "offset": 3, '
        b'"filename": "f"}',
        id="key with a blank",
    ),
    pytest.param(
        warc_record.check,
        b"\0" + warc("http://a.example/", http(b"x"), "WARC-Payload-Digest: sha1:\0x"),
        id="control in a digest",
    ),
    pytest.param(
        warc_record.check,
        b"\0"
        + warc(
            "http://a.example/",
            http(b"", "Location: /a\tb\rc\x01d", status="301 x"),
            "WARC-Profile: a\rb",
        ),
        id="controls in Location and profile",
    ),
    pytest.param(
        warc_record.check,
        b"\0" + arc("http://a.example/", http(b"x", "Content-Type: text\0/html")),
        id="control in a mime type",
    ),
    pytest.param(
        cdx_row.check,
        b"k 2010 http://a.org/ war - sha\x1e55:ab - 10 f",
        id="control in the name of an algorithm",
    ),
]


@pytest.mark.parametrize(("check", "data"), FINDS)
def test_earlier_findings_of_fuzzing_stay_fixed(check: Check, data: bytes) -> None:
    check(data)


@pytest.mark.parametrize(("check", "data"), SEEDS)
def test_a_target_holds_for_its_seeds(check: Check, data: bytes) -> None:
    check(data)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__.rpartition(".")[2])
def test_a_target_holds_for_what_is_near_its_seeds(target: object) -> None:
    check: Check = target.check  # type: ignore[attr-defined]
    seeds: list[bytes] = target.SEEDS  # type: ignore[attr-defined]

    @settings(deadline=None, max_examples=150)
    @given(
        st.sampled_from(seeds),
        st.lists(
            st.tuples(st.integers(0, 400), st.integers(0, 9), st.binary(max_size=6)), max_size=4
        ),
    )
    def hold(seed: bytes, edits: list[tuple[int, int, bytes]]) -> None:
        for index, removed, added in edits:
            seed = seed[:index] + added + seed[index + removed :]
        check(seed)

    hold()
