"""A demo archive of 300 captures and 12 hosts has each of the cases that it is made for."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from surt import surt  # type: ignore[import-untyped]

from tests.demo.conftest import Archive, Seen, Truth

Feature = Callable[[Archive], bool]


def http(seen: Seen, name: str) -> str:
    return (seen.http or {}).get(name, "")


def pages(archive: Archive) -> Iterable[Seen]:
    """Yield the answers with status 200 whose links are known."""
    return (
        seen
        for seen, truth in archive.captures
        if seen.record_type == "response" and seen.status == "200" and truth.links is not None
    )


def writes(pattern: str) -> Feature:
    """Return whether some page matches ``pattern``."""
    wanted = re.compile(pattern.encode(), re.DOTALL)
    return lambda archive: any(wanted.search(seen.body) for seen in pages(archive))


def answers(status: str, location: str) -> Feature:
    """Return whether there is an answer with ``status`` whose Location matches ``location``."""
    return lambda archive: any(
        seen.status == status and re.fullmatch(location, http(seen, "location"))
        for seen, _ in archive.captures
    )


def sends(name: str, value: str) -> Feature:
    """Return whether some page comes with this HTTP header."""
    return lambda archive: any(re.fullmatch(value, http(seen, name)) for seen in pages(archive))


def links(kind: str) -> Feature:
    """Return whether the truth has a link of ``kind``."""
    return lambda archive: any(kind in truth.kinds() for truth in archive.truths)


def targets(pattern: str) -> Feature:
    """Return whether the truth has a target that matches ``pattern``."""
    return lambda archive: any(
        re.fullmatch(pattern, target)
        for truth in archive.truths
        for target, *_ in truth.links or ()
    )


def says(pattern: str) -> Feature:
    """Return whether the truth has a text that matches ``pattern``."""
    return lambda archive: any(
        re.search(pattern, text) for truth in archive.truths for _, _, text, _ in truth.links or ()
    )


def shows(original: str, condition: Callable[[Truth], bool]) -> Feature:
    """Return whether there are mementos of this original and all of them meet ``condition``."""

    def holds(archive: Archive) -> bool:
        found = [truth for truth in archive.truths if re.search(original, truth.original)]
        return bool(found) and all(map(condition, found))

    return holds


def revisits(
    archive: Archive, profile: str = "identical-payload-digest"
) -> Iterable[tuple[Seen, Truth]]:
    return (
        (seen, truth)
        for seen, truth in archive.captures
        if seen.headers.get("warc-profile", "").endswith(profile)
    )


def has_revisit_behind_its_payload_in_another_file(archive: Archive) -> bool:
    files = {seen.digest: seen.file for seen in pages(archive)}
    return any(files.get(seen.digest, 99) < seen.file for seen, _ in revisits(archive))


def has_revisit_before_its_payload_in_another_file(archive: Archive) -> bool:
    first: dict[str, int] = {}
    for seen in pages(archive):
        first.setdefault(seen.digest, seen.file)
    return any(first.get(seen.digest, -1) > seen.file for seen, _ in revisits(archive))


def has_revisit_of_a_payload_that_never_came(archive: Archive) -> bool:
    payloads = {seen.digest for seen, _ in archive.captures if seen.record_type == "response"}
    return any(
        seen.digest not in payloads and truth.links is None for seen, truth in revisits(archive)
    )


def has_revisit_at_another_host(archive: Archive) -> bool:
    hosts = {seen.digest: seen.uri.split("/")[2] for seen in pages(archive)}
    return any(
        hosts.get(seen.digest, seen.uri.split("/")[2]) != seen.uri.split("/")[2]
        for seen, _ in revisits(archive)
    )


def has_revisit_whose_links_are_its_own(archive: Archive) -> bool:
    shown = {
        seen.digest: truth.links
        for seen, truth in archive.captures
        if seen.record_type == "response"
    }
    return any(
        truth.links and shown[seen.digest] != truth.links
        for seen, truth in revisits(archive)
        if seen.digest in shown
    )


def has_not_modified_that_names_an_older_payload(archive: Archive) -> bool:
    mine = [truth for truth in archive.truths if truth.original.endswith("/desk/rota.html")]
    kinds = [(truth.status, (truth.links or ())[0][2]) for truth in mine]
    return kinds == [
        ("200", "Anna"),
        ("304", "Anna"),
        ("200", "Bjarne"),
        ("304", "Bjarne"),
        ("304", "Anna"),
    ]


def has_not_modified_without_digest(archive: Archive) -> bool:
    found = list(revisits(archive, "server-not-modified"))
    return bool(found) and all(
        not seen.digest and seen.headers["warc-refers-to-date"] for seen, _ in found
    )


def soft_404(name: str, contents: int) -> Feature:
    """Return whether the bytes of this soft 404 are at several URIs, with this number of different
    lists of links.
    """

    def holds(archive: Archive) -> bool:
        found = [
            (seen, truth)
            for seen, truth in archive.captures
            if f"/lost/{name}/" in seen.uri and truth.links is not None
        ]
        return (
            len({seen.digest for seen, _ in found}) == 1
            and len(found) == 5
            and len({truth.links for _, truth in found}) == contents
        )

    return holds


def has_404_with_the_bytes_of_a_page(archive: Archive) -> bool:
    digests = {seen.digest for seen in pages(archive)}
    return any(
        seen.status == "404" and seen.digest in digests and truth.links is None
        for seen, truth in archive.captures
    )


def has_variants_of_one_surt(archive: Archive) -> bool:
    variants = defaultdict(set)
    for truth in archive.truths:
        variants[surt(truth.original)].add(truth.original)
    return any(len(originals) >= 4 for originals in variants.values())


def has_two_originals_of_one_surt_in_one_second(archive: Archive) -> bool:
    seconds = defaultdict(set)
    for truth in archive.truths:
        seconds[surt(truth.original), truth.timestamp].add(truth.original)
    return any(len(originals) >= 2 for originals in seconds.values())


def changes(change: Callable[[set[tuple[str, str]], set[tuple[str, str]]], bool]) -> Feature:
    """Return whether an ordinary page changes in this way from one capture to another: sets of
    (target, text).
    """

    def holds(archive: Archive) -> bool:
        mementos = defaultdict(list)
        for truth in archive.truths:
            if truth.links is not None and truth.status == "200":
                mementos[truth.original].append(
                    {(target, text) for target, kind, text, _ in truth.links if kind == "a@href"}
                )
        ordinary = {
            original: states
            for original, states in mementos.items()
            if original.count("/") == 3 and len(states) > 2
        }
        return any(
            change(one, two) for states in ordinary.values() for one, two in pairwise(states)
        )

    return holds


def uris(links: set[tuple[str, str]]) -> set[str]:
    return {target for target, _ in links}


FEATURES: dict[str, Feature] = {
    # links through time
    "a link appears": changes(lambda one, two: bool(uris(two) - uris(one))),
    "a link vanishes": changes(lambda one, two: bool(uris(one) - uris(two))),
    "a link changes its text": changes(lambda one, two: uris(one) == uris(two) and one != two),
    # classes of references
    "https://…": writes('href="https://'),
    "//host/x": writes('href="//'),
    "/x": writes('href="/[a-z]'),
    "x": writes('href="[a-z]+\\.html"'),
    "../x": writes('href="\\.\\./'),
    "./ alone": writes('href="\\./"'),
    "?q": writes('href="\\?'),
    "#f": writes('href="#'),
    "empty": writes('href=""'),
    "http:x": writes('href="http:jury'),
    "http:x is relative under http": targets("http://www\\.kalvik2010\\.example/jury/jury\\.html"),
    "http:x is a host under https": targets("http://jury\\.html/"),
    # bases
    "absolute base": writes('<base href="http://'),
    "base without scheme": writes('<base href="//'),
    "base with a path": writes('<base href="/'),
    "relative base": writes('<base href="old/'),
    "base that is not usable": writes('<base href="javascript:'),
    "fragment on a page with base": shows(
        "/lists/directory.html",
        lambda t: t.texts(t.original.rpartition("/")[0] + "/old/list.html") != [],
    ),
    # redirects, and what is not read
    "301 absolute": answers("301", "https?://.*"),
    "302 origin-relative": answers("302", "/.*"),
    "302 query": answers("302", "\\?.*"),
    "303 directory-relative": answers("303", "[a-z-]+\\.html"),
    "307 relative above": answers("307", "\\.\\./.*"),
    "308 scheme-relative": answers("308", "//.*"),
    "Location with fragment": answers("301", ".*#.*"),
    "meta refresh": links("meta@refresh"),
    "404": shows(
        "/athletes/nobody.html", lambda truth: truth.status == "404" and truth.links is None
    ),
    "404 with the bytes of a page": has_404_with_the_bytes_of_a_page,
    "image": shows("/live/small.gif", lambda truth: truth.links is None),
    "style sheet": shows("/live.css", lambda truth: truth.links is None),
    "resource record": shows(
        "/images/thumb.gif", lambda truth: truth.record_type == "resource" and truth.status == "-"
    ),
    "page without links": shows("/formats/empty.html", lambda truth: truth.links == ()),
    "XHTML": sends("content-type", "application/xhtml\\+xml"),
    "no content type": lambda archive: any(
        "content-type" not in (seen.http or {}) for seen in pages(archive)
    ),
    # elements
    **{
        kind: links(kind)
        for kind in [
            "a@href",
            "area@href",
            "audio@src",
            "embed@src",
            "form@action",
            "frame@src",
            "http@location",
            "iframe@src",
            "img@src",
            "img@srcset",
            "input@src",
            "link@href",
            "meta@refresh",
            "script@src",
            "source@src",
            "source@srcset",
            "track@src",
            "video@poster",
        ]
    },
    "alternate text": says("^Map of the stadium$"),
    "anchor around an image": writes('<a [^>]*><img [^>]*alt="Map of the stadium"></a>'),
    "anchor around two images": says("^Gold Silver$"),
    "anchor without text": says("^$"),
    # charsets
    "windows-1252 by header": sends("content-type", ".*=windows-1252"),
    "ISO-8859-1 that means windows-1252": writes('charset="ISO-8859-1".*\\x84M\\x93'),
    "ISO-8859-2 by meta": writes('charset="iso-8859-2".*\\xb9'),
    "Shift_JIS by http-equiv": writes("charset=Shift_JIS.*\\x83"),
    "KOI8-R by header": sends("content-type", "(?i).*=koi8-r"),
    "UTF-16 little-endian by BOM": writes("^\\xff\\xfe"),
    "UTF-16 big-endian by BOM": writes("^\\xfe\\xff"),
    "UTF-8 by header": sends("content-type", "(?i).*=utf-8"),
    "UTF-8 by meta": writes('<meta charset="utf-8">'),
    "UTF-8 by BOM": writes("^\\xef\\xbb\\xbf"),
    "UTF-8 undeclared": shows(
        "/letters/undeclared/", lambda truth: "Café" in (truth.links or ())[0][2]
    ),
    # spellings
    "upper-case scheme and host": writes('href="HTTP://[A-Z]'),
    "upper-case path is kept": targets(".*/odd/Case\\.HTML"),
    "percent-encoding": targets(".*/%7Euser/%e2%82%ac\\.html"),
    "default port": writes(":80/odd/port"),
    "other port": targets("http://[^/]+:8080/odd/port.html"),
    "internationalised host": targets("http://xn--bcher-kva\\.example/.*"),
    "backslashes": writes(re.escape('href="\\odd\\')),
    "tab and newline inside": writes("ta\tbs\nand"),
    "mailto:": targets("mailto:.*"),
    "tel:": targets("tel:.*"),
    "ftp:": targets("ftp://.*"),
    "javascript:": writes('href="javascript:'),
    "JavaScript: in disguise": writes("java\nscript:"),
    "data:": writes('(href|src)="data:'),
    "about:": writes('href="about:'),
    "not a URI": writes('href="http://\\[broken'),
    "none of these is a link": lambda archive: (
        not targets("(?i)(javascript|data|about):.*")(archive)
    ),
    # texts
    "entities": writes("&mdash;.*&#x2603;"),
    "entity of a windows-1252 byte": says("1990\u20132010 <results>"),
    "Arabic": says("[\u0620-\u064a]{3}"),
    "Hebrew": says("[\u05d0-\u05ea]{3}"),
    "direction marks": says("\u202b.*\u202c"),
    "emoji of several code points": says("\u200d"),
    "combining character": says("A\u030a"),
    "nested markup": says("^Gold for Kalvik$"),
    "folded white space": says("^Two lines of text$"),
    "comment inside": says("^Iceskating$"),
    "script inside": says("^Clock$"),
    "rel folded": lambda archive: any(
        rel == "nofollow noopener" for truth in archive.truths for *_, rel in truth.links or ()
    ),
    "the same link twice": lambda archive: any(
        truth.texts(target).count("twice") == 2
        for truth in archive.truths
        for target, *_ in truth.links or ()
    ),
    # codings
    "gzip": sends("content-encoding", "gzip"),
    "chunked": sends("transfer-encoding", "chunked"),
    "gzip and chunked": lambda archive: any(
        http(seen, "content-encoding") and http(seen, "transfer-encoding")
        for seen in pages(archive)
    ),
    # revisits
    "revisit after its payload": has_revisit_behind_its_payload_in_another_file,
    "revisit before its payload": has_revisit_before_its_payload_in_another_file,
    "revisit of a payload that never came": has_revisit_of_a_payload_that_never_came,
    "revisit at another host": has_revisit_at_another_host,
    "revisit with links of its own": has_revisit_whose_links_are_its_own,
    "revisit without HTTP headers": lambda archive: any(
        truth.status == "-" and truth.links for _, truth in revisits(archive)
    ),
    "revisit of a 404": lambda archive: any(
        truth.status == "404" and truth.links is None for _, truth in revisits(archive)
    ),
    "revisit profile of WARC 1.0": lambda archive: any(
        "1.0" in seen.headers["warc-profile"] for seen, _ in revisits(archive)
    ),
    "revisit profile of WARC 1.1": lambda archive: any(
        "1.1" in seen.headers["warc-profile"] for seen, _ in revisits(archive)
    ),
    "not modified": has_not_modified_without_digest,
    "not modified since an older payload": has_not_modified_that_names_an_older_payload,
    # equal payloads: a?id=1, a?id=2, b/y, https a?id=1, other host
    "soft 404 of scope none": soft_404("none", 1),
    "soft 404 of scope scheme": soft_404("scheme", 2),
    "soft 404 of scope origin": soft_404("origin", 3),
    "soft 404 of scope directory": soft_404("directory", 4),
    "soft 404 of scope path": soft_404("path", 4),
    "soft 404 with links to itself": soft_404("document", 4),
    # variants
    "four variants of a SURT": has_variants_of_one_surt,
    "two originals of a SURT in one second": has_two_originals_of_one_surt_in_one_second,
    "original with default port": lambda archive: any(
        ":80/" in truth.original for truth in archive.truths
    ),
    "navigation on every host": lambda archive: (
        len({seen.uri.split("/")[2] for seen in pages(archive) if b"<nav>" in seen.body}) >= 10
    ),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_demo_archive_has(archive: Archive, feature: str) -> None:
    assert FEATURES[feature](archive)
