"""The web page of the service, used as a person uses it in a browser."""

import re
import zlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from arclink.service.pages.requests import View
from tests.browser.axe import violations
from tests.browser.conftest import Service, all_of, looking, what_does_not_apply
from tests.service.conftest import A

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

VIEWS = tuple(view.value for view in View)


def at(page: "Page") -> str:
    return "".join(parse_qs(urlsplit(page.url).query).get("at", []))


def wait_for_at(page: "Page", time: str) -> None:
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("at") == [time])
    page.wait_for_selector("body:not(.is-busy)")


def texts(page: "Page", selector: str) -> list[str]:
    return [" ".join(text.split()) for text in all_of(page, selector).all_text_contents()]


LOOKS = """() => [...document.querySelectorAll("body, body *")].map(one => {
  const {x, y, width, height} = one.getBoundingClientRect(), style = getComputedStyle(one);
  return [one.tagName, x, y, width, height, style.color, style.backgroundColor, style.font, style.fill].join(" ");
})"""


def looks(page: "Page") -> list[str]:
    """Return place, colours and font of each element, once a page no longer changes.

    Pictures would differ by single pixels, as Chromium paints in parallel.
    """
    last: list[str] = []
    for _ in range(50):
        now: list[str] = page.evaluate(LOOKS)
        if now == last:
            return now
        last = now
        page.wait_for_timeout(100)
    raise AssertionError("the page does not stop changing")


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_looks_the_same_the_second_time(
    browser: "Browser", service: Service, view: str
) -> None:
    """Opened again, reloaded, or reached from another page: the server answers 304."""
    with looking(browser, service) as page:
        statuses: list[int] = []
        page.on(
            "response",
            lambda response: (
                statuses.append(response.status)
                if response.request.is_navigation_request()
                else None
            ),
        )
        page.goto(service.view(view))
        assert what_does_not_apply(page) == []
        first = looks(page)
        page.goto(service.view(view))
        assert looks(page) == first
        page.reload()
        assert looks(page) == first
        page.goto(f"{service.base_url}/demo/")
        page.go_back()
        page.wait_for_load_state()
        assert looks(page) == first
        assert statuses[0] == 200


@pytest.mark.parametrize("path", ["/", "/demo/", "/demo/docs", "/empty/"])
def test_other_pages_look_the_same_the_second_time(
    browser: "Browser", service: Service, path: str
) -> None:
    with looking(browser, service) as page:
        page.goto(service.base_url + path)
        assert what_does_not_apply(page) == []


def test_a_search_leads_from_the_front_to_a_page_at_a_glance(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/")
        page.get_by_role("link", name="demo").click()
        page.get_by_label("Address of a page").fill("kalvik2010.example/ceremony/opening.html")
        page.keyboard.press("Enter")
        page.get_by_role(
            "heading", level=1, name="kalvik2010.example/ceremony/opening.html"
        ).wait_for()
        assert "Captured 5 times" in page.locator(".known").inner_text()
        assert all_of(page, ".history circle.read").count() == 5 + 1  # and one in the legend
        bars = [
            box["height"]
            for bar in all_of(page, ".history rect.in").all()
            if (box := bar.bounding_box())
        ]
        assert len(bars) == 4
        assert max(bars) > 2 * min(bars) > 0


def test_the_address_is_completed_while_it_is_typed(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        while page.request.get(f"{service.base_url}/demo/ask/captures").status == 503:
            page.wait_for_timeout(200)  # the tables are being made
        page.goto(f"{service.base_url}/demo/")
        field = page.get_by_label("Address of a page")
        field.press_sequentially("kalv")
        page.locator("#addresses option[value='kalvik2010.example']").wait_for(state="attached")
        field.fill("http://kalvik2010.example/ceremony")
        opening = "http://kalvik2010.example/ceremony/opening.html"
        page.locator(f"#addresses option[value='{opening}']").wait_for(state="attached")
        field.fill("two words")
        field.fill(opening)
        page.keyboard.press("Enter")
        page.get_by_role("heading", level=1, name=opening).wait_for()


def test_the_slider_changes_the_lists(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("links"))
        slider = page.get_by_role("slider", name="Time")
        slider.focus()
        slider.press("Home")
        wait_for_at(page, "2009-11-22")
        assert texts(page, "table.in .said") == ["Opening ceremony set for 12 February"]
        assert "22 Nov 2009" in (slider.get_attribute("aria-valuetext") or "")
        assert page.evaluate("document.activeElement.className") == "slider"
        slider.press("PageUp")
        page.wait_for_url(lambda url: "at=" in url and "2009-11-22" not in url)
        page.wait_for_selector("body:not(.is-busy)")
        there, seen = slider.input_value(), texts(page, "table .said")
        assert int(there) > 5
        page.goto(page.url)  # the address alone shows the same
        assert (
            page.get_by_role("slider", name="Time").input_value(),
            texts(page, "table .said"),
        ) == (there, seen)


def test_going_back_goes_back_in_time(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("links"))
        every = texts(page, "table .said")
        page.get_by_role("slider", name="Time").press("Home")
        wait_for_at(page, "2009-11-22")
        assert texts(page, "table .said") != every
        page.go_back()
        page.wait_for_url(lambda url: "at=" not in url)
        page.locator("table.in .said").nth(10).wait_for()
        assert texts(page, "table .said") == every
        assert page.get_by_role("slider", name="Time").input_value() == "126"


def test_captures_and_steps_lead_through_time(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("links"))
        page.get_by_role("link", name="Earlier").click()
        assert at(page) == "20100314060003"
        page.get_by_role("link", name="Earlier").click()
        assert at(page) == "20100220060002"
        page.get_by_role("link", name=re.compile("Links at 12 Feb 2010")).click()
        assert at(page) == "20100212060005"
        assert (
            page.locator(".force").inner_text() == "In force: the capture of 2010-02-12 06:00:05."
        )


def test_two_dates_are_compared(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("glance"))
        page.get_by_role("link", name="What changed between two times?").click()
        page.click(".how summary")
        page.get_by_label("Direction").select_option("out")
        page.get_by_label("From").fill("2009")
        page.get_by_label("To", exact=True).fill("2010-02-12")
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**from=2009*")
        assert texts(page, ".tally li") == ["3 added", "3 removed", "0 unknown", "2 kept"]
        assert texts(page, "#added .said") == ["Watch live", "Sold out", "Our volunteers write"]


@pytest.mark.parametrize("by", ["host", "page"])
def test_the_graph_is_drawn_with_its_lines_from_node_to_node(
    browser: "Browser", service: Service, by: str
) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("graph", by=by))
        dots = page.evaluate(
            """[...document.querySelectorAll('.node')].map(node => {
                const dot = node.querySelector('.dot').getBoundingClientRect();
                const path = document.getElementById(node.dataset.edge);
                const matrix = path.getScreenCTM();
                const isIn = node.dataset.edge.startsWith('in');
                const end = path.getPointAtLength(isIn ? 0 : path.getTotalLength()).matrixTransform(matrix);
                const start = path.getPointAtLength(isIn ? path.getTotalLength() : 0).matrixTransform(matrix);
                const self = document.querySelector('.self').getBoundingClientRect();
                return {
                    toNode: Math.hypot(end.x - dot.x - dot.width / 2, end.y - dot.y - dot.height / 2),
                    toSelf: Math.abs(start.y - self.y - self.height / 2) + Math.abs(start.x - (isIn ? self.left : self.right)),
                };
            })"""
        )
        assert len(dots) == (11 if by == "host" else 16)  # an image is nothing to follow
        assert max(dot["toNode"] for dot in dots) < 2
        assert max(dot["toSelf"] for dot in dots) < 2
        first = page.locator(".side.out .node").first
        first.hover()
        assert (
            page.locator(f"#{first.get_attribute('data-edge')}").get_attribute("class")
            == "out now is-lit"
        )
        page.locator(".how summary").click()
        page.get_by_role("link", name="all", exact=True).click()
        assert all_of(page, ".node").count() == (11 if by == "host" else 17)


def test_time_plays_and_neighbours_keep_their_places(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("graph", by="page"))
        names = texts(page, ".node a")
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Pause").wait_for()
        for time in ("20100110060006", "20100212060005"):
            wait_for_at(page, time)
            assert texts(page, ".node a") == names
        page.get_by_role("button", name="Pause").click()
        states = all_of(page, ".node").evaluate_all("nodes => nodes.map(node => node.classList[1])")
        assert {"now", "later", "earlier"} <= set(states)
        stopped = page.url
        page.wait_for_timeout(1500)
        assert page.url == stopped


def test_everything_is_reached_and_seen_with_the_keyboard_alone(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/")
        page.keyboard.type(service.uri)
        page.keyboard.press("Enter")
        page.wait_for_url("**uri=*")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        for _ in range(60):
            if "Each link" in page.evaluate("document.activeElement.textContent"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**view=links*")
        focusable = "a[href], button, input:not([type=hidden]), select, summary"
        count = page.evaluate(
            f"[...document.querySelectorAll('{focusable}')].filter(one => "
            "one.checkVisibility() && one.tabIndex >= 0).length"  # not what is folded
        )
        reached = set()
        for _ in range(count):
            page.keyboard.press("Tab")
            focus = page.evaluate(
                """(() => {
                    const one = document.activeElement;
                    one.dataset.number ??= String(document.querySelectorAll('[data-number]').length);
                    const mark = one.querySelector('circle, path');
                    const [own, drawn] = [getComputedStyle(one), mark && getComputedStyle(mark)];
                    const isSeen = (own.outlineStyle !== 'none' && parseFloat(own.outlineWidth) >= 2)
                        || (drawn && parseFloat(drawn.strokeWidth) >= 4);
                    return {number: one.dataset.number, isSeen, html: one.outerHTML.slice(0, 200)};
                })()"""
            )
            assert focus["isSeen"], focus["html"]
            reached.add(focus["number"])
        assert len(reached) == count


@pytest.mark.parametrize("width", [320, 800])
def test_narrow_screens_do_not_scroll_sideways(
    browser: "Browser", service: Service, width: int
) -> None:
    with looking(browser, service, viewport={"width": width, "height": 700}) as page:
        addresses = [
            f"{service.base_url}/",
            f"{service.base_url}/demo/",
            f"{service.base_url}/?uri=http://www.kalvik2010.example/",
            f"{service.base_url}/?uri=curling",
            f"{service.base_url}/demo/docs",
            f"{service.base_url}/demo/docs/reasons",
            f"{service.base_url}/demo/select?subset=domain:example",
            f"{service.base_url}/demo/?ask=search",
            f"{service.base_url}/demo/?ask=search&words=curling",
            f"{service.base_url}/demo/?ask=frequency&words=curling+ceremony",
            service.view("glance", uri="http://nothing.example/"),
        ]
        addresses += [service.view(view) for view in VIEWS]
        addresses += [service.view(view, collection="hostile", uri=A) for view in VIEWS]
        addresses += [
            service.view("graph", by="page"),
            service.view("links", evidence="true", validity="true"),
            service.view("words", by="year,host"),
        ]
        too_wide = []
        for address in addresses:
            page.goto(address)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append(address)
        assert too_wide == []


def test_dark_and_still_where_it_is_asked_for(browser: "Browser", service: Service) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with looking(browser, service, color_scheme=scheme, reduced_motion="reduce") as page:
            page.goto(service.view("graph"))
            colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (
                page.evaluate(
                    "getComputedStyle(document.querySelector('.node')).transitionDuration"
                )
                == "0s"
            )
    assert colours == {"light": "rgb(251, 250, 246)", "dark": "rgb(22, 23, 26)"}


def test_without_a_script_time_is_walked_by_links(browser: "Browser", service: Service) -> None:
    with looking(browser, service, java_script_enabled=False) as page:
        page.goto(service.view("graph"))
        assert all_of(page, ".node").count() == 11
        assert not all_of(page, ".slider").is_visible()
        assert not all_of(page, ".play").is_visible()
        page.get_by_role("link", name="Earlier").click()
        assert at(page) == "20100314060003"
        assert all_of(page, ".node.now").count() < 11


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_pages_run_nothing(browser: "Browser", service: Service, view: str) -> None:
    with looking(browser, service) as page:
        page.goto(service.view(view, collection="hostile", uri=A))
        assert all_of(page, "main img, main b").count() == 0
        if view in ("links", "graph"):
            page.get_by_role("slider", name="Time").press("Home")
            page.wait_for_url("**at=*")
            page.wait_for_selector("body:not(.is-busy)")
            assert all_of(page, "main img, main b").count() == 0


@pytest.mark.parametrize(
    ("address", "status", "says", "way_on"),
    [
        ("/demo/?uri=%07", 400, "Invalid query", "Look it up"),
        (
            "/demo/?uri=http://snowblind.blog.example/nothing",
            200,
            "This page is unknown",
            "http://snowblind.blog.example/guide/",
        ),
        ("/empty/", 200, "This graph is still empty", "reload"),
        ("/empty/?uri=example.org", 200, "The graph is still empty", "reload"),
        (
            "/gone/?uri=example.org&view=graph",
            503,
            "The link graph cannot be read at the moment",
            "Try again",
        ),
        ("/demo/nothing", 404, "There is nothing at this address", "search page"),
        ("/demo/linkQuery?uri=example.org&at=never", 400, "Invalid query", "search page"),
        ("/linkQuery?uri=example.org", 404, "query one of /demo/linkQuery", "search page"),
    ],
    ids=[
        "wrong uri",
        "not known",
        "empty graph",
        "page of an empty graph",
        "gone",
        "no path",
        "wrong time",
        "no collection",
    ],
)
def test_an_error_page_says_what_is_wrong_and_leads_on(
    browser: "Browser", service: Service, address: str, status: int, says: str, way_on: str
) -> None:
    with looking(browser, service, may_fail=True) as page:
        answer = page.goto(service.base_url + address)
        assert answer is not None
        assert answer.status == status
        assert says in page.locator("main").inner_text()
        page.get_by_role("button" if way_on == "Look it up" else "link", name=way_on).first.click()
        page.wait_for_load_state()
        assert all_of(page, "h1").count() == 1


@pytest.mark.parametrize("view", ["links", "graph"])
def test_on_a_telephone_all_steps_through_time_are_on_one_line(
    browser: "Browser", service: Service, view: str
) -> None:
    with looking(browser, service, viewport={"width": 390, "height": 800}) as page:
        page.goto(service.view(view, at="2010-01-15"))
        page.get_by_role("button", name="Play").wait_for()
        steps = [one.bounding_box() for one in all_of(page, ".steps .step:visible").all()]
        assert len(steps) == 4
        assert len({box["y"] for box in steps if box}) == 1
        assert all(box["x"] + box["width"] <= 390 for box in steps if box)


def test_the_description_of_the_service_unfolds(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(f"{service.base_url}/demo/")
        page.get_by_role("link", name="For programs").click()
        page.wait_for_url("**/demo/docs")
        section = page.locator("#anchors")
        row = section.get_by_role("row", name="kinds")
        assert not row.is_visible()
        section.get_by_text("parameters").click()
        assert row.is_visible()


# What axe-core finds wrong: names, roles, contrast, order of headings, and a hundred things more.


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (380, "dark")])
def test_axe_finds_nothing_wrong(
    browser: "Browser", service: Service, axe: str, width: int, scheme: str
) -> None:
    options = {
        "color_scheme": scheme,
        "viewport": {"width": width, "height": 900},
        "bypass_csp": True,
    }
    with looking(browser, service, may_fail=True, **options) as page:
        addresses = [
            f"{service.base_url}/",
            f"{service.base_url}/demo/",
            f"{service.base_url}/demo/docs",
            f"{service.base_url}/demo/nothing",
            f"{service.base_url}/gone/?uri=example.org",
        ]
        addresses += [service.view(view) for view in VIEWS]
        addresses += [
            service.view("graph", at="2010-01", by="page"),
            service.view("links", at="2009", evidence="true"),
            service.view("glance", uri="http://nothing.example/"),
            f"{service.base_url}/demo/?uri=*.kalvik2010.example",
            f"{service.base_url}/demo/?uri=*.kalvik2010.example&ask=linkers&by=month",
            f"{service.base_url}/demo/?ask=vanished",
            f"{service.base_url}/demo/?ask=search&words=curling",
            f"{service.base_url}/demo/?ask=frequency&words=curling+ceremony",
        ]
        found = {}
        for address in addresses:
            page.goto(address)
            found[address] = violations(page, axe)
        assert {address: wrong for address, wrong in found.items() if wrong} == {}


def test_a_picture_is_saved_as_png(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        page.goto(service.view("glance"))
        page.locator("details.save summary").first.click()
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG").first.click()
        assert download.value.suggested_filename == "through-time.png"
        data = download.value.path().read_bytes()
        assert data.startswith(b"\x89PNG")
        width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
        assert width == 2 * 940
        assert height > 300
        begin = data.index(b"iTXtDescription")
        size = int.from_bytes(data[begin - 4 : begin])
        chunk, checksum = data[begin : begin + 4 + size], data[begin + 4 + size :][:4]
        assert zlib.crc32(chunk) == int.from_bytes(checksum)
        assert re.search(r"ArcLink \S+, state [0-9a-f]{16}, read .*\nhttp://", chunk.decode())


def test_without_a_script_pictures_are_saved_as_svg_only(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service, java_script_enabled=False) as page:
        page.goto(service.view("glance"))
        page.locator("details.save summary").first.click()
        assert page.get_by_role("link", name="SVG").first.is_visible()
        assert not all_of(page, "[data-png]").first.is_visible()
