"""Scenes of the demo archive, in addition to its ordinary crawls: ``scenes.toml``.

Each scene shows one case that is easy to get wrong, on pages that no other scene uses. It is
included completely or not at all.

A line of ``captures`` is a crawl (0 to 9), what is captured, its URI, and more:

- ``page NAME``, with ``coding=gzip``, ``chunked`` or both, ``mime=`` a type or ``none``,
  ``spelled=`` the original, if it is spelled differently;
- ``missing NAME``: a page with status 404; the graph does not have its links;
- ``lost NAME``: a page that was fetched, but is not in the archive;
- ``revisit NAME``, with ``status=`` a number or ``none``, ``names=URI,TIMESTAMP`` of another
  capture than the first one of this page;
- ``unchanged NAME``: the server says that nothing changed since the first capture of this page;
- ``redirect REFERENCE``, with ``status=``;
- ``image TEXT``; ``file TEXT``, with ``mime=``; ``record=resource`` if not fetched over HTTP.

``same=URI``: in the second of the first capture of that URI. URIs are relative to ``http://site0/``;
``site0`` to ``site7`` are hosts of the archive. With ``each``, a table, the scene is played once
for each row; the names of its columns in braces are the values.

A page has its head, then ``# TITLE``, then its body, in the notation of `arclink.demo.pages`. Lines
before these set fields of `DemoPage`: ``@language cs``. ``@lines 3``: only 3 lines of the body.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from arclink.demo.captures import (
    HTML,
    Crawler,
    DemoCapture,
    file,
    gif,
    missing,
    not_modified,
    page,
    redirect,
    revisit,
)
from arclink.demo.pages import Charset, DemoPage, Location, Site, read_data, read_table
from arclink.model import Timestamp

_OPTION = re.compile("(coding|mime|names|record|same|spelled|status)=(.*)")


def scenes(sites: Sequence[Site], crawler: Crawler) -> Iterator[list[DemoCapture]]:
    """Yield the captures of each scene, the most important scene first."""
    hosts = {f"site{number}": sites[number % len(sites)].host for number in range(8)}
    shouted = {name.upper(): host.upper() for name, host in hosts.items()}
    home = Location(f"http://{sites[0].host}/")
    for scene in read_data("scenes.toml", hosts | shouted)["scenes"]:
        yield list(_Scene(crawler, home).captures(scene))


class _Scene:
    """The pages and the first captures of a scene."""

    def __init__(self, crawler: Crawler, home: Location) -> None:
        self._crawler = crawler
        self._home = home
        self._pages: dict[str, DemoPage] = {}
        self._firsts: dict[str, DemoCapture] = {}

    def captures(self, scene: Mapping[str, Any]) -> Iterator[DemoCapture]:  # Any: a table of TOML
        """Yield the captures of a scene."""
        for values in read_table(scene.get("each", "-\n-")):
            for name, written in scene["pages"].items():
                self._pages[_filled(name, values)] = _page(_filled(written, values))
            for line in _filled(scene["captures"], values).split("\n"):
                capture = self._capture(line) if line else None
                if capture is not None:
                    yield capture

    def _capture(self, line: str) -> DemoCapture | None:
        """Return what a line captures; None if it is not in the archive."""
        crawl, action, uri, *words = line.split()
        found = [_OPTION.fullmatch(word) for word in words]
        options = {match[1]: match[2] for match in found if match}
        text = " ".join(word for word, match in zip(words, found, strict=True) if not match)
        location = Location(self._home.target(uri))
        same = options.get("same")
        moment = (
            self._firsts[self._home.target(same)].timestamp
            if same
            else self._crawler.time(int(crawl))
        )
        capture = self._made(action, moment, location, text, options)
        self._firsts.setdefault(text, capture)
        if action == "lost":
            return None
        self._firsts.setdefault(location.uri, capture)
        return capture

    def _made(
        self,
        action: str,
        moment: Timestamp,
        location: Location,
        text: str,
        options: Mapping[str, str],
    ) -> DemoCapture:
        match action:
            case "page":
                mime = options.get("mime", HTML)
                return page(
                    moment,
                    location,
                    self._pages[text],
                    options.get("coding", ""),
                    None if mime == "none" else mime,
                    options.get("spelled"),
                )
            case "missing" | "lost":
                return missing(moment, location, self._pages[text])
            case "redirect":
                return redirect(moment, location, int(options["status"]), text)
            case "revisit":
                status = options.get("status", "200")
                original, _, timestamp = options.get("names", "").partition(",")
                return revisit(
                    moment,
                    location,
                    self._firsts[text],
                    None if status == "none" else int(status),
                    (self._home.target(original), Timestamp(timestamp)) if timestamp else None,
                )
            case "unchanged":
                return not_modified(moment, self._firsts[text])
            case "image" | "file":
                body = gif(text) if action == "image" else f"{text}\n".encode()
                mime = options.get("mime", "image/gif")
                return file(moment, location, mime, body, options.get("record", "response"))
        raise ValueError(f"{location.uri}: {action!r} is nothing that a scene captures")


def _page(written: str) -> DemoPage:
    before, _, after = written.partition("# ")
    title, _, body = after.partition("\n")
    fields = dict(re.findall(r"^@(\w+) (.*)\n", before, re.MULTILINE))
    head = re.sub(r"^@.*\n", "", before, flags=re.MULTILINE)
    body = "\n".join(body.splitlines()[: int(fields.pop("lines", "99"))])
    if "body_tag" not in fields:
        body = f"<h2>{escape(title)}</h2>\n{body}"
    if "charset" in fields:
        fields["charset"] = Charset(*fields["charset"].split())
    return DemoPage(title, body, head, **fields)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
