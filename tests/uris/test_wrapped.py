"""URIs of Wayback Machines, and the URIs that they wrap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.reasons import Reason
from arclink.uris.wrapped import Unwrapper

WEB = "http://web.archive.org/web"
TIME = "20090102030405"


@pytest.mark.parametrize(
    ("uri", "original"),
    [
        pytest.param(f"{WEB}/{TIME}/http://h.example/a?b=c", "http://h.example/a?b=c", id="replay"),
        pytest.param(
            f"{WEB}/{TIME}id_/http://h.example/", "http://h.example/", id="original bytes"
        ),
        pytest.param(f"{WEB}/{TIME}im_/https://h/", "https://h/", id="image"),
        pytest.param(f"{WEB}/{TIME}wkrf_/ftp://h/", "ftp://h/", id="long modifier"),
        pytest.param(f"{WEB}/{TIME}/http:/h.example/", "http://h.example/", id="one slash"),
        pytest.param(f"{WEB}/{TIME}/http%3A//h.example/", "http://h.example/", id="encoded colon"),
        pytest.param(
            f"http://web.archive.org:80/web/{TIME}/http://h:80/", "http://h:80/", id="with ports"
        ),
        pytest.param(f"http://a.example/coll/{TIME}mp_/http://h/", "http://h/", id="pywb"),
        pytest.param(f"http://a.example/x/y/{TIME}/http://h/", "http://h/", id="OpenWayback"),
        pytest.param(f"http://a.example/{TIME}/http://h/", "http://h/", id="at the root"),
        pytest.param(
            f"{WEB}/20150101000000/{WEB}/{TIME}/http://h/",
            "http://h/",
            id="one captured by another",
        ),
    ],
)
def test_what_a_uri_of_a_capture_wraps(uri: str, original: str) -> None:
    assert Unwrapper().unwrap(uri) == (original, TIME, None)


@pytest.mark.parametrize(
    "uri",
    [
        f"{WEB}/*/http://h/",
        f"{WEB}/2009*/http://h/",
        f"{WEB}/2009/http://h/",  # anything may have a number in it; with a prefix it is a time
        f"{WEB}/{TIME}/h.example/",
        f"{WEB}/{TIME}/mailto:a@b",
        f"http://h/?u=/{TIME}/http://h/",
        f"http://h/#/{TIME}/http://h/",
        "http://h/12345678901234/http://h/",
        "http://web.archive.org/",
        "",
    ],
)
def test_any_other_uri_wraps_nothing(uri: str) -> None:
    assert Unwrapper().unwrap(uri) is None


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        (f"{WEB}/{TIME}/http://h/", ("http://h/", TIME, None)),
        (f"https://web.archive.org:443/web/{TIME}/http://h/", ("http://h/", TIME, None)),
        (
            f"{WEB}/2009/h.example/a",
            ("http://h.example/a", "20090101000000", Reason.NOTE_TIMESTAMP_PADDED),
        ),
        (f"http://a.example/coll/{TIME}/http://h/", None),
        (f"{WEB}/{TIME}/favicon", None),
    ],
)
@pytest.mark.parametrize("prefix", [WEB, "web.archive.org/web/", "https://web.archive.org/web"])
def test_a_prefix_says_which_archive_is_meant(
    prefix: str, uri: str, expected: tuple[str, str, Reason | None] | None
) -> None:
    assert Unwrapper([prefix]).unwrap(uri) == expected


@pytest.mark.parametrize(
    ("reference", "original"),
    [
        (f"/web/{TIME}/http://h.example/a", "http://h.example/a"),
        (f"/web/{TIME}im_/http://h.example/a.png", "http://h.example/a.png"),
        (f"{WEB}/{TIME}/https://h.example/", "https://h.example/"),
        (f"//web.archive.org/web/{TIME}/http://h.example/", "http://h.example/"),
        (f" /web/{TIME}/mailto:a@b.example", "mailto:a@b.example"),
        (f"/web/{TIME}/javascript:void(0)", "javascript:void(0)"),
        (f"/web/{TIME}///h.example/a", "//h.example/a"),
        ("/web/2020/http://h.example/a", "http://h.example/a"),
        (f"{WEB}/2020im_/http://h.example/a", "http://h.example/a"),
        ("/news/2020/http://h.example/a", "/news/2020/http://h.example/a"),
        ("/web/2020*/http://h.example/a", "/web/2020*/http://h.example/a"),
        (f"/web/{TIME}/http:/h.example/a#b", "http://h.example/a#b"),
        ("a.html", "a.html"),
        ("/a/b.html?c=d", "/a/b.html?c=d"),
        ("http://h.example/", "http://h.example/"),
        (
            f"http://h.example/?u={WEB}/{TIME}/http://h/",
            f"http://h.example/?u={WEB}/{TIME}/http://h/",
        ),
        ("", ""),
    ],
)
def test_links_lead_where_they_led_before(reference: str, original: str) -> None:
    assert Unwrapper().link(reference) == original
    assert Unwrapper([WEB]).link(reference) == original


@given(st.text(max_size=60))
def test_any_text_is_unwrapped_or_stays(text: str) -> None:
    for unwrapper in (Unwrapper(), Unwrapper(["h/web"])):
        assert unwrapper.link(text) is not None
        found = unwrapper.unwrap(f"http://h/web/{TIME}/{text}")
        assert found is None or found.original


def test_a_long_uri_costs_little() -> None:
    for uri in ("http://h/" + "a/" * 30_000, "http://h/" + "2" * 60_000, "/" * 60_000):
        assert Unwrapper().unwrap(uri) is None
        assert Unwrapper().link(uri) == uri
