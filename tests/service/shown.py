"""What a page of the service shows, for tests."""

import time

from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser, LexborNode


def page(client: FlaskClient, query: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(client.get(f"/{query}").data)


def page_with_answers(client: FlaskClient, query: str = "") -> LexborHTMLParser:
    """Return a page whose answers are all made; on a busy machine, some come after it."""
    for _ in range(100):
        shown = page(client, query)
        if not shown.css("[data-block]"):
            break
        time.sleep(0.1)
    return shown


def words(node: LexborNode | LexborHTMLParser | None) -> str:
    assert node is not None
    return " ".join(node.text().split())


def hrefs(html: LexborHTMLParser, selector: str) -> list[str]:
    return [node.attributes["href"] or "" for node in html.css(selector)]
