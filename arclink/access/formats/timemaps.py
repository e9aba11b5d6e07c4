"""TimeMaps in link format (RFC 7089, section 5; RFC 6690) and in the JSON form of MemGator.

Other tools read the JSON form, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, NotRequired, TypedDict

import orjson

from arclink.access.capture_fields import TIMEMAP
from arclink.access.formats.statements import iri
from arclink.access.replay import http_date, moment_of
from arclink.access.texts import percent_encoded, printable_uri
from arclink.access.timemaps import TimeMap
from arclink.model import ALL_TIME, Memento, Timestamp
from arclink.uris.wrapped import format_in_path

LINK_FORMAT = "application/link-format"


class _MementoFields(TypedDict):
    """A memento of a TimeMap."""

    datetime: Annotated[str, {"format": "date-time"}]
    uri: NotRequired[str]


_Memento = Annotated[_MementoFields, TIMEMAP]


class _Mementos(TypedDict):
    first: _Memento | None
    last: _Memento | None
    list: Annotated[Sequence[_Memento], "Oldest first."]


class _Addresses(TypedDict):
    json_format: str
    link_format: NotRequired[str]


class TimeMapFields(TypedDict):
    """The mementos of a URI (RFC 7089, in MemGator's JSON)."""

    original_uri: str
    surt: str
    mementos: Annotated[_Mementos, "The first and last of all, and those of this part."]
    self: Annotated[str, "Address of this TimeMap."]
    timemap_uri: Annotated[_Addresses, "Its addresses in other formats."]
    timegate_uri: NotRequired[str]
    next: Annotated[str | None, "Address of the next part."]
    next_from: Annotated[Timestamp | None, "Time at which it begins."]


UriMs = Callable[[Memento], str | None]
"""Returns the URI-M of a memento; None if mementos have no address."""


def ascii_uri(uri: str) -> str:
    """Return ``uri`` in a form that headers and link format allow: ASCII characters of URIs only.

    >>> ascii_uri("http://example.org/a b|é")
    'http://example.org/a%20b%7C%C3%A9'
    """
    text = iri(uri)
    return (
        text
        if text.isascii()
        else "".join(sign if sign.isascii() else percent_encoded(sign) for sign in text)
    )


def ascii_in_path(uri: str) -> str:
    """Return ``uri`` as the last part of the path of an address, in ASCII.

    >>> ascii_in_path("http://example.org/a b"), ascii_in_path("http://example.org/é/../b")
    ('http://example.org/a%20b', 'http%3A%2F%2Fexample.org%2F%C3%A9%2F..%2Fb')
    """
    part = format_in_path(uri)
    return ascii_uri(uri) if part == uri else part


def _timemap_address(base_url: str, form: str, found: TimeMap, start: Timestamp) -> str:
    """Return the URL of the TimeMap from ``start`` on; ``base_url`` is the URL of the service."""
    part = "" if start == ALL_TIME.first else f"{start}/"
    return ascii_uri(f"{base_url}timemap/{form}/{part}") + ascii_in_path(found.uri)


def write_link_timemap(
    found: TimeMap, uri_m_of: UriMs, base_url: str = "", *, has_timegate: bool = False
) -> Iterator[bytes]:
    """Yield the TimeMap in link format, one link per line.

    Args:
        found: The TimeMap.
        uri_m_of: Returns the URI-M of each memento, which must have one.
        base_url: URL of the service, ending with ``/``; if it is empty, there are no links to
            TimeMaps.
        has_timegate: Whether the service has a TimeGate.
    """
    links = [f'<{ascii_uri(found.uri)}>; rel="original"']
    if base_url and has_timegate:
        links.append(f'<{ascii_uri(base_url)}timegate/{ascii_in_path(found.uri)}>; rel="timegate"')
    if base_url:
        links.append(
            _link(_timemap_address(base_url, "link", found, found.start), "self", *_range(found))
        )
        if found.following is not None:
            links.append(
                _link(
                    _timemap_address(base_url, "link", found, found.following),
                    "timemap",
                    _attribute("from", found.following),
                )
            )
    for number, memento in enumerate(found.mementos):
        first = "first " if number == 0 and found.is_first else ""
        last = "last " if number == len(found.mementos) - 1 and found.following is None else ""
        address = uri_m_of(memento)
        assert address is not None
        links.append(
            f'<{ascii_uri(address)}>; rel="{first}{last}memento"; '
            f'datetime="{http_date(memento.timestamp)}"'
        )
    yield (",\n".join(links) + "\n").encode()


def write_json_timemap(
    found: TimeMap, uri_m_of: UriMs, base_url: str = "", *, has_timegate: bool = False
) -> Iterator[bytes]:
    """Yield the TimeMap as JSON; mementos without an address have no ``uri``.

    Arguments are those of `write_link_timemap`.
    """
    mementos = [_memento(memento, uri_m_of) for memento in found.mementos]
    document: dict[str, object] = {
        "original_uri": printable_uri(found.uri),
        "surt": printable_uri(found.surt),
        "mementos": {
            "first": mementos[0] if mementos and found.is_first else None,
            "last": mementos[-1] if mementos and found.following is None else None,
            "list": mementos,
        },
    }
    if base_url:
        document["self"] = _timemap_address(base_url, "json", found, found.start)
        has_addresses = bool(mementos) and "uri" in mementos[0]
        forms = {"json_format": "json", **({"link_format": "link"} if has_addresses else {})}
        document["timemap_uri"] = {
            name: _timemap_address(base_url, form, found, found.start)
            for name, form in forms.items()
        }
        if has_timegate:
            document["timegate_uri"] = f"{ascii_uri(base_url)}timegate/{ascii_in_path(found.uri)}"
        document["next"] = (
            None
            if found.following is None
            else _timemap_address(base_url, "json", found, found.following)
        )
    document["next_from"] = found.following
    yield orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def _memento(memento: Memento, uri_m_of: UriMs) -> Mapping[str, object]:
    address = uri_m_of(memento)
    return {
        "datetime": f"{moment_of(memento.timestamp).isoformat()[:19]}Z",
        **({} if address is None else {"uri": printable_uri(address)}),
        **TIMEMAP.of(memento),
    }


def _range(found: TimeMap) -> Sequence[str]:
    if not found.mementos:
        return ()
    return _attribute("from", found.mementos[0].timestamp), _attribute(
        "until", found.mementos[-1].timestamp
    )


def _link(address: str, relation: str, *attributes: str) -> str:
    return "; ".join((f'<{address}>; rel="{relation}"; type="{LINK_FORMAT}"', *attributes))


def _attribute(name: str, timestamp: Timestamp) -> str:
    return f'{name}="{http_date(timestamp)}"'
