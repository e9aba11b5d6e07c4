"""Stores that earlier versions wrote, in ``kept/``, and the archive files from which they did.

Each folder of ``kept/`` has a store that was built by that version from `ARCHIVES`, in two batches,
with one takedown and two subsets::

    arclink build a.warc --store links.db
    arclink forget TAKEDOWN --reason 'letter 7' --store links.db
    arclink build b.warc --store links.db
    arclink select view 'host:www.gov.uk' --store links.db
    arclink select list 'from:2021' --keep --store links.db

A version that changes a layout gets a folder of its own here, before it changes it.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.archives.made_archives import http, warc

HTML, XHTML = "Content-Type: text/html", "Content-Type: application/xhtml+xml"
KEPT = Path(__file__).with_name("kept")


def _page(uri: str, links: str, date: str = "2020-01-02T03:04:05Z", mime: str = HTML) -> bytes:
    return warc(uri, http(f"<title>T {uri}</title>{links}".encode(), mime), date=date)


def _links(*targets: str) -> str:
    return "".join(f'<a href="{target}">to {number}</a>' for number, target in enumerate(targets))


_ESCAPED = ("/a&b", "/a%26b", "/a%2526b", "/p/q", "/p%2Fq", "/s?x=1&y=2", "/s?x=1%26y=2")
_SITES = ("www.gov.uk", "gov.uk", "www.www.gov.uk", "www3288.com", "www57912.com", "a.example")

ARCHIVES = {
    "a.warc": b"".join(
        [
            *(
                _page(f"http://{site}{path}", _links(*_ESCAPED, "http://a.example/", path))
                for site in _SITES
                for path in ("/", *_ESCAPED)
            ),
            *(
                warc(
                    f"urn:text:http://{site}/p/q",
                    b"text",
                    "Content-Type: text/plain",
                    record_type="resource",
                )
                for site in _SITES
            ),
            _page("http://www.ac.uk/secret", _links("http://www.gov.uk/a%26b")),
            _page("http://www.ac.uk/", _links("/secret", "/other")),
        ]
    ),
    "b.warc": b"".join(
        [
            *(
                _page(f"http://{site}{path}", _links(*_ESCAPED[1:], "/new"), "2021-05-06T07:08:09Z")
                for site in _SITES
                for path in _ESCAPED
            ),
            # The links of these differ between extractors.
            warc(
                "http://a.example/x.xhtml",
                http(
                    b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head>'
                    b"<body><script><![CDATA[<a href='/no'>]]></script>"
                    b'<a href="/yes">yes</a><x:a xmlns:x="http://www.w3.org/1999/xhtml" '
                    b'href="/prefix">p</x:a></body></html>',
                    XHTML,
                ),
                date="2021-05-06T07:08:10Z",
            ),
            _page("http://www.gov.uk/blob", '<a href="&#31;/b">b</a>', "2021-05-06T07:08:11Z"),
        ]
    ),
}
"""Archive files by name: URIs whose keys differ between rules, and pages whose links differ."""


@dataclass(frozen=True)
class KeptStore:
    """A store of an earlier version.

    Attributes:
        name: Its folder.
        version: The commit that wrote it.
        takedown: The prefix of its takedown: the key of ``http://www.ac.uk/`` in that version.
    """

    name: str
    version: str
    takedown: str

    @property
    def path(self) -> Path:
        return KEPT / self.name / "links.db"

    def copy(self, folder: Path) -> Path:
        """Copy the store, and return its path."""
        shutil.copytree(self.path.parent, folder, dirs_exist_ok=True)
        return folder / "links.db"


STORES = (
    KeptStore("layout-3-keys-1", "e7e00bea", "uk,ac)/"),
    KeptStore("layout-3-keys-2", "ebb1e329", "uk,ac,www)/"),
    KeptStore("layout-4-of-2026-11-28", "ce716245", "uk,ac,www)/"),
)


def write_archives(folder: Path) -> Path:
    """Write the archive files to a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in ARCHIVES.items():
        (folder / name).write_bytes(data)
    return folder
