"""The instances that are asked, as the operator names them, and the question as they are asked it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from arclink.access.queries import MOST_MEMBERS, LinkQuery, Redirects
from arclink.errors import UsageError
from arclink.model import ALL_TIME

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:\[\]/-]{0,99}")
_URL = re.compile(r"[!-~]{1,2000}")

PATH = "/LinkService/linkQuery"
"""The paper's path, which every instance has."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A service that answers link queries about one archive.

    Attributes:
        name: What answers call the archive.
        url: ``http`` or ``https``, host, port and path that `PATH` follows, without a slash at its end.
    """

    name: str
    url: str


def parse_instances(texts: Iterable[str]) -> tuple[Instance, ...]:
    """Return the instances that ``texts`` name, each as `parse_instance` reads it.

    Raises:
        UsageError: One is none, or a name or URL comes twice.
    """
    found: list[Instance] = []
    for text in texts:
        instance = parse_instance(text)
        for other in found:
            if instance.name == other.name or instance.url == other.url:
                raise UsageError(f"--instance {text}: {other.name} at {other.url} is given already; name each archive once")
        found.append(instance)
    return tuple(found)


def parse_instance(text: str) -> Instance:
    """Return the instance that ``URL`` or ``NAME=URL`` means; without a name it is called by host, port and path.

    Raises:
        UsageError: It is neither; the text says what is allowed.

    >>> parse_instance("olympics=http://arclink.example:8080/olympics/")
    Instance(name='olympics', url='http://arclink.example:8080/olympics')
    >>> parse_instance("http://127.0.0.1:8080").name
    '127.0.0.1:8080'
    """
    before, equals, after = text.partition("=")
    name, url = (before, after) if equals and "://" not in before else ("", text)
    allowed = "give http://HOST[:PORT][/PATH] or NAME=http://…, without user, query or fragment"
    if _URL.fullmatch(url) is None:
        raise UsageError(f"--instance {text[:200]!a}: no URL; {allowed}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"--instance {text[:200]}: {error}; {allowed}") from error
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment or "?" in url or "#" in url or "@" in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not is_plain:
        raise UsageError(f"--instance {text[:200]}: no instance can be there; {allowed}")
    path = parts.path.rstrip("/")
    name = name or parts.netloc + path
    return Instance(parse_name("--instance", name), f"{parts.scheme}://{parts.netloc}{path}")


def parse_name(option: str, name: str) -> str:
    """Return the name of an archive as it came.

    Raises:
        UsageError: It cannot be one; ``option`` is to blame.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{option} {name[:200]!a}: no name of an archive; use up to 100 letters, digits and ._:/-")
    return name


def question(instance: Instance, query: LinkQuery, cursor: str = "") -> str:
    """Return the URL that asks ``query``, with the largest page an instance gives."""
    asked = [("uri", str(query.uri)), ("direction", query.direction.value), ("limit", str(MOST_MEMBERS))]
    if query.span.first != ALL_TIME.first:
        asked.append(("from", query.span.first))
    if query.span.last != ALL_TIME.last:
        asked.append(("to", query.span.last))
    if query.at is not None:
        asked.append(("at", query.at))
    asked += [("kind", kind) for kind in sorted(query.kinds)]
    if query.redirects is not Redirects.YES:  # a service of before this parameter would refuse it
        asked.append(("redirects", query.redirects.value))
    if cursor:
        asked.append(("cursor", cursor))
    return f"{instance.url}{PATH}?{urlencode(asked)}"


def plain_question(instance: Instance, query: LinkQuery) -> str:
    """Return the URL that asks as the paper does, for an instance that knows ``uri`` only: for all links of all time."""
    return f"{instance.url}{PATH}?{urlencode([('uri', query.uri)])}"
