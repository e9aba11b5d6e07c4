# ruff: noqa: RUF001 - the scenes use letters of many scripts
"""Scenes about records: revisits, equal payloads, redirects, codings, charsets, URI variants."""

from dataclasses import replace

from arclink.demo.captures import DemoCapture, Revisit
from arclink.demo.images import gif
from arclink.demo.locations import (
    BaseElement,
    Location,
    Reference,
    absolute,
    directory_relative,
    encoded_path,
    encoded_query,
    opaque,
    origin_relative,
    path_relative,
    same_document,
    scheme_relative,
)
from arclink.demo.pages import Charset, DemoPage, anchor, image, paragraph
from arclink.demo.scenes import SceneStage, page
from arclink.model import Scope, Timestamp


def soft_404(stage: SceneStage) -> list[DemoCapture]:
    """Return "not found" pages with status 200 and equal bytes at many URIs, one per scope."""
    crawler = stage.crawler
    captures = []
    for scope in Scope:
        lost = _lost_page(stage, scope)
        name = scope.name.lower()
        first = crawler.page(1, stage.at(0, f"/lost/{name}/a/x.html", query="?id=1"), lost)
        captures += [
            first,
            crawler.page(1, stage.at(0, f"/lost/{name}/a/x.html", query="?id=2"), lost),
            crawler.page(2, stage.at(0, f"/lost/{name}/b/y.html"), lost),
            crawler.page(3, stage.at(0, f"/lost/{name}/a/x.html", "https", "?id=1"), lost),
            crawler.revisit(4, stage.at(1, f"/lost/{name}/a/x.html"), first),
        ]
    # Equal bytes once more, but with status 404, which keeps their links out of the graph.
    captures.append(
        crawler.missing(5, stage.at(0, "/lost/origin/honest.html"), _lost_page(stage, Scope.ORIGIN))
    )
    return captures


def _lost_page(stage: SceneStage, scope: Scope) -> DemoPage:
    links = [
        anchor(absolute(stage.at(1, "/help.html", "https")), "help"),
        anchor(opaque("mailto:webmaster@kalvik2010.example"), "tell us"),
        image(
            scheme_relative(Location("http", "cdn.kalvik2010.example", "/", "lost.gif")),
            "Lost in the snow",
        ),
        anchor(origin_relative("/search?q=lost"), "search"),
        anchor(directory_relative("index.html"), "this folder"),
        anchor(directory_relative("map.html", climbs=1), "map"),
        anchor(path_relative("?retry=1"), "try again"),
        anchor(same_document("#footer"), "to the footer"),
    ]
    wide = {
        Scope.NONE: 2,
        Scope.SCHEME: 3,
        Scope.ORIGIN: 4,
        Scope.DIRECTORY: 6,
        Scope.PATH: 7,
        Scope.DOCUMENT: 8,
    }
    # A base that is the page itself: "#footer" still leads to the page, so it is not a link of the
    # graph.
    base = (
        BaseElement("#page", Scope.DOCUMENT, stage.at(0, "/")) if scope is Scope.DOCUMENT else None
    )
    return page(
        f"Page not found ({scope.name.lower()})",
        *(paragraph(link) for link in links[: wide[scope]]),
        base=base,
    )


def revisits(stage: SceneStage) -> list[DemoCapture]:
    """Return revisits in several positions relative to their payload.

    They come after and before it, at other URIs and without HTTP headers. Some name a capture of
    another archive, some repeat payloads that were never captured, and one repeats a 404.
    """
    crawler = stage.crawler
    archive = stage.at(0, "/press/archive.html")
    mirror = stage.at(1, "/press/2009/archive.html")
    everything = paragraph(anchor(origin_relative("/press/"), "all"))
    press = page(
        "Press archive", paragraph(anchor(directory_relative("2009.html"), "2009")), everything
    )
    first = crawler.page(2, archive, press)
    captures = [
        first,
        crawler.revisit(3, archive, first),
        crawler.revisit(4, replace(archive, scheme="https"), first),
    ]
    captures += [crawler.revisit(5, mirror, first), crawler.revisit(6, archive, first, status=None)]

    early = stage.at(1, "/press/early.html")
    noted = page("Noted early", paragraph(anchor(directory_relative("note.html"), "the note")))
    late = crawler.page(8, early, noted)
    before = (early.uri, Timestamp("20091001120000"))
    captures += [
        # The capture that they name is in another archive, but the payload is in a later file of
        # this one.
        _naming(crawler.revisit(2, early, late), before),
        _naming(crawler.revisit(7, stage.at(0, "/press/copy/early.html"), late), before),
        late,
    ]

    never = crawler.page(0, stage.at(0, "/press/never.html"), page("Never captured", everything))
    for crawl, location in ((3, never.location), (6, stage.at(1, "/press/never.html"))):
        captures.append(replace(crawler.revisit(crawl, location, never), page=None))

    gone = crawler.missing(4, stage.at(0, "/press/gone.html"), page("Gone for good", everything))
    captures += [gone, replace(crawler.revisit(7, gone.location, gone, status=404), page=None)]
    return captures


def _naming(capture: DemoCapture, refers_to: tuple[str, Timestamp]) -> DemoCapture:
    revisit = capture.revisit
    assert revisit is not None
    return replace(capture, revisit=Revisit(revisit.profile, revisit.digest, refers_to))


def not_modified(stage: SceneStage) -> list[DemoCapture]:
    """Return revisits whose server answered "not modified".

    They have the payload of the capture that they name, which may be an older one.
    """
    crawler, location = stage.crawler, stage.at(1, "/desk/rota.html")
    old = crawler.page(
        1, location, page("Rota", paragraph(anchor(directory_relative("anna.html"), "Anna")))
    )
    new = crawler.page(
        3,
        location,
        page("Rota, new", paragraph(anchor(directory_relative("bjarne.html"), "Bjarne"))),
    )
    return [
        old,
        crawler.not_modified(2, old),
        new,
        crawler.not_modified(5, new),
        crawler.not_modified(7, old),
    ]


def redirects(stage: SceneStage) -> list[DemoCapture]:
    """Return redirects of every status, absolute and relative.

    One leads to ``https`` in the same second, and equal ones are on two hosts.
    """
    crawler = stage.crawler
    table: list[tuple[int, str, Reference]] = [
        (301, "absolute", absolute(stage.at(1, "/arrived.html"))),
        (302, "origin", origin_relative("/go/there.html")),
        (303, "directory", directory_relative("see-other.html")),
        (307, "above", directory_relative("up.html", climbs=1)),
        (308, "scheme", scheme_relative(stage.at(1, "/arrived.html"))),
        (302, "query", path_relative("?session=1")),
        (301, "fragment", absolute(stage.at(1, "/arrived.html"), "#top")),
    ]
    captures = [
        crawler.redirect(2, stage.at(0, f"/go/from/{name}"), status, location)
        for status, name, location in table
    ]
    moving = stage.at(0, "/go/moving")
    captures += [
        crawler.redirect(crawl, moving, 302, directory_relative(f"stop-{crawl}.html"))
        for crawl in (1, 4, 7)
    ]
    captures += [
        crawler.redirect(5, stage.at(number, "/members/"), 302, origin_relative("/login"))
        for number in (0, 1)
    ]
    secure = stage.at(0, "/go/secure.html", "https")
    plain = crawler.redirect(6, replace(secure, scheme="http"), 301, absolute(secure))
    arrived = crawler.page(
        6,
        secure,
        page("Secure at last", paragraph(anchor(origin_relative("/go/there.html"), "go there"))),
    )
    return [*captures, plain, replace(arrived, timestamp=plain.timestamp)]


def codings(stage: SceneStage) -> list[DemoCapture]:
    """Return one page plain, compressed, in chunks, and both; each has its own payload digest."""
    years = range(1924, 2010, 4)
    coded = page(
        "Tables of all times",
        *(
            paragraph(anchor(directory_relative(f"{year}.html"), f"Games of {year}"))
            for year in years
        ),
    )
    by_coding = {
        coding: stage.at(0, f"/tables/{coding or 'plain'}.html")
        for coding in ("", "gzip", "chunked", "gzip+chunked")
    }
    return [
        stage.crawler.page(3, location, coded, coding) for coding, location in by_coding.items()
    ]


def charsets(stage: SceneStage) -> list[DemoCapture]:
    """Return pages in each charset and form of declaration, with its letters in their links."""
    table = {
        "windows-1252-header": (
            Charset("cp1252", "windows-1252", "header"),
            "no",
            "Åpen løype – „€“",
            "skiløype",
        ),
        "iso-8859-1-means-1252": (
            Charset("cp1252", "ISO-8859-1", "meta"),
            "de",
            "Größe „M“ – 5 €",
            "größe",
        ),
        "iso-8859-2-meta": (
            Charset("iso8859-2", "iso-8859-2", "meta"),
            "cs",
            "Žluťoučký kůň na lyžích",
            "kůň",
        ),
        "shift-jis": (
            Charset("shift_jis", "Shift_JIS", "http-equiv"),
            "ja",
            "メダル表と予定",
            "予定表",
        ),
        "koi8-r-header": (Charset("koi8-r", "KOI8-R", "header"), "ru", "Лыжня зовёт", "лыжи"),
        "utf-16-le": (Charset("utf-16-le", "utf-16", "bom"), "ru", "Мороз и солнце ☃", "солнце"),
        "utf-16-be": (Charset("utf-16-be", "utf-16", "bom"), "en", "Ice “&” snow ❄", "naïve"),
        "utf-8-header": (Charset("utf-8", "UTF-8", "header"), "ar", "الثلج", "ثلج"),
        "utf-8-meta": (Charset("utf-8", "utf-8", "meta"), "he", "שלג", "שלג"),
        "utf-8-bom": (Charset("utf-8", "utf-8", "bom"), "ja", "雪国🎿", "雪"),
        "undeclared": (
            Charset("utf-8", "utf-8", "none"),
            "en",
            "Café “Zum Gletscher” in the Åland hut – naïve, they say",
            "café",
        ),
    }
    captures = []
    for number, (name, (charset, language, text, word)) in enumerate(table.items()):
        query = f"?q={encoded_query(word, charset.codec)}"
        unheld = f"?q={encoded_query(word + '☃', charset.codec)}"
        parts = [
            anchor(directory_relative(f"{name}.html"), text),
            anchor(Reference(f"?q={word}", Scope.PATH, query), f"? {word}"),
            anchor(Reference(f"/search?q={word}☃", Scope.ORIGIN, f"/search{unheld}"), f"/ {word}"),
            anchor(Reference(f"/{word}/", Scope.ORIGIN, encoded_path(f"/{word}/")), word),
            image(directory_relative("logo.gif"), text),
        ]
        written = page(
            f"{text} ({name})",
            *(paragraph(part) for part in parts),
            charset=charset,
            language=language,
        )
        captures.append(stage.crawler.page(4, stage.at(number % 2, f"/letters/{name}/"), written))
    return captures


def variants(stage: SceneStage) -> list[DemoCapture]:
    """Return different pages at URI variants with one SURT, and a page that links to each."""
    crawler = stage.crawler
    host = stage.sites[0].host.removeprefix("www.")
    kinds = {
        "plain": Location("http", host, "/desk/", "index.html"),
        "secure": Location("https", host, "/desk/", "index.html"),
        "www": Location("http", f"www.{host}", "/desk/", "index.html"),
        "both": Location("https", f"www.{host}", "/desk/", "index.html"),
    }
    captures = []
    for name, location in kinds.items():
        own = page(
            f"Desk ({name})",
            paragraph(anchor(directory_relative("staff.html"), f"staff of the {name} desk")),
        )
        captures.append(crawler.page(4, location, own))
    linking = page(
        "All our desks",
        *(
            paragraph(anchor(absolute(location), f"{name} desk"))
            for name, location in kinds.items()
        ),
    )
    captures.append(crawler.page(4, stage.at(1, "/desks.html"), linking))
    ported = Location("http", host, "/Desk/", "Ported%20Page.html")
    numbered = page(
        "Desk (port)",
        paragraph(anchor(directory_relative("staff.html"), "staff of the ported desk")),
    )
    captures.append(crawler.page(5, ported, numbered, spelled=f"http://{host}:80{ported.path}"))
    # Two pages of one SURT in one second.
    captures.append(replace(captures[2], timestamp=captures[0].timestamp))
    return captures


def other_payloads(stage: SceneStage) -> list[DemoCapture]:
    """Return payloads that are not HTML pages, and pages that hardly look like HTML."""
    crawler = stage.crawler
    missing = page(
        "No such athlete", paragraph(anchor(origin_relative("/athletes/"), "all athletes"))
    )
    xhtml = page("Well-formed", paragraph(anchor(directory_relative("strict.html"), "strict")))
    silent = page(
        "No content type", paragraph(anchor(directory_relative("type.html"), "which type?"))
    )
    empty = page("No links at all", paragraph("Nothing to follow."))
    return [
        crawler.missing(2, stage.at(0, "/athletes/nobody.html"), missing),
        crawler.file(2, stage.at(0, "/images/flag.gif"), "image/gif", gif("flag")),
        crawler.file(
            3, stage.at(0, "/live.css"), "text/css", b"body { background: url(snow.gif) }\n"
        ),
        crawler.resource(3, stage.at(0, "/images/thumb.gif"), "image/gif", gif("thumbnail")),
        crawler.page(3, stage.at(0, "/formats/strict"), xhtml, mime="application/xhtml+xml"),
        crawler.page(3, stage.at(0, "/formats/silent"), silent, mime=None),
        crawler.page(3, stage.at(0, "/formats/empty.html"), empty),
    ]
