r"""Pages with known links, in a notation of lines, and the invented world that they are about.

A page is its markup, line by line, with these signs for its links:

- ``[REFERENCE|TEXT|REL]`` is an anchor, ``[!REFERENCE|ALT]`` an image; REL and ALT may be left out.
- ``= KIND REFERENCE|TEXT|REL`` in a line of its own: a link of the markup in the next lines.
- ``¶`` at the beginning of a line: the line is a paragraph.
- ``\n`` and ``\t``: a line break and a tab.

TEXT may be ``MARKUP => TEXT``, and REFERENCE may be ``WRITTEN => TARGET``: first what the page has,
then what the list of true links has. No parser and no resolver makes that list: a reference without
an arrow is of one of the forms of `Location.target`, which need no rule of the URL Standard.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib import resources
from itertools import islice
from typing import Any, NamedTuple

TrueLink = tuple[str, str, str, str | None]
"""(absolute target, kind, text, rel), as in the truth and in the graph files."""


@dataclass(frozen=True)
class Location:
    """The URI of a page, in the serialisation of the WHATWG URL standard.

    >>> page = Location("http://www.kalvik2010.example/torch/route.html?day=1")
    >>> page.host, page.path
    ('www.kalvik2010.example', '/torch/route.html?day=1')
    >>> page.target("../medals"), page.target("?day=2")
    ('http://www.kalvik2010.example/medals', 'http://www.kalvik2010.example/torch/route.html?day=2')
    """

    uri: str

    @cached_property
    def host(self) -> str:
        """Host, with the port unless it is the scheme's default."""
        return self.uri.split("/")[2]

    @cached_property
    def origin(self) -> str:
        """Scheme and host."""
        return self.uri[: self.uri.index("//") + 2] + self.host

    @property
    def path(self) -> str:
        """Path and query: all text after the host."""
        return self.uri[len(self.origin) :]

    def target(self, reference: str) -> str:
        """Return what a reference leads to when it is read here.

        It is a URI, ``//host/x``, ``/x``, ``?q``, empty (this page), ``../x``, ``./`` or ``x``,
        serialised, and without a fragment. The root has no folder above.
        """
        if _SCHEME.match(reference):
            return reference
        if reference.startswith("//"):
            return self.uri.partition("//")[0] + reference
        if reference.startswith("/"):
            return self.origin + reference
        if not reference:
            return self.uri
        page = self.uri.partition("?")[0]
        if reference.startswith("?"):
            return page + reference
        folder = page.rpartition("/")[0]
        if reference.startswith("../"):
            folder = max(folder.rpartition("/")[0], self.origin, key=len)
        return f"{folder}/{reference.removeprefix('../').removeprefix('./')}"


_SCHEME = re.compile("[a-z]+:")


class Link(NamedTuple):
    """A link of the page that the graph must have, unless it leads to its own page.

    Attributes:
        target: As `Location.target` takes it.
        text: Text with white space folded, as in the graph.
        rel: The ``rel`` attribute, folded and in lower case; None if it has no ``rel``.
    """

    kind: str
    target: str
    text: str = ""
    rel: str | None = None


def spelled(reference: str) -> tuple[str, str]:
    """Return a reference of the notation as its page has it, and as `Location.target` takes it.

    >>> spelled("../x#top"), spelled("HTTP://a => http://a/")
    (('../x#top', '../x'), ('HTTP://a', 'http://a/'))
    """
    written, arrow, target = reference.partition(" =>")
    return written, target.strip() if arrow else written.partition("#")[0]


_LINK = re.compile(r"\[(!?)([^|\]]*)(?:\|([^|\]]*))?(?:\|([^|\]]*))?\]")


def read_notation(notation: str) -> tuple[str, list[Link]]:
    r"""Return markup, and its links in page order.

    >>> read_notation("¶See [/|our home|me].")[0]
    '<p>See <a href="/" rel="me">our home</a>.</p>\n'
    """
    links: list[Link] = []

    def write(found: re.Match[str]) -> str:
        is_image, reference, shown, rel = found.groups()
        written, target = spelled(reference)
        if is_image:
            links.append(Link("img@src", target, shown or ""))
            return f"<img{_attribute('src', written)}{_attribute('alt', shown)}>"
        markup, arrow, text = shown.partition(" => ")
        links.append(Link("a@href", target, text if arrow else shown, rel))
        inside = markup if arrow else escape(shown)
        return f"<a{_attribute('href', written)}{_attribute('rel', rel)}>{inside}</a>"

    lines = []
    for line in notation.removesuffix("\n").split("\n") if notation else ():
        if line.startswith("= "):
            kind, _, link = line[2:].partition(" ")
            target, text, rel = (*link.split("|"), "", "")[:3]
            links.append(Link(kind, target, text, rel or None))
        else:
            html = _LINK.sub(write, line.removeprefix("¶"))
            lines.append(f"<p>{html}</p>\n" if line.startswith("¶") else html + "\n")
    return "".join(lines).replace(r"\n", "\n").replace(r"\t", "\t"), links


def _attribute(name: str, value: str | None) -> str:
    """Return `` name="value"``, or an empty text if there is no value."""
    return "" if value is None else f' {name}="{escape(value)}"'


@dataclass(frozen=True, slots=True)
class Charset:
    """The encoding of a page, and where it is declared.

    Attributes:
        codec: Python's name.
        label: The name in the declaration.
        declared: ``header``, ``meta``, ``http-equiv``, ``bom``, or ``none``.
    """

    codec: str
    label: str
    declared: str

    @property
    def markup(self) -> str:
        """The declaration in the head; empty if it is elsewhere."""
        return {
            "meta": f'<meta charset="{self.label}">\n',
            "http-equiv": '<meta http-equiv="Content-Type" content="text/html; '
            f'charset={self.label}">\n',
        }.get(self.declared, "")

    @property
    def parameter(self) -> str:
        """The parameter of the Content-Type header; empty if the declaration is elsewhere."""
        return f"; charset={self.label}" if self.declared == "header" else ""

    def encode(self, text: str) -> bytes:
        """Return ``text`` in bytes; characters outside the charset become character references."""
        mark = "\ufeff" if self.declared == "bom" else ""
        return (mark + text).encode(self.codec, errors="xmlcharrefreplace")


@dataclass(frozen=True, eq=False)
class DemoPage:
    """A payload: the page that a server answers with, at any location.

    Attributes:
        title: Distinct from that of other pages, so that no two pages have equal bytes by accident.
        body: Contents of the body, in the notation.
        head: Contents of the head besides title, charset and base, in the notation.
        base: ``<base href>``, in the notation; empty without one.
        charset: None for that of its language.
        language: For ``<html lang>``.
        body_tag: ``body``, or ``frameset``.
    """

    title: str
    body: str = ""
    head: str = ""
    base: str = ""
    charset: Charset | None = None
    language: str = "en"
    body_tag: str = "body"

    @property
    def encoding(self) -> Charset:
        """The encoding, and where it is declared."""
        return self.charset or LANGUAGES[self.language].charset

    @cached_property
    def payload(self) -> bytes:
        """The bytes of the page."""
        direction = ' dir="rtl"' if self.language in {"ar", "he"} else ""
        base = f"<base{_attribute('href', spelled(self.base)[0])}>\n" if self.base else ""
        (head, _), (body, _) = self._parts
        return self.encoding.encode(
            f'<!DOCTYPE html>\n<html lang="{self.language}"{direction}>\n<head>\n'
            f"{self.encoding.markup}{base}<title>{escape(self.title)}</title>\n{head}</head>\n"
            f"<{self.body_tag}>\n{body}</{self.body_tag}>\n</html>\n"
        )

    @cached_property
    def _parts(self) -> tuple[tuple[str, list[Link]], tuple[str, list[Link]]]:
        return read_notation(self.head), read_notation(self.body)

    def links_at(self, location: Location) -> Iterator[TrueLink]:
        """Yield the links of the page at ``location``, in page order, except links to itself."""
        read_at = Location(location.target(spelled(self.base)[1]))
        for _, links in self._parts:
            for link in links:
                if link.target or read_at != location:
                    yield read_at.target(link.target), link.kind, link.text, link.rel


@dataclass(frozen=True, slots=True)
class _Language:
    """Words of one language, for its pages.

    Attributes:
        charset: Encoding of its older pages.
        phrases: Link texts; ``{}`` is a topic.
        sentences: Sentences to fill a page.
        home: Text of the link to the first page of a site.
        topics: Names of the topics, in the same order as in the other languages, so that a page has
            a name for the topic of any other page.
    """

    charset: Charset
    phrases: list[str]
    sentences: list[str]
    home: str
    topics: list[str]


@dataclass(frozen=True, slots=True)
class Site:
    """A host, with the language and encoding of its pages.

    Attributes:
        charset: None for that of its language.
        turns_https: Whether it moves to ``https`` in the middle of the games and redirects from
            ``http``.
    """

    host: str
    name: str
    language: str
    charset: Charset | None
    turns_https: bool


def read_data(name: str, replaced: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read a TOML file of the demo, with other words for those in ``replaced``."""
    text = resources.files("arclink.demo").joinpath(name).read_text("utf-8")
    for word, value in (replaced or {}).items():
        text = text.replace(word, value)
    return tomllib.loads(text)


def read_table(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of columns between ``|``; its first line names the columns."""
    names, *rows = ([cell.strip() for cell in row.split("|")] for row in text.strip().split("\n"))
    for row in rows:
        yield dict(zip(names, row, strict=True))


_WORLD = read_data("world.toml")

LANGUAGES = {
    name: _Language(**{**written, "charset": Charset(*written["charset"].split())})
    for name, written in _WORLD["languages"].items()
}

TOPICS: list[str] = _WORLD["topics"]
"""The topics as file names."""

SECTIONS: list[str] = _WORLD["sections"]


def sites(count: int) -> list[Site]:
    """Return the first ``count`` sites: first those with their own names, then generated ones."""
    made = [
        Site(
            row["host"],
            row["name"],
            row["language"],
            Charset(*row["charset"].split()) if row["charset"] else None,
            bool(row["turns_https"]),
        )
        for row in islice(read_table(_WORLD["sites"]), count)
    ]
    languages = list(LANGUAGES)
    firsts, seconds = _WORLD["first_words"], _WORLD["second_words"]
    for number in range(count - len(made)):
        first, second = firsts[number % 10], seconds[number // 10 % 10]
        turn = number // 100
        host = f"{first}-{second}{turn or ''}.example"
        name = f"{first} {second} {turn or ''}".title().strip()
        made.append(Site(host, name, languages[number % len(languages)], None, number % 3 == 0))
    return made
