"""The host and the registered domain that a SURT belongs to.

A host is that of the SURT, so ``www.example.org`` and ``example.org`` are one, and ports make no difference. A domain is
what its owner registered: one label and a public suffix (``bbc.co.uk``), by the Public Suffix List that ``tldextract``
brings with it. No network is asked. Its ICANN section alone counts: ``a.blogspot.com`` is of the domain ``blogspot.com``.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NewType

from arclink.model import Surt

if TYPE_CHECKING:
    from tldextract import TLDExtract

Host = NewType("Host", str)
"""Name or address of a host, lower case, without port; empty for URIs that have none (``mailto:``)."""

Domain = NewType("Domain", str)
"""Registered domain; of an address, and of a public suffix, itself."""

_PLACE = re.compile(r"(?:(?P<labels>[^:/?#()@\s]+)|(?P<address>[0-9a-f.]*:[0-9a-f.]*:[0-9a-f.:]*))(?::[0-9]{1,5})?\)/")
_NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")


@lru_cache(maxsize=1 << 14)
def host_of(surt: Surt) -> Host:
    """Return the host of ``surt``; empty if it has none.

    >>> host_of(Surt("uk,co,bbc,news:8080)/x")), host_of(Surt("1,0,0,127)/")), host_of(Surt("mailto:a@example.org"))
    ('news.bbc.co.uk', '127.0.0.1', '')
    """
    place = _PLACE.match(surt)
    if place is None:
        return Host("")
    if place["labels"] is None:
        return Host(place["address"])
    return Host(".".join(reversed(place["labels"].strip(",").split(","))))


def stem_of_host(surt: Surt) -> Surt | None:
    """Return what the SURTs of all URIs of the host of ``surt`` begin with, at its port; None if it has no host.

    >>> stem_of_host(Surt("org,example:8080)/x"))
    'org,example:8080)'
    """
    place = _PLACE.match(surt)
    return None if place is None else Surt(surt[: place.end() - 1])


def stems_of_domain(surt: Surt) -> tuple[Surt, ...]:
    """Return what the SURTs of the host of ``surt`` and of all hosts below it begin with, at any port, sorted; none without a host.

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
    """Return the registered domain of ``host``; empty if that is.

    A suffix that no list has counts as one label (the list's rule ``*``).

    Source: https://github.com/publicsuffix/list/wiki/Format, *Formal algorithm*.

    >>> domain_of(Host("news.bbc.co.uk")), domain_of(Host("www2.kalvik.example")), domain_of(Host("127.0.0.1"))
    ('bbc.co.uk', 'kalvik.example', '127.0.0.1')
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
    from tldextract import TLDExtract  # lazily: it takes half of all start-up

    return TLDExtract(cache_dir=None, suffix_list_urls=(), fallback_to_snapshot=True)
