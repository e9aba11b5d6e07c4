"""Every capture of real archives is read back with the digest that its record declares."""

from collections import Counter
from pathlib import Path

import pytest

from arclink.captures.read import PageReader
from arclink.store.location import open_store
from tests.captures.archives import sha1
from tests.demos import Demos


@pytest.mark.parametrize(
    ("inputs", "equal"),
    [
        pytest.param(("aut/example.warc.gz",), 254, id="aut"),
        pytest.param(("aut/example.arc.gz",), 254, id="arc"),
        pytest.param(("pywb/warcs",), 195, id="pywb"),
        pytest.param(
            ("flink_web/flink.apache.org-2015.warc.gz", "flink_web/flink.apache.org-2016.warc.gz"),
            1000,
            id="flink",
        ),
    ],
)
def test_bodies_have_the_digests_of_their_captures(
    shared_data: Path, demos: Demos, inputs: tuple[str, ...], equal: int
) -> None:
    store_path = demos.real(*(shared_data / name for name in inputs))
    counts: Counter[str] = Counter()
    with open_store(str(store_path)) as store:
        reader = PageReader(store)
        for memento in store.scan_mementos():
            if ":" in memento.checksum:  # a redirect or reference has a checksum of the graph's own
                counts["own"] += 1
                continue
            with reader.read(memento) as page:
                is_equal = sha1(b"".join(page.recorded())) == memento.checksum
            if memento.surt == "com,example)/?example=2 GETX":  # its answer has no status line
                counts["without status line"] += 1
                continue
            counts["equal" if is_equal else "other"] += 1
        reader.close()
    assert counts["other"] == 0
    assert counts["equal"] >= equal
