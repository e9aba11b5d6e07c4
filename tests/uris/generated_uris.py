"""Generated URIs, and their SURTs by the ``surt`` package."""

import ada_url
import surt  # type: ignore[import-untyped]  # has no types
from hypothesis import strategies as st


def by_package(uri: str) -> str | None:
    """Return the package's SURT; None if it refuses the URI, with whatever exception."""
    try:
        key: str = surt.surt(uri)
    except Exception:
        return None
    return key


def by_package_in_punycode(uri: str) -> str | None:
    """Return the package's SURT of a URI whose host is written as browsers write it.

    A host that browsers refuse is unchanged.
    """
    try:
        written = ada_url.normalize_url("http://" + uri.rpartition("://")[2])
    except ValueError:
        written = uri
    return by_package(written)


SIGNS = [*"abzAZ09/?#&=.:;%@()<>'\"\\~ \t\n\x00\x7fäü\u2028\uff12", "//", "/.", ".."]


ESCAPES = ["%2e", "%2F", "%26", "%3D", "%2b", "%25", "25", "%3f", "%23", "%41", "%c3%a9", "%0A"]


HOSTS = [
    "www.",
    "www1.",
    "h.org",
    ":80",
    ":443",
    ":8080",
    ":x",
    "u@",
    "http://",
    "https://",
    "mailto:",
    "1.2.3.4",
    "256.1",
    "010.1",
    "[::1]",
]


SESSIONS = ["sid=", "cfid=1&cftoken=2", "jsessionid=", "a" * 32, f"({'a' * 24})/", ".aspx"]


pieces = st.sampled_from([*SIGNS, *ESCAPES, *HOSTS, *SESSIONS])


sites = st.sampled_from(
    [
        "http://h.org",
        "http://www.h.org",
        "http://www2.org",
        "https://H.org:80",
        "http://h",
        "http://1.2.3",
        "http://256.1",
        "http://http:",
        "",
    ]
)
