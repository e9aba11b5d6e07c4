"""Conversion of the names in an answer to absolute URIs.

The paper's listing has relative, SURT-like names (``paralympic-games)/news`` in an answer about
``vancouver2010.com``). They are read by the first rule that fits:

=========================================== =============================================
``http://…``, ``mailto:…``                   absolute: unchanged
``com,example)/x``, ``http://(com,example,)/x`` the SURT of ``http://example.com/x``
``example.com)/x``, ``example.com/x``        a host, with http
``games)/news``, ``games/news``, ``/news``   below the root of the queried site
=========================================== =============================================
"""

import re

from arclink.access.queries import absolute_uri
from arclink.model import UriR
from arclink.network.addresses import joined
from arclink.uris.surts import is_absolute

_SURT = re.compile(
    r"(?:(?P<scheme>https?)://\()?(?P<host>[^()/?#]+?),?(?P<port>:[0-9]+)?,?\)(?P<rest>.*)",
    re.DOTALL,
)


def absolute_name(name: str, asked: UriR) -> UriR:
    """Return ``name`` as an absolute URI.

    Args:
        name: The name in the answer; white space around it is ignored.
        asked: The absolute URI that the answer is about.

    >>> absolute_name("paralympic-games)/news", UriR("http://vancouver2010.com/"))
    'http://vancouver2010.com/paralympic-games/news'
    >>> absolute_name("com,example,www:8080)/x?y", UriR("http://vancouver2010.com/"))
    'http://www.example.com:8080/x?y'
    """
    name = name.strip()
    surt = _SURT.fullmatch(name)
    if surt is not None and ":" not in surt["host"]:
        return _of_surt(surt, asked)
    if is_absolute(name):
        return UriR(name)
    if "." in re.split("[/?#]", name)[0]:
        return absolute_uri(name)
    return UriR(_below_root(name, asked))


def _of_surt(surt: re.Match[str], asked: UriR) -> UriR:
    labels = [label for label in surt["host"].split(",") if label]
    rest = surt["rest"] if surt["rest"].startswith("/") else "/" + surt["rest"]
    if len(labels) > 1 or "." in surt["host"]:
        return UriR(
            f"{surt['scheme'] or 'http'}://{'.'.join(reversed(labels))}{surt['port'] or ''}{rest}"
        )
    return UriR(_below_root("".join(labels) + rest, asked))


def _below_root(path: str, asked: UriR) -> str:
    path = "/" + path.lstrip("/")
    return joined(asked, path) or asked.rstrip("/") + path
