"""The instances in the operator's configuration, and the URLs of link queries to them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from arclink.access.formats.timemaps import ascii_uri
from arclink.access.queries import MOST_MEMBERS, LinkQuery, Redirects, as_page
from arclink.errors import InstanceError, UsageError
from arclink.model import ALL_TIME
from arclink.network.addresses import parse_server_address
from arclink.uris.wrapped import format_in_path

# The limits of a query to other instances.


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The limits of one query.

    Attributes:
        instance_seconds: Maximum seconds for one page of one instance's answer.
        whole_seconds: Maximum seconds for all pages of all instances.
        page_bytes: Bytes of one page; a larger one is refused.
        pages: Pages of one instance; after them the answer is partial.
        links: Links or rows of one instance; after them the answer is partial.
        at_once: Queries that one instance answers at the same time; a further query fails because
            the instance is busy.
        cache_bytes: Bytes of all cached answers.
        cache_seconds: Seconds for which an answer is fresh.
    """

    instance_seconds: float = 10.0
    whole_seconds: float = 20.0
    page_bytes: int = 16 << 20
    pages: int = 20
    links: int = 200_000
    at_once: int = 4
    cache_bytes: int = 64 << 20
    cache_seconds: float = 300.0


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:\[\]/-]{0,99}")
_URL = re.compile(r"[!-~]{1,2000}")

PATH = "/LinkService/linkQuery"
"""The path of link queries in the paper, which every instance has."""

_URI_HERE = "{uri}"
"""Where the URL of a service that has another path has the URI."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A service that answers link queries about one archive, or an answer that was saved.

    Attributes:
        name: The name of the archive in answers.
        url: The part of the URL before `PATH`: ``http`` or ``https``, host, port and path, without
            a slash at its end. Or the whole URL of a service that has another path, with
            ``{uri}``. Or the path of a file.
        saved: The answer, RDF/XML; None if the file is to be read.
    """

    name: str
    url: str
    saved: bytes | None = None

    @property
    def is_saved(self) -> bool:
        """Whether it is an answer that was saved, not a service."""
        return "://" not in self.url

    @property
    def is_plain(self) -> bool:
        """Whether it answers one URI with all links of all time, as RDF/XML."""
        return self.is_saved or _URI_HERE in self.url

    def read(self, most_bytes: int) -> bytes:
        """Return the saved answer.

        Raises:
            InstanceError: It cannot be read, or is too large.
        """
        body = self.saved
        if body is None:
            try:
                with Path(self.url).open("rb") as file:
                    body = file.read(most_bytes + 1)
            except OSError as error:
                raise InstanceError(f"{self.url}: {error.strerror}") from error
        if len(body) > most_bytes:
            raise InstanceError(f"its answer is larger than {most_bytes:,} bytes")
        return body


def parse_instances(texts: Iterable[str], option: str = "--instance") -> tuple[Instance, ...]:
    """Return the instances in ``texts``, each in the syntax of `parse_instance`.

    Errors name the ``option``.

    Raises:
        UsageError: A text is not an instance, or a name or URL is repeated.
    """
    found: list[Instance] = []
    for text in texts:
        instance = parse_instance(text, option)
        for other in found:
            if instance.name == other.name or instance.url == other.url:
                raise UsageError(
                    f"{option} {text}: {other.name} at {other.url} is already given; name "
                    "each archive once"
                )
        found.append(instance)
    return tuple(found)


def parse_instance(text: str, option: str = "--instance") -> Instance:
    """Return the instance in ``URL`` or ``NAME=URL``; the default name is host, port and path.

    A URL with ``{uri}`` is that of a service that has another path than `PATH`; a path of a file is
    an answer that was saved.

    Raises:
        UsageError: The text is neither; the message says what is allowed.

    >>> parse_instance("olympics=http://arclink.example:8080/olympics/")
    Instance(name='olympics', url='http://arclink.example:8080/olympics', saved=None)
    >>> parse_instance("http://127.0.0.1:8080").name
    '127.0.0.1:8080'
    """
    before, equals, after = text.partition("=")
    name, url = (before, after) if equals and "://" not in before else ("", text)
    allowed = (
        "write http://HOST[:PORT][/PATH] or NAME=http://…, without user, query or fragment; a URL "
        "with {uri} if its link queries have another path; or the path of a saved answer (RDF/XML)"
    )
    if "://" not in url and Path(url).is_file():
        return Instance(parse_name(option, name or Path(url).name), url)
    try:
        address = parse_server_address(url)
    except ValueError as error:
        raise UsageError(f"{option} {text[:200]!a}: {error}; {allowed}") from error
    is_template = _URI_HERE in address.path + address.rest and "#" not in url
    is_sound = _URL.fullmatch(url) and "@" not in url and (is_template or not address.rest)
    if not (address.is_of_web and is_sound):
        raise UsageError(f"{option} {text[:200]!a}: not the address of an instance; {allowed}")
    path = address.path.rstrip("/")
    server = address.origin + path
    name = name or (address.origin if is_template else server).partition("://")[2]
    return Instance(parse_name(option, name), url if is_template else server)


def parse_name(option: str, name: str) -> str:
    """Return the name of an archive unchanged.

    Raises:
        UsageError: It is not a valid name. The message names the ``option``.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"{option} {name[:200]!a}: not the name of an archive; use up to 100 letters, "
            "digits and ._:/-"
        )
    return name


def question(instance: Instance, query: LinkQuery, cursor: str = "") -> str:
    """Return the URL of ``query`` at an instance, with the largest page size allowed."""
    asked = [
        ("uri", as_page(query.uri)),
        ("direction", query.direction.value),
        ("limit", str(MOST_MEMBERS)),
    ]
    if query.span.first != ALL_TIME.first:
        asked.append(("from", query.span.first))
    if query.span.last != ALL_TIME.last:
        asked.append(("to", query.span.last))
    if query.at is not None:
        asked.append(("at", query.at))
    asked += [] if query.kinds.is_all else [("kinds", word) for word in query.kinds.words]
    if query.redirects is not Redirects.YES:  # services older than this parameter would refuse it
        asked.append(("redirects", query.redirects.value))
    if cursor:
        asked.append(("cursor", cursor))
    return f"{instance.url}{PATH}?{urlencode(asked)}"


def timemap_question(instance: Instance, uri: str) -> str:
    """Return the URL of the TimeMap of a URI at an instance that is an ArcLink service."""
    return f"{instance.url}/timemap/json/{ascii_uri(format_in_path(uri))}"


def plain_question(instance: Instance, query: LinkQuery) -> str:
    """Return the URL in the paper's form, for an instance that knows only the parameter ``uri``.

    Its answer contains all links of all time.
    """
    if instance.is_plain:
        return instance.url.replace(_URI_HERE, quote(query.uri, safe=""))
    return f"{instance.url}{PATH}?{urlencode([('uri', query.uri)])}"
