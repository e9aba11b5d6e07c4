"""The graph that grows in place, in a browser with WebGL and in one without it."""

import json
from math import dist, exp
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.browser.axe import violations
from tests.browser.conftest import Service, all_of, looking

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOST = "http://kalvik2010.example/"
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "color_scheme": "dark",
}
WITHOUT_WEBGL = """HTMLCanvasElement.prototype.getContext = (original => function (kind, ...rest) {
    return String(kind).includes("webgl") ? null : original.call(this, kind, ...rest);
})(HTMLCanvasElement.prototype.getContext)"""


def graph_address(service: Service, collection: str = "demo", **parameters: str) -> str:
    about = {"uri": HOST, "scope": "host"} if collection == "demo" else {}
    query = urlencode({**about, **parameters, "ask": "host-links"})
    return f"{service.base_url}/{collection}/?{query}"


def open_graph(page: "Page", address: str) -> None:
    """Open the page of a graph, once its tables and all that it shows are made."""
    while True:
        answer = page.request.get(address)
        text = answer.text() if answer.status == 200 else ""
        if "graph-data" in text and "graph-waits" not in text:
            break
        page.wait_for_timeout(200)
    page.goto(address)


def wait_for_growth(page: "Page") -> None:
    page.wait_for_selector("#grows:not([aria-busy])[data-moves=no]")


def names(page: "Page") -> set[str]:
    """Return the names of the nodes in the table."""
    rows = all_of(page, "#grows tr[data-node]").all()
    return {row.get_attribute("data-node") or "" for row in rows}


def data_of(page: "Page") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.locator("#graph-data").text_content() or "")
    return found


def point_of(page: "Page", name: str) -> tuple[float, float]:
    """Return where a node is on the screen, if the graph is neither moved nor zoomed."""
    page.locator("#grows .canvas").scroll_into_view_if_needed()
    box = page.locator("#grows .drawing").bounding_box()
    assert box is not None
    data = data_of(page)
    node = next(node for node in data["nodes"] if node["name"] == name)
    spare, margin = 30, 30
    width, height = data["width"] - 2 * spare, data["height"] - 2 * spare
    across, down = node["x"] - spare, node["y"] - spare
    scale = min((box["width"] - 2 * margin) / width, (box["height"] - 2 * margin) / height)
    if box["height"] > box["width"]:
        scale = min((box["width"] - 2 * margin) / height, (box["height"] - 2 * margin) / width)
        return (
            box["x"] + box["width"] / 2 + (down - height / 2) * scale,
            box["y"] + box["height"] / 2 + (across - width / 2) * scale,
        )
    return (
        box["x"] + box["width"] / 2 + (across - width / 2) * scale,
        box["y"] + box["height"] / 2 + (down - height / 2) * scale,
    )


def opened(page: "Page") -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("open", [])


def neighbour_to_open(page: "Page") -> str:
    """Return a node that brings others."""
    data = data_of(page)
    return str(
        max((n for n in data["nodes"] if n["kind"] == "near"), key=lambda n: n["size"])["name"]
    )


def test_a_click_adds_neighbours_in_place_and_the_address_follows(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        wait_for_growth(page)
        assert all_of(page, "#grows .picture").is_hidden()
        before, name = names(page), neighbour_to_open(page)
        page.evaluate("window.isSame = true")
        page.mouse.click(*point_of(page, name))
        page.wait_for_url(lambda url: f"open={name}" in url)
        wait_for_growth(page)
        after = names(page)
        assert page.evaluate("window.isSame") is True
        assert before < after
        assert opened(page) == [name]
        assert "added" in page.locator("#grows-status").inner_text()
        assert page.locator(".selected strong").inner_text() == name
        assert {link.inner_text() for link in all_of(page, ".selected a").all()} == {
            "Leave out its neighbours",
            "Its own graph",
            "Its page",
            "Who linked to it",
            "Its captures",
        }
        links = all_of(page, "#save a[href*='picture=network'], #save a[href*='picture=graph']")
        saved = [link.get_attribute("href") or "" for link in links.all()]
        assert len(saved) == 2
        assert all(f"open={name}" in href for href in saved)
        page.reload()
        wait_for_growth(page)
        assert names(page) == after
        pairs = {(link["source"], link["target"]) for link in data_of(page)["links"]}
        added = after - before
        assert any({*pair} & added and not {*pair} & {"kalvik2010.example"} for pair in pairs)
        page.locator(f'tr[data-node="{name}"] a.grow').click()
        page.wait_for_url(lambda url: "open=" not in url)
        wait_for_growth(page)
        assert names(page) == before


def test_nodes_can_be_dragged_without_opening_them(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service))
        wait_for_growth(page)
        name = neighbour_to_open(page)
        x, y = point_of(page, name)
        page.mouse.move(x, y)
        page.wait_for_selector(".canvas.is-on-node")
        page.mouse.down()
        page.mouse.move(x + 30, y + 30, steps=5)
        page.mouse.move(x + 60, y + 40, steps=5)
        page.mouse.up()
        page.mouse.move(x + 150, y + 120)
        page.mouse.move(x + 60, y + 40)
        page.wait_for_selector(".canvas.is-on-node")
        assert opened(page) == []


def test_the_table_lets_the_graph_grow_by_keyboard(browser: "Browser", service: Service) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        wait_for_growth(page)
        before, name = names(page), neighbour_to_open(page)
        link = page.locator(f'tr[data-node="{name}"] a.grow')
        link.focus()
        link.press("Enter")
        page.wait_for_url(lambda url: f"open={name}" in url)
        wait_for_growth(page)
        assert before < names(page)
        focused = page.evaluate("document.activeElement.closest('tr')?.dataset.node")
        assert focused == name
        more = page.get_by_role("link", name="show more of them")
        more.press("Enter")
        page.wait_for_url(lambda url: "neighbours=6" in url)
        wait_for_growth(page)


def test_without_webgl_the_picture_of_the_server_stays(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        page.add_init_script(WITHOUT_WEBGL)
        open_graph(page, graph_address(service, neighbours="3"))
        assert "does not draw with WebGL" in page.locator("#grows-status").inner_text()
        assert all_of(page, "#grows .canvas").is_hidden()
        before, name = names(page), neighbour_to_open(page)
        page.locator(".node-of-graph", has_text=name).first.click()
        page.wait_for_url(lambda url: f"open={name}" in url)
        assert before < names(page)


def test_without_a_script_a_click_on_a_node_adds_its_neighbours(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service, java_script_enabled=False) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        before = names(page)
        assert all_of(page, "#grows .picture").is_visible()
        assert all_of(page, "#grows .canvas").is_hidden()
        page.locator(".node-of-graph:not(.is-open)").first.click()
        assert before < names(page)
        page.locator("td.look a").first.click()
        assert all_of(page, "#grows").count() == 1


def test_on_a_phone_a_tap_adds_neighbours_and_nothing_is_wider_than_the_screen(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service, **PHONE) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        wait_for_growth(page)
        before, name = names(page), neighbour_to_open(page)
        page.touchscreen.tap(*point_of(page, name))
        page.wait_for_url(lambda url: f"open={name}" in url)
        wait_for_growth(page)
        assert before < names(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_finger_and_the_wheel_scroll_the_page_over_the_graph(
    browser: "Browser", service: Service
) -> None:
    def scrolled(page: "Page") -> float:
        top: float = page.evaluate("scrollY")
        return top

    with looking(browser, service, **PHONE) as page:
        open_graph(page, graph_address(service))
        wait_for_growth(page)
        page.locator("#grows .canvas").scroll_into_view_if_needed()
        box = page.locator("#grows .drawing").bounding_box()
        assert box is not None
        x, y, top = box["x"] + 14, box["y"] + 300, scrolled(page)
        touches = page.context.new_cdp_session(page)
        for kind, moved in [("touchStart", 0), *(("touchMove", 20 * n) for n in range(1, 11))]:
            points = [{"x": x, "y": y - moved}]
            touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(400)
        assert scrolled(page) > top + 50
    with looking(browser, service) as page:
        open_graph(page, graph_address(service))
        wait_for_growth(page)
        page.locator("#grows .canvas").scroll_into_view_if_needed()
        box = page.locator("#grows .drawing").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 20, box["y"] + 200)
        top = scrolled(page)
        page.mouse.wheel(0, 150)
        page.wait_for_timeout(400)
        assert scrolled(page) > top + 50


def places_of_two(page: "Page") -> tuple[str, tuple[float, float], tuple[float, float]]:
    """Return the node that is nearest to what the graph is about, its place, and that of this."""
    page.locator("#grows .canvas").scroll_into_view_if_needed()
    about = next(node["name"] for node in data_of(page)["nodes"] if node["is_about"])
    middle = point_of(page, about)
    places = {name: point_of(page, name) for name in names(page) - {about}}
    nearest = min(places, key=lambda name: dist(places[name], middle))
    return nearest, places[nearest], middle


def size_of_page(page: "Page") -> list[float]:
    """Return the measures that change if the browser magnifies the page, and not the graph."""
    size: list[float] = page.evaluate("[visualViewport.scale, innerWidth, devicePixelRatio]")
    return size


def test_the_wheel_with_ctrl_zooms_the_graph_at_the_pointer(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service))
        wait_for_growth(page)
        before = size_of_page(page)
        name, (x, y), (middle_x, middle_y) = places_of_two(page)
        page.mouse.move(middle_x, middle_y)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -10)  # of a touchpad
        page.mouse.wheel(0, -100)  # of a mouse
        page.keyboard.up("Control")
        page.wait_for_timeout(300)
        factor = exp(0.4)
        page.mouse.click(middle_x + (x - middle_x) * factor, middle_y + (y - middle_y) * factor)
        page.wait_for_selector(".selected:not([hidden])")
        assert page.locator(".selected strong").inner_text() == name
        assert size_of_page(page) == before


def test_two_fingers_zoom_the_graph_and_not_the_page(browser: "Browser", service: Service) -> None:
    with looking(browser, service, **PHONE) as page:
        open_graph(page, graph_address(service))
        wait_for_growth(page)
        before = size_of_page(page)
        name, (x, y), (middle_x, middle_y) = places_of_two(page)
        touches = page.context.new_cdp_session(page)
        for kind, apart in [("touchStart", 40), *(("touchMove", 40 + 5 * n) for n in range(9))]:
            points = [
                {"x": middle_x + side * apart, "y": middle_y, "id": 1 + side} for side in (1, -1)
            ]
            touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(400)
        page.touchscreen.tap(middle_x + (x - middle_x) * 2, middle_y + (y - middle_y) * 2)
        page.wait_for_selector(".selected:not([hidden])")
        assert page.locator(".selected strong").inner_text() == name
        assert size_of_page(page) == before


@pytest.mark.parametrize("level", ["uri", "host", "domain"])
def test_hostile_names_are_only_text(browser: "Browser", service: Service, level: str) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service, "hostile", level=level))
        wait_for_growth(page)
        for row in all_of(page, "#grows tr[data-node] a.grow").all():
            row.evaluate("link => link.click()")
            wait_for_growth(page)
            break
        if level == "uri":
            assert any("alert(" in name for name in names(page))
        assert all_of(page, "#grows img, #grows script:not(#graph-data)").count() == 0


def test_what_cannot_be_answered_leaves_the_graph_as_it_is(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service, may_fail=True) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        wait_for_growth(page)
        before, address = names(page), page.url
        page.route(
            "**/*open=*",
            lambda route: route.fulfill(
                status=503,
                content_type="text/html",
                body='<main><p role="status">The tables are being made.</p></main>',
            ),
        )
        page.locator("#grows tr a.grow").first.click()
        page.get_by_text("The graph stays as it is: The tables are being made.").wait_for()
        assert (names(page), page.url) == (before, address)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_graph_has_no_accessibility_problem(
    browser: "Browser", service: Service, axe: str, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    open_graph(page, graph_address(service, neighbours="3"))
    wait_for_growth(page)
    page.locator("#grows tr a.grow").first.click()
    page.wait_for_selector(".selected:not([hidden])")
    wait_for_growth(page)
    assert violations(page, axe, "#grows") == []
    context.close()


def test_a_browser_that_stops_drawing_gets_the_picture_of_the_server(
    browser: "Browser", service: Service
) -> None:
    with looking(browser, service) as page:
        open_graph(page, graph_address(service, neighbours="3"))
        wait_for_growth(page)
        page.evaluate("""() => {
            const canvas = document.querySelector("canvas.sigma-nodes");
            canvas.getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();
        }""")
        page.get_by_text("stopped drawing with WebGL").wait_for()
        assert all_of(page, "#grows .picture").is_visible()
        page.set_viewport_size({"width": 700, "height": 600})
        page.wait_for_timeout(300)
        page.emulate_media(color_scheme="dark")
        before, name = names(page), neighbour_to_open(page)
        page.locator(".node-of-graph", has_text=name).first.click()
        page.wait_for_url(lambda url: f"open={name}" in url)
        assert before < names(page)
