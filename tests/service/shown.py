"""What a page of the service shows, for tests."""

from flask.testing import FlaskClient
from selectolax.lexbor import LexborHTMLParser, LexborNode


def page(client: FlaskClient, query: str = "") -> LexborHTMLParser:
    return LexborHTMLParser(client.get(f"/{query}").data)


def words(node: LexborNode | LexborHTMLParser | None) -> str:
    assert node is not None
    return " ".join(node.text().split())


def hrefs(html: LexborHTMLParser, selector: str) -> list[str]:
    return [node.attributes["href"] or "" for node in html.css(selector)]
