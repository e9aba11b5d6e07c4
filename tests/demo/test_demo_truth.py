"""The list of true links, compared with the links that other programs find in the files.

BeautifulSoup finds ``a@href`` in the written files, and ada resolves it. Links whose query is not
ASCII, on pages that are not in Unicode, are left out, because ada treats every page as UTF-8.
`tests/demo/test_demo_locations.py`, and the test of queries below, check these.
"""

import re
import warnings

import ada_url
import pytest
from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning

from tests.demo.conftest import Archive, Seen, Truth

NOT_ADDRESSES = ("javascript:", "data:", "about:")


def payloads(archive: Archive) -> dict[str, Seen]:
    """Return the captures whose body is there and may be read, by payload digest; a 404 may have
    the bytes of another.
    """
    return {
        seen.digest: seen
        for seen, _ in archive.captures
        if seen.record_type == "response" and seen.status == "200"
    }


def payload_of(archive: Archive, seen: Seen) -> Seen | None:
    """Return the capture that holds the page which ``seen`` shows; None if it does not exist or is
    not read.
    """
    if seen.headers.get("warc-profile", "").endswith("server-not-modified"):
        named = (
            seen.headers["warc-refers-to-target-uri"],
            "".join(filter(str.isdigit, seen.headers["warc-refers-to-date"])),
        )
        [seen] = [other for other, _ in archive.captures if (other.uri, other.timestamp) == named]
    payload = payloads(archive).get(seen.digest)
    mime = "" if payload is None else (payload.http or {}).get("content-type", "text/html")
    if payload is None or "html" not in mime:
        return None
    return payload


def charset_of(payload: Seen) -> str:
    """Return Python's name of the charset a page declares."""
    if payload.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    parameter = (payload.http or {}).get("content-type", "").partition("charset=")[2]
    label = parameter or payload.body.partition(b"charset=")[2][:14].strip(b'"').split(b'"')[
        0
    ].decode("ascii", "replace")
    return {"iso-8859-1": "cp1252"}.get(label.lower(), label or "utf-8")


def text_of(anchor: Tag) -> str:
    images = [str(image.get("alt", "")) for image in anchor.find_all("img")]
    return " ".join(anchor.get_text().split()) or " ".join(
        alternate for alternate in images if alternate
    )


def parsed(payload: Seen, page: str) -> tuple[BeautifulSoup, str]:
    """Return the payload as elements, and where its references are read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        html = payload.body.decode(charset_of(payload)).lstrip("\ufeff")
        soup = BeautifulSoup(html, "html.parser")
    element = soup.find("base", href=True)
    if isinstance(element, Tag) and not str(element["href"]).startswith(("javascript:", "#")):
        return soup, ada_url.join_url(page, str(element["href"]))
    return soup, page


def found_anchors(payload: Seen, page: str) -> list[tuple[str, str, str | None] | None]:
    """Return (target, text, rel) of the anchors when the payload is at ``page``; None where
    this way cannot know.
    """
    charset = charset_of(payload)
    soup, base = parsed(payload, page)
    found: list[tuple[str, str, str | None] | None] = []
    for anchor in soup.find_all("a", href=True):
        written = str(anchor["href"])
        if written.translate({9: None, 10: None}).strip().lower().startswith(NOT_ADDRESSES) or (
            base == page and written[:1] in {"", "#"}
        ):
            continue
        if "utf" not in charset.lower() and not written.partition("?")[2].isascii():
            found.append(None)
            continue
        try:
            target = ada_url.join_url(base, written).partition("#")[0]
        except ValueError:
            continue
        rel = anchor.get_attribute_list("rel")
        found.append(
            (target, text_of(anchor), " ".join(str(word).lower() for word in rel if word) or None)
        )
    return found


def true_anchors(truth: Truth) -> list[tuple[str, str, str | None]]:
    return [
        (target, text, rel) for target, kind, text, rel in truth.links or () if kind == "a@href"
    ]


def test_anchors_found_in_the_files_are_those_of_the_truth(archive: Archive) -> None:
    compared = left_out = 0
    for seen, truth in archive.captures:
        if (seen.http or {}).get("location"):
            continue
        payload = payload_of(archive, seen)
        if payload is None or seen.status == "404":
            assert truth.links is None, seen.uri
            continue
        assert truth.links is not None, seen.uri
        found, true = found_anchors(payload, seen.uri), true_anchors(truth)
        assert len(found) == len(true), seen.uri
        for ours, theirs in zip(true, found, strict=True):
            left_out += theirs is None
            compared += theirs is not None
            assert theirs in (None, ours), seen.uri
    assert compared > 2_000
    assert left_out == 10  # two links on each of the five letter pages that are not Unicode


def test_links_of_other_elements_are_in_the_files(archive: Archive) -> None:
    compared = set()
    for seen, truth in archive.captures:
        payload = payload_of(archive, seen)
        if payload is None or (seen.http or {}).get("location"):
            continue
        soup, base = parsed(payload, seen.uri)
        for target, kind, _, _ in truth.links or ():
            tag, _, name = kind.replace("@refresh", "@content").partition("@")
            written = " ".join(
                str(element[name]) for element in soup.find_all(tag, attrs={name: True})
            )
            # Several in a srcset, with their widths; after seconds in a refresh.
            references = re.findall(r"[^\s,;']+", re.sub("url=", "", written, flags=re.IGNORECASE))
            if kind != "a@href":
                compared.add(kind)
                assert target in {ada_url.join_url(base, one) for one in references}, seen.uri
    assert len(compared) >= 15, compared


def test_redirects_lead_where_their_location_resolves_to(archive: Archive) -> None:
    redirects = [
        (seen, truth) for seen, truth in archive.captures if seen.http and "location" in seen.http
    ]
    assert {seen.status for seen, _ in redirects} == {"301", "302", "303", "307", "308"}
    for seen, truth in redirects:
        assert seen.http is not None
        target = ada_url.join_url(seen.uri, seen.http["location"]).partition("#")[0]
        assert truth.links == ((target, "http@location", "", None),)


@pytest.mark.parametrize(
    ("page", "queries"),
    [
        pytest.param(
            "windows-1252-header",
            ["?q=skil%F8ype", "?q=skil%F8ype%26%239731%3B"],
            id="windows-1252",
        ),
        pytest.param(
            "iso-8859-1-means-1252", ["?q=gr%F6%DFe", "?q=gr%F6%DFe%26%239731%3B"], id="ISO-8859-1"
        ),
        pytest.param("iso-8859-2-meta", ["?q=k%F9%F2", "?q=k%F9%F2%26%239731%3B"], id="ISO-8859-2"),
        pytest.param(
            "shift-jis", ["?q=%97\\%92%E8%95\\", "?q=%97\\%92%E8%95\\%26%239731%3B"], id="Shift_JIS"
        ),
        pytest.param(
            "koi8-r-header", ["?q=%CC%D9%D6%C9", "?q=%CC%D9%D6%C9%26%239731%3B"], id="KOI8-R"
        ),
        pytest.param(
            "utf-16-le", ["?q=%D1%81%D0%BE%D0%BB%D0%BD%D1%86%D0%B5"], id="UTF-16 sends UTF-8"
        ),
        pytest.param("undeclared", ["?q=caf%C3%A9", "?q=caf%C3%A9%E2%98%83"], id="UTF-8"),
    ],
)
def test_queries_are_in_the_charset_of_the_page(
    archive: Archive, page: str, queries: list[str]
) -> None:
    [truth] = [truth for truth in archive.truths if truth.original.endswith(f"/letters/{page}/")]
    found = [
        "?" + target.partition("?")[2]
        for target, kind, _, _ in truth.links or ()
        if "?" in target and kind == "a@href"
    ]
    assert found[: len(queries)] == queries


def test_the_example_is_linked_to_in_changing_words(archive: Archive) -> None:
    example = archive.summary.example_uri
    texts = [
        (truth.timestamp[:6], text) for truth in archive.truths for text in truth.texts(example)
    ]
    assert len({truth.original for truth in archive.truths if truth.texts(example)}) >= 6
    assert ("200911", "Opening ceremony set for 12 February") in texts
    assert ("201002", "Watch the opening ceremony live") in texts
    assert len({text for _, text in texts}) >= 9
    assert sum(truth.original == example for truth in archive.truths) >= 4
