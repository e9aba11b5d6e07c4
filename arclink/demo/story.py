# ruff: noqa: RUF001 - typographic apostrophes
"""Scene of the opening ceremony: how pages linked to it, in changing words, before and after.

Its page is the example for `arclink links`.
"""

from arclink.demo.captures import DemoCapture
from arclink.demo.images import gif
from arclink.demo.locations import (
    Location,
    absolute,
    between,
    directory_relative,
    opaque,
    origin_relative,
    scheme_relative,
)
from arclink.demo.pages import Part, anchor, anchor_around, element, image, paragraph
from arclink.demo.scenes import SceneStage, page
from arclink.demo.world import LANGUAGES

CEREMONY = Location("http", "www.kalvik2010.example", "/ceremony/", "opening.html")


def opening_ceremony(stage: SceneStage) -> list[DemoCapture]:
    """Return the official page in four states, and newspapers and blogs that link to it."""
    return [*_official(stage), *_newspaper(stage), *_others(stage)]


def _official(stage: SceneStage) -> list[DemoCapture]:
    crawler = stage.crawler
    map_image = image(directory_relative("stadium-map.gif"), "Map of the stadium")
    torch = between(CEREMONY.directory, stage.at(0, "/torch/route.html"))
    menu = paragraph(anchor(origin_relative("/"), "Kalvik 2010"), anchor(torch, "Torch route"))
    host = anchor(
        absolute(stage.at(3, "/", scheme="https")), "Our volunteers write", rel="external nofollow"
    )
    planned = page(
        "Opening ceremony",
        menu,
        paragraph(
            "On 12 February, 20:00.", anchor(directory_relative("tickets.html"), "Buy tickets")
        ),
        anchor_around(
            directory_relative("map.html", fragment="#gates"), [map_image], "Map of the stadium"
        ),
        paragraph(anchor(opaque("mailto:ceremony@kalvik2010.example"), "Write to us")),
    )
    live = page(
        "Opening ceremony: today",
        menu,
        paragraph(
            "Today!",
            anchor(directory_relative("live.html"), "Watch live"),
            anchor(directory_relative("tickets.html"), "Sold out"),
        ),
        paragraph(host),
    )
    over = page(
        "Opening ceremony: thank you",
        menu,
        paragraph("That was it.", anchor(directory_relative("photos/"), "All photos")),
        paragraph(anchor(scheme_relative(stage.at(1, "/sport/")), "Press")),
        paragraph(host),
    )
    first = crawler.page(1, CEREMONY, planned)
    again = crawler.revisit(3, CEREMONY, first)
    on_air = crawler.page(5, CEREMONY, live, coding="gzip")
    still = crawler.not_modified(6, on_air)
    last = crawler.page(8, CEREMONY, over)
    picture = crawler.file(
        5, stage.at(0, "/ceremony/stadium-map.gif"), "image/gif", gif("stadium map")
    )
    return [first, again, on_air, still, last, picture]


def _newspaper(stage: SceneStage) -> list[DemoCapture]:
    crawler, location = stage.crawler, stage.at(1, "/sport/kalvik.html")
    more = paragraph(
        anchor(directory_relative("", climbs=1), "Aurora Daily"),
        anchor(directory_relative("weather.html"), "weather"),
    )
    official = absolute(CEREMONY)
    bare = absolute(Location("http", "kalvik2010.example", CEREMONY.directory, CEREMONY.name))
    secure = absolute(Location("https", CEREMONY.host, CEREMONY.directory, CEREMONY.name))
    planned = page(
        "Kalvik gets ready",
        paragraph("The date is fixed:", anchor(official, "Opening ceremony set for 12 February")),
        more,
    )
    live = page(
        "Kalvik opens its games",
        paragraph(
            "Tonight:",
            anchor(official, "Watch the opening ceremony live"),
            "or",
            anchor(bare, "on the organisers’ page"),
        ),
        more,
    )
    over = page(
        "Kalvik looks back",
        paragraph("Remember?", anchor(secure, "How Kalvik opened the games")),
        more,
    )
    first = crawler.page(1, location, planned)
    on_air = crawler.page(5, location, live)
    return [
        first,
        crawler.revisit(2, location, first),
        on_air,
        crawler.revisit(7, location, on_air),
        crawler.page(8, location, over),
    ]


def _others(stage: SceneStage) -> list[DemoCapture]:
    crawler, official = stage.crawler, absolute(CEREMONY)
    texts = {
        "no": (2, "Åpningsseremonien i Kalvik"),
        "cs": (4, "Slavnostní zahájení"),
        "ja": (5, "開会式"),
        "ru": (6, "Церемония открытия"),
        "de": (7, "Eröffnungsfeier"),
    }
    captures = []
    for language, (site, text) in texts.items():
        words = LANGUAGES[language]
        linked = page(
            f"{text} 2010",
            paragraph(words.sentences[0], anchor(official, text)),
            paragraph(anchor(origin_relative("/"), words.home)),
            charset=words.charset,
            language=language,
        )
        captures.append(crawler.page(5, stage.at(site, f"/{language}/kalvik.html"), linked))
    # The Russian paper removes its link.
    words = LANGUAGES["ru"]
    without = page(
        "Калвик 2010",
        paragraph(anchor(origin_relative("/"), words.home)),
        charset=words.charset,
        language="ru",
    )
    captures.append(crawler.page(8, stage.at(6, "/ru/kalvik.html"), without))
    return [*captures, *_blog(stage)]


def _blog(stage: SceneStage) -> list[DemoCapture]:
    crawler, location = stage.crawler, stage.at(3, "/2010/02/opening.html")
    flame = image(absolute(Location("http", CEREMONY.host, "/ceremony/", "flame.gif")), "The flame")
    diary = page(
        "I was there",
        paragraph(
            "Cold feet, warm heart:", anchor(absolute(CEREMONY), "I was there! ❄️🔥", rel="nofollow")
        ),
        anchor_around(absolute(CEREMONY), [flame], "The flame"),
        paragraph(
            anchor(directory_relative("hockey.html"), "next: hockey"),
            anchor(directory_relative("", climbs=2), "older"),
        ),
        Part("<p><small>No animals were harmed.</small></p>"),
        head=[element("link", "href", origin_relative("/feed.xml"), rel="alternate")],
    )
    first = crawler.page(6, location, diary)
    return [first, crawler.revisit(9, location, first)]
