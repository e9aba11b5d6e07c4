"""The host and the registered domain of a SURT.

The host is taken from the SURT, so ``www.example.org`` and ``example.org`` are one host, and ports
make no difference. The domain is the part that its owner registered: one label and a public suffix
(``bbc.co.uk``), by the Public Suffix List that is part of ``tldextract``. No network is used. Only
the ICANN section of the list counts: the domain of ``a.blogspot.com`` is ``blogspot.com``.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NewType

from arclink.model import Surt

if TYPE_CHECKING:
    from tldextract import TLDExtract

Host = NewType("Host", str)
"""Name or address of a host, lower case, without port; empty for URIs without host."""

Domain = NewType("Domain", str)
"""Registered domain; an address or a public suffix is its own domain."""

_PLACE = re.compile(
    r"(?:(?P<labels>[^:/?#()@\s]+)|(?P<address>[0-9a-f.]*:[0-9a-f.]*:[0-9a-f.:]*))(?::[0-9]{1,5})?\)/"
)
_NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")


@lru_cache(maxsize=1 << 14)
def host_of(surt: Surt) -> Host:
    """Return the host of ``surt``; empty if it has none.

    >>> host_of(Surt("uk,co,bbc,news:8080)/x")), host_of(Surt("1,0,0,127)/"))
    ('news.bbc.co.uk', '127.0.0.1')
    >>> host_of(Surt("mailto:a@example.org"))
    ''
    """
    place = _PLACE.match(surt)
    if place is None:
        return Host("")
    if place["labels"] is None:
        return Host(place["address"])
    return Host(".".join(reversed(place["labels"].strip(",").split(","))))


def stem_of_host(surt: Surt) -> Surt | None:
    """Return the common beginning of the SURTs of one host and port; None if ``surt`` has no host.

    >>> stem_of_host(Surt("org,example:8080)/x"))
    'org,example:8080)'
    """
    place = _PLACE.match(surt)
    return None if place is None else Surt(surt[: place.end() - 1])


def stems_of_domain(surt: Surt) -> tuple[Surt, ...]:
    """Return the beginnings of the SURTs of a host and of all its subdomains, at any port, sorted.

    The host is that of ``surt``; the result is empty if it has none.

    >>> stems_of_domain(Surt("org,example:8080)/x"))
    ('org,example)', 'org,example,', 'org,example:')
    """
    place = _PLACE.match(surt)
    if place is None:
        return ()
    name = place["labels"] or place["address"]
    return tuple(Surt(f"{name}{sign}") for sign in ("),:" if place["labels"] else ")"))


@lru_cache(maxsize=1 << 14)
def domain_of(host: Host) -> Domain:
    """Return the registered domain of ``host``; empty if ``host`` is empty.

    A suffix that is not in the list counts as one label (the list's rule ``*``).

    Source: https://github.com/publicsuffix/list/wiki/Format, *Formal algorithm*.

    >>> [domain_of(Host(host)) for host in ("news.bbc.co.uk", "www2.kalvik.example", "127.0.0.1")]
    ['bbc.co.uk', 'kalvik.example', '127.0.0.1']
    """
    if ":" in host or _NUMBERS.fullmatch(host):
        return Domain(host)
    suffix = _public_suffix(host) or host.rpartition(".")[2]
    before = host.removesuffix(suffix).rstrip(".")
    return Domain(host[before.rfind(".") + 1 :] if before else host)


def _public_suffix(host: Host) -> str:
    suffix = _list()(host).suffix
    return suffix if host.endswith(suffix) else ""


@cache
def _list() -> "TLDExtract":
    from tldextract import TLDExtract  # lazily: its import takes half of the start-up

    return TLDExtract(cache_dir=None, suffix_list_urls=(), fallback_to_snapshot=True)
