"""The chunks of a payload that was captured under very many URIs."""

import json
from base64 import b32encode
from collections import Counter
from dataclasses import replace
from hashlib import sha1
from pathlib import Path

import pytest

from arclink.extract.extraction import extract_pointers
from arclink.extract.settings import ExtractSettings
from arclink.model import Checksum, Timestamp, UriR
from arclink.reasons import Reason
from arclink.rows.pointers import FallBack, Pointer, PointerKind, format_pointer
from tests.archives.made_archives import http, warc

BODY = b'<a href="next.html">next</a>'
DIGEST = Checksum(b32encode(sha1(BODY, usedforsecurity=False).digest()).decode())


@pytest.mark.parametrize("is_named", [True, False], ids=["in the batch", "read for an earlier one"])
def test_all_chunks_have_one_key_if_the_first_capture_is_unreadable(
    is_named: bool, tmp_path: Path
) -> None:
    """Join needs them together: contents that two chunks share are written once."""
    uris = [UriR(f"http://{name}.example/") for name in "zab"]
    damaged, sound = tmp_path / "damaged.warc", tmp_path / "sound.warc"
    damaged.write_bytes(warc(uris[0], http(BODY, "Content-Type: text/html"))[:-20])
    sound.write_bytes(warc(uris[1], http(BODY, "Content-Type: text/html")))
    paths = json.dumps([str(damaged), str(sound)]).encode()
    when = Timestamp("20200102030405")
    first = Pointer(
        PointerKind.LAST_RESORT,
        Checksum("A" * 32),
        damaged.name,
        0,
        -1,
        when,
        uris[0],
        originals=(uris[0], uris[1]),
        fall_backs=(FallBack(sound.name, 0, -1, when, uris[1]),),
    )
    if not is_named:  # the store knows the place of the payload, but not the original there
        damaged.write_bytes(sound.read_bytes())
        first = replace(first, original=UriR(""), fall_backs=(), checksum=DIGEST)
        paths = json.dumps(str(damaged)).encode()
    second = replace(first, originals=(uris[2],), chunk=1)
    lines = [paths + b"\t" + format_pointer(pointer) for pointer in (first, second)]
    counts: Counter[Reason] = Counter()
    rows = list(extract_pointers(lines, ExtractSettings(), counts))
    keys = {row.partition(b"\t")[0] for relation, row in rows if relation == b"pages"}
    assert len([row for relation, row in rows if relation == b"pages"]) == 2
    assert len(keys) == 1
    assert counts[Reason.NOTE_FALL_BACK] == is_named
