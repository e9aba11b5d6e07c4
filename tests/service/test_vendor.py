"""The programs of others that pages load: unchanged, with their licences, and only where needed."""

import hashlib

from tests.service.conftest import client_of
from tests.sources import ROOT
from tests.store.memory_store import MemoryStore, Page, link

VENDOR = ROOT / "arclink" / "service" / "static" / "vendor"
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in (VENDOR / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `")
]
WEB = [Page("http://a.example/", "20090101000000", [link("http://b.example/", "b")])]


def test_each_file_is_recorded_and_unchanged() -> None:
    assert {row[0] for row in ROWS} == {path.name for path in VENDOR.glob("*.js")}
    for name, package, version, _, licence, checksum in ROWS:
        data = (VENDOR / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == checksum
        assert licence == f"MIT (`{package}.LICENSE.txt`)"
        assert "Permission is hereby granted" in (VENDOR / f"{package}.LICENSE.txt").read_text(
            "utf-8"
        )
        assert version[0].isdigit()


def test_they_are_loaded_only_with_a_graph() -> None:
    client = client_of(lambda: MemoryStore(WEB))
    assert 'id="grows"' not in client.get("/?ask=linkers").text
    shown = client.get("/?ask=host-links").text
    assert 'id="grows"' in shown
    page = (VENDOR.parent / "page.js").read_text("utf-8")
    assert 'if (document.getElementById("grows")) import("./grow.js")' in page
    assert "vendor" not in shown + page  # the script loads them if the browser has WebGL
    script = (VENDOR.parent / "grow.js").read_text("utf-8")
    for name, *_ in ROWS:
        assert f'import("./vendor/{name}")' in script
        with client.get(f"/static/vendor/{name}") as answer:
            assert answer.data == (VENDOR / name).read_bytes()
