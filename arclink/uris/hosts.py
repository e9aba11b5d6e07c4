"""The host and the registered domain of a SURT.

The host is taken from the SURT, so ``www.example.org`` and ``example.org`` are one host, and ports
make no difference. The domain is the part that its owner registered: one label and a public suffix
(``bbc.co.uk``), by the copy of the Public Suffix List in ``public_suffixes.txt``. Only the ICANN
section of the list counts: the domain of ``a.blogspot.com`` is ``blogspot.com``. The copy is part
of the rules of keys: with the list of a package, each version of it could change the keys of a
store.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NewType

from arclink.model import Surt

Host = NewType("Host", str)
"""Name or address of a host, lower case, without port; empty for URIs without host."""

Domain = NewType("Domain", str)
"""Registered domain; an address or a public suffix is its own domain."""

_HOST = re.compile(
    r"(?:(?P<labels>[^:/?#()@\s]+)|(?P<address>[0-9a-f.]*:[0-9a-f.]*:[0-9a-f.:]*))(?::[0-9]{1,5})?\)/"
)
_WWW = re.compile(r"www[0-9]*\.")
_NUMBERS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")


def host_of(surt: Surt) -> Host:
    """Return the host of ``surt``; empty if it has none.

    >>> host_of(Surt("uk,co,bbc,news:8080)/x")), host_of(Surt("1,0,0,127)/"))
    ('news.bbc.co.uk', '127.0.0.1')
    >>> host_of(Surt("mailto:a@example.org"))
    ''
    """
    return _host_in(surt[: surt.find(")/") + 2])


@lru_cache(maxsize=1 << 14)
def _host_in(stem: str) -> Host:
    """Return the host in the start of a SURT, up to its path; empty if that has no host."""
    host = _HOST.match(stem)
    if host is None:
        return Host("")
    if host["labels"] is None:
        return Host(host["address"])
    return Host(".".join(reversed(host["labels"].strip(",").split(","))))


def stem_of_host(surt: Surt) -> Surt | None:
    """Return the common beginning of the SURTs of one host and port; None if ``surt`` has no host.

    >>> stem_of_host(Surt("org,example:8080)/x"))
    'org,example:8080)'
    """
    host = _HOST.match(surt)
    return None if host is None else Surt(surt[: host.end() - 1])


def stems_of_domain(surt: Surt) -> tuple[Surt, ...]:
    """Return the beginnings of the SURTs of a host and of all its subdomains, at any port, sorted.

    The host is that of ``surt``; the result is empty if it has none.

    >>> stems_of_domain(Surt("org,example:8080)/x"))
    ('org,example)', 'org,example,', 'org,example:')
    """
    host = _HOST.match(surt)
    if host is None:
        return ()
    name = host["labels"] or host["address"]
    return tuple(Surt(f"{name}{sign}") for sign in ("),:" if host["labels"] else ")"))


@lru_cache(maxsize=1 << 14)
def domain_of(host: Host) -> Domain:
    """Return the registered domain of ``host``; empty if ``host`` is empty.

    A suffix that is not in the list counts as one label (the list's rule ``*``).

    Source: https://github.com/publicsuffix/list/wiki/Format, *Formal algorithm*.

    >>> [domain_of(Host(host)) for host in ("news.bbc.co.uk", "www2.kalvik.example", "127.0.0.1")]
    ['bbc.co.uk', 'kalvik.example', '127.0.0.1']
    """
    if is_ip_address(host):
        return Domain(host)
    labels = host.split(".")
    start = _start_of_suffix(labels)
    return Domain(".".join(labels[max(start - 1, 0) :]))


def is_ip_address(host: str) -> bool:
    """Return whether a host is an IP address: no host is below it.

    >>> [is_ip_address(host) for host in ("127.0.0.1", "::1", "1.example")]
    [True, True, False]
    """
    return ":" in host or _NUMBERS.fullmatch(host) is not None


def root_of(host: str) -> str:
    """Return the address of the first page of a host.

    >>> root_of("example.org"), root_of("::1")
    ('http://example.org/', 'http://[::1]/')
    """
    return f"http://[{host}]/" if ":" in host else f"http://{host}/"


def is_public_suffix(host: Host) -> bool:
    """Return whether domains are registered directly below a host, which is not an address.

    >>> [is_public_suffix(Host(host)) for host in ("uk", "co.uk", "bbc.co.uk", "city.kobe.jp")]
    [True, True, False, False]
    """
    return _start_of_suffix(host.split(".")) == 0


def without_www(host: Host) -> Host:
    """Return a host without ``www.``, ``www1.`` and so on, unless they are part of its own name.

    They are if no registered domain is left: a public suffix (``www.co.uk``) or an address.
    """
    www = _WWW.match(host)
    if www is None:
        return host
    rest = Host(host[www.end() :])
    last = rest.rpartition(".")[2]
    is_name = "." in rest and not last.isdigit() and not is_public_suffix(rest)
    return rest if is_name else host


def _start_of_suffix(labels: list[str]) -> int:
    """Return the number of labels before the public suffix of a host."""
    rules = _rules()
    for start in range(max(len(labels) - _MOST_LABELS, 0), len(labels) - 1):
        suffix = ".".join(labels[start:])
        if f"\n!{suffix}\n" in rules:
            return start + 1
        if f"\n{suffix}\n" in rules or f"\n*{suffix[len(labels[start]) :]}\n" in rules:
            return start
    return len(labels) - 1


_MOST_LABELS = 4
"""Number of labels in the longest public suffix."""


@cache
def _rules() -> str:
    """Return the rules, one a line; to search them as a text takes no time at the start."""
    return Path(__file__).with_name("public_suffixes.txt").read_text("ascii")
