# ruff: noqa: RUF001 - the scenes use letters of many scripts
"""Scenes about links: every class and spelling, bases, elements, texts."""

from arclink.demo.captures import DemoCapture
from arclink.demo.images import gif
from arclink.demo.locations import (
    BaseElement,
    Location,
    Reference,
    absolute,
    directory_relative,
    encoded_path,
    opaque,
    origin_relative,
    path_relative,
    same_document,
    scheme_relative,
)
from arclink.demo.pages import (
    Part,
    anchor,
    anchor_around,
    dead_anchor,
    element,
    image,
    join,
    meta_refresh,
    paragraph,
    srcset,
)
from arclink.demo.scenes import SceneStage, page
from arclink.model import Scope


def link_classes(stage: SceneStage) -> list[DemoCapture]:
    """Return one page with a link of every class, at two locations and under both schemes."""
    other = stage.at(1, "/rules/classes.html")
    parts = [
        anchor(absolute(other), "another site"),
        anchor(scheme_relative(other, "#top"), "another site, in this scheme"),
        anchor(origin_relative("/rules/"), "all rules"),
        anchor(directory_relative("scores.html"), "scores"),
        anchor(directory_relative("scores.html", climbs=1), "scores above"),
        anchor(directory_relative("scores.html", climbs=9), "scores at the top"),
        anchor(directory_relative(""), "this folder"),
        anchor(path_relative("?view=print"), "print"),
        anchor(same_document("#appendix"), "appendix"),
        anchor(same_document(), "this page"),
        anchor(Reference("./judges/../jury.html", Scope.DIRECTORY, "jury.html"), "jury"),
    ]
    classes = page("Rules of the games", *(paragraph(part) for part in parts))
    crawler = stage.crawler
    return [
        crawler.page(0, stage.at(0, "/rules/winter/classes.html", query="?id=1"), classes),
        crawler.page(2, stage.at(0, "/rules/classes.html"), classes),
        crawler.page(4, stage.at(0, "/rules/winter/classes.html", "https"), classes),
    ]


def scheme_without_slashes(stage: SceneStage) -> list[DemoCapture]:
    """Return equal bytes with ``http:x``, which is relative on ``http`` and a host on ``https``."""
    odd = Reference("http:jury.html", Scope.DIRECTORY, "jury.html", elsewhere="http://jury.html/")
    old = page(
        "Old pages of the jury",
        paragraph(anchor(odd, "jury")),
        paragraph(anchor(origin_relative("/"), "home")),
    )
    crawler = stage.crawler
    return [
        crawler.page(1, stage.at(0, "/jury/old.html"), old),
        crawler.page(3, stage.at(0, "/jury/old.html", "https"), old),
        crawler.page(4, stage.at(0, "/jury/older/old.html"), old),
    ]


def bases(stage: SceneStage) -> list[DemoCapture]:
    """Return pages with ``<base href>``: absolute, relative in each way, and unusable."""
    host = stage.at(1, "/mirror/2010/index.html").host
    table = {
        "absolute": BaseElement(
            f"http://{host}/mirror/2010/index.html",
            Scope.NONE,
            Location("http", host, "/mirror/2010/", "index.html"),
        ),
        "scheme": BaseElement(
            f"//{host}/mirror/", Scope.SCHEME, Location("http", host, "/mirror/")
        ),
        "origin": BaseElement(
            "/archive/2009/", Scope.ORIGIN, Location("http", host, "/archive/2009/")
        ),
        "directory": BaseElement(
            "old/list.html", Scope.DIRECTORY, Location("http", host, "old/", "list.html")
        ),
        "javascript": BaseElement("javascript:void(0)", Scope.DOCUMENT, Location("http", host)),
    }
    captures = []
    for name, base in table.items():
        parts = [
            anchor(directory_relative("luge.html"), "luge"),
            anchor(directory_relative("bob.html", climbs=1), "bob"),
            anchor(origin_relative("/sledge.html"), "sledge"),
            anchor(path_relative("?sort=time"), "by time"),
            anchor(absolute(stage.at(2, "/base.html")), "elsewhere"),
            image(directory_relative("luge.gif"), "A luge"),
        ]
        # These lead to the base, or to the page itself if the base is unusable.
        parts += [anchor(same_document("#start"), "start"), anchor(same_document(), "top")]
        based = page(f"Lists ({name} base)", *(paragraph(part) for part in parts), base=base)
        captures.append(stage.crawler.page(1, stage.at(0, f"/lists/{name}.html"), based))
        captures.append(
            stage.crawler.page(3, stage.at(0, f"/lists/more/{name}.html", "https"), based)
        )
    return captures


def elements(stage: SceneStage) -> list[DemoCapture]:
    """Return links of every element, and pages that refresh or have frames."""
    here = directory_relative
    large, small = here("large.gif"), here("small.gif")
    head = [
        element("link", "href", absolute(stage.at(0, "/live/")), rel="canonical"),
        element("link", "href", origin_relative("/live.css"), rel="stylesheet"),
        element("link", "href", here("feed.xml"), rel="alternate"),
        element(
            "script",
            "src",
            scheme_relative(Location("http", "cdn.kalvik2010.example", "/js/", "live.js")),
            closed=True,
        ),
    ]
    picture = join(
        [
            srcset("source", [(here("wide.gif"), "1200w"), (here("narrow.gif"), "600w")]),
            image(here("plain.gif"), "The slope"),
        ],
        "<picture>",
        "",
        "</picture>",
    )
    areas = join(
        [
            element(
                "area",
                "href",
                here("north.html"),
                "North stand",
                more=' shape="rect" coords="0,0,50,50"',
            ),
            element(
                "area",
                "href",
                origin_relative("/live/south.html"),
                "South stand",
                "nofollow",
                ' shape="default"',
            ),
        ],
        '<map name="stands">',
        "",
        "</map>",
    )
    video = join(
        [element("source", "src", here("run.mp4")), element("track", "src", here("run.vtt"))],
        "<video controls>",
        "",
        "</video>",
    )
    body = [
        srcset("img", [(small, "1x"), (large, "2x")], alt="The finish", src=small),
        picture,
        areas,
        anchor_around(
            here("gallery.html"),
            [image(here("a.gif"), "Gold"), image(here("b.gif"), "Silver")],
            "Gold Silver",
        ),
        anchor_around(here("untold.html"), [image(here("c.gif"))], ""),
        element("iframe", "src", path_relative("?frame=ticker"), closed=True),
        join(
            [element("form", "action", here("search")), Part('<input name="q"></form>')], between=""
        ),
        element("input", "src", origin_relative("/button.gif"), "Go", more=' type="image"'),
        element("embed", "src", here("clock.swf")),
        element("audio", "src", here("anthem.ogg"), more=" controls", closed=True),
        element("video", "poster", here("poster.gif"), closed=True),
        video,
        Part('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="dot">'),
    ]
    live = page("Live from the slope", *body, head=head)
    refresh = page(
        "We have moved",
        paragraph("Please wait."),
        head=[meta_refresh(0, absolute(stage.at(0, "/live/")))],
    )
    quoted = page(
        "Next picture", head=[meta_refresh(30, here("slide2.html"), "{seconds};URL='{uri}'")]
    )
    frames = page(
        "Results in frames",
        join(
            [
                element("frame", "src", here("menu.html")),
                element("frame", "src", origin_relative("/live/table.html")),
            ]
        ),
        body_tag="frameset",
    )
    crawler = stage.crawler
    return [
        crawler.page(2, stage.at(0, "/live/slope.html"), live),
        crawler.page(2, stage.at(1, "/moved.html"), refresh),
        crawler.page(4, stage.at(1, "/slides/slide1.html"), quoted),
        crawler.page(4, stage.at(1, "/live/frames.html"), frames),
        crawler.file(2, stage.at(0, "/live/small.gif"), "image/gif", gif("small")),
    ]


def no_addresses(stage: SceneStage) -> list[DemoCapture]:
    """Return references without a target, and others without a host whose target is themselves."""
    parts = [
        dead_anchor("javascript:void(0)", "menu"),
        dead_anchor(" JavaScript:open('x')", "window"),
        dead_anchor("java\nscript:go()", "broken over two lines"),
        dead_anchor("data:text/plain,hello", "data"),
        dead_anchor("about:blank", "nothing"),
        dead_anchor("http://[broken/", "broken"),
        dead_anchor("http://two words.example/", "no host"),
        anchor(opaque("mailto:press@kalvik2010.example?subject=Tickets"), "press desk"),
        anchor(opaque("tel:+4755512010"), "call"),
        anchor(opaque("urn:isbn:9780000000002"), "the book"),
        anchor(opaque("ftp://ftp.kalvik2010.example/results/all.txt"), "all results"),
        Part('<img src="" alt="empty">'),
        Part("<p><a name=bottom>An anchor without address</a></p>"),
    ]
    contact = page("Contact", *(paragraph(part) for part in parts))
    return [stage.crawler.page(3, stage.at(0, "/contact.html"), contact)]


def spellings(stage: SceneStage) -> list[DemoCapture]:
    """Return odd spellings, each with the one URI that the WHATWG URL standard gives it."""
    host = stage.at(1, "/").host
    on_host = f"http://{host}"
    shouted = host.upper()
    absolute_table = {
        f"HTTP://{shouted}/Odd/Case.html": f"{on_host}/Odd/Case.html",
        f"http://{host}:80/odd/port.html": f"{on_host}/odd/port.html",
        f"https://{host}:443/odd/port.html": f"https://{host}/odd/port.html",
        f"http://{host}:8080/odd/port.html": f"{on_host}:8080/odd/port.html",
        on_host: f"{on_host}/",
        f"{on_host}?day=1": f"{on_host}/?day=1",
        f"http:///{host}/odd/slashes.html": f"{on_host}/odd/slashes.html",
        f"https:{host}/odd/none.html": f"https://{host}/odd/none.html",
        f"\n  {on_host}/odd/blanks.html\t ": f"{on_host}/odd/blanks.html",
        f"http://reader@{host}/odd/user.html": f"http://reader@{host}/odd/user.html",
        "http://bücher.example/winter": "http://xn--bcher-kva.example/winter",
        "http://127.1/": "http://127.0.0.1/",
    }
    path_table = {
        "\\odd\\back.html": "/odd/back.html",
        "/odd/ta\tbs\nand lines.html": "/odd/tabsand%20lines.html",
        "/odd/./dots/../dot.html": "/odd/dot.html",
        "/odd/%7Euser/%e2%82%ac.html": "/odd/%7Euser/%e2%82%ac.html",
        "/odd/%zz.html": "/odd/%zz.html",
        "/odd//double//slash.html": "/odd//double//slash.html",
        "/odd/blå løype/{1}.html": encoded_path("/odd/blå løype/{1}.html"),
        "/odd/a?b=c d&e='f'": "/odd/a?b=c%20d&e=%27f%27",
        "/odd/empty?": "/odd/empty?",
        "/odd/frag.html#part two": "/odd/frag.html",
        "/odd/Case.HTML": "/odd/Case.HTML",
        "/odd/amp?a=1&copy=2&lt;=3": "/odd/amp?a=1&copy=2&lt;=3",
    }
    parts = [
        anchor(Reference(written, Scope.NONE, target), f"absolute {n}")
        for n, (written, target) in enumerate(absolute_table.items())
    ]
    parts += [
        anchor(Reference(written, Scope.ORIGIN, target), f"path {n}")
        for n, (written, target) in enumerate(path_table.items())
    ]
    parts.append(
        anchor(
            Reference(f"//{shouted}/odd/case.html", Scope.SCHEME, f"//{host}/odd/case.html"),
            "shouted",
        )
    )
    odd = page("Odd spellings", *(paragraph(part) for part in parts))
    return [stage.crawler.page(3, stage.at(0, "/odd/index.html"), odd)]


def texts(stage: SceneStage) -> list[DemoCapture]:
    """Return link texts that are easily broken."""
    table = {
        "Ski &amp; snowboard &mdash; &eacute;tape &#x2603;": "Ski & snowboard — étape ☃",
        "1990&#150;2010 &lt;results&gt;": "1990–2010 <results>",
        "<b>Gold</b> for <i>Kal<u>vik</u></i>": "Gold for Kalvik",
        "\n   Two\n\t lines  of   text \n": "Two lines of text",
        "Ice<!-- no blank here -->skating": "Iceskating",
        "Clock<script>document.write('12:00')</script>": "Clock",
        "القفز على الثلج 2010": "القفز على الثلج 2010",
        "שלג ו-ski בקלוויק": "שלג ו-ski בקלוויק",
        "\u202bשלום\u202c": "\u202bשלום\u202c",
        "🏂🏽 👩‍👩‍👧 🇳🇴": "🏂🏽 👩‍👩‍👧 🇳🇴",
        "A\u030are (with a combining ring)": "A\u030are (with a combining ring)",
        "": "",
        "   ": "",
        "\"quoted\" 'text'": "\"quoted\" 'text'",
    }
    parts = [
        paragraph(anchor(directory_relative(f"{number}.html"), text, markup=markup))
        for number, (markup, text) in enumerate(table.items())
    ]
    arrow = '<img src="arrow.gif" alt="arrow">'
    with_image = anchor(directory_relative("both.html"), "next page", markup=f"{arrow} next page")
    parts.append(
        Part(
            with_image.html,
            (*with_image.links, *image(directory_relative("arrow.gif"), "arrow").links),
        )
    )
    rels = anchor(directory_relative("rel.html"), "two words in rel", "nofollow noopener")
    parts.append(Part(rels.html.replace("nofollow noopener", " NoFollow\n  noopener "), rels.links))
    # The same target again, with the same words and with others.
    parts += [
        anchor(directory_relative("0.html"), text) for text in ("twice", "twice", "once more")
    ]
    return [stage.crawler.page(4, stage.at(1, "/texts/index.html"), page("Words & texts", *parts))]
