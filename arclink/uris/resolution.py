"""Resolving links: their targets, the part of the page's URI they depend on, and the *cut*.

Strategy: most references are plain (``/path``, ``http://host/path``, ``x.html``, of characters that
no step of the URL parser changes), so their target is a concatenation. The scanner
``arclink/native/resolution.pyx`` finds them, and a test compares it with the parser. All other
references go to the parser, ada, and so does every reference if the scanner is not compiled.

A URI of an archived page has five *fields*: scheme, origin, directory, name and query. A *cut* is
the first few of them. Pages with the same payload and the same cut share one list of links::

    http://user@host:8080/a/b/c.html?q
    [s-]  [--- origin ---][dir][name][q]
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha1
from zlib import crc32

from arclink.errors import UriError
from arclink.model import Checksum, ContentId, Scope, UriR
from arclink.native import native
from arclink.reasons import Reason

_MAX_URI_LENGTH = 64 * 1024
"""Maximum characters of a target; a longer one is a mistake or a trap: counted, but not kept."""

SPECIAL_SCHEMES = frozenset({"http", "https", "ftp", "file", "ws", "wss"})
"""URL Standard, *special scheme*: URIs with an authority, in which ``\\`` is equal to ``/``."""

UriFields = tuple[str, str, str, str, str]
"""Scheme, origin, directory, name, query."""

_CLEANED_AWAY = re.compile(r"[\t\n\r]")
_WRITTEN_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_FIELDS = re.compile(r"([^:]+):(//[^/?]*|/\.(?=//)|)((?:/[^?]*)?/|)([^/?]*)(\?.*|)", re.DOTALL)
_NEEDS_CLEANING = "/\\\t\n\r"  # also matches the end: the empty string is in every string
_SURROGATE = re.compile("[\ud800-\udfff]")

C0_OR_SPACE = "".join(map(chr, range(0x21)))
"""Characters that a URL loses at both ends; it keeps other blanks (URL Standard, section 4.4)."""


def class_of(reference: str, scheme: str) -> Scope:
    r"""Return the part of the page's URI that a reference depends on if there is no base element.

    The answer is the same for every special scheme, so it holds at every URI where the payload
    was captured: ``http:x`` is relative only on a page with that scheme, but is `Scope.DIRECTORY`
    on all pages.

    Args:
        reference: As written; cleaned here in the same way as in the URL parser.
        scheme: Scheme of the page, lower case, without colon.

    Source:
        URL Standard, *basic URL parser*: scheme, relative and relative slash state;
        ``docs/explanation/data-model.md``, *Content*.

    >>> [class_of(reference, "http").name for reference in ("/x", " ?q", "mailto:a@b")]
    ['ORIGIN', 'PATH', 'NONE']
    """
    first = reference[:1]
    if first == "/" and reference[1:2] not in _NEEDS_CLEANING:
        return Scope.ORIGIN
    if first.isalnum() and ":" not in reference:
        return Scope.DIRECTORY
    if reference.startswith(("http://", "https://")):
        return Scope.NONE
    return _class_of_cleaned(_clean(reference), scheme)


def _class_of_cleaned(rest: str, scheme: str) -> Scope:
    written = _WRITTEN_SCHEME.match(rest)
    if written:
        if written[1].lower() not in SPECIAL_SCHEMES:
            return Scope.NONE
        rest = rest[written.end() :]
        scheme = "http"
    slashes = "/\\" if scheme in SPECIAL_SCHEMES else "/"
    if not rest or rest[0] == "#":
        return Scope.DOCUMENT
    if rest[0] == "?":
        return Scope.PATH
    if rest[0] not in slashes:
        return Scope.DIRECTORY
    if rest[1:2] not in slashes or len(rest) == 1:
        return Scope.ORIGIN
    return Scope.NONE if written else Scope.SCHEME


def joined(base: str, reference: str) -> str:
    """Return a reference that leads from any page to the target that ``reference`` has from a base.

    So the bases of a document, each relative to the one around it, need not be resolved before the
    page's URI is known, and `class_of` the result is the smallest class of all of them.

    Args:
        base: As written, relative to the page; empty for the page itself.
        reference: As written, relative to the base.

    Raises:
        UriError: ``LINK_INVALID``: the reference is relative and the base has an opaque path, as
            ``mailto:`` has.

    Source:
        URL Standard, *basic URL parser*. Not exact for a reference such as ``http:x``, which is
        relative only on pages with this scheme, and for a base on a drive of ``file:``.

    >>> joined("/b/", "c/"), joined("/b/c/", "../x?y"), joined("b?q", "#f"), joined("//h", "x")
    ('/b/c/', '/b/c/../x?y', 'b?q#f', '//h/x')
    """
    base, reference = _clean(base).partition("#")[0], _clean(reference)
    scheme, authority, path = _parts(base)
    own = class_of(reference, scheme[:-1] or "http")
    written = _WRITTEN_SCHEME.match(reference)
    if own is Scope.NONE or not base or (written and scheme not in ("", written[0].lower())):
        return reference
    rest = reference[written.end() :] if written else reference
    if scheme and not authority and path[:1] != "/" and rest[:1] != "#":
        raise UriError(Reason.LINK_INVALID, f"{_shown(reference)} with the base {_shown(base)}")
    if own is Scope.DOCUMENT:
        return base + (rest or "#")  # keeps a blank at the end of the base
    if own is Scope.SCHEME:
        return scheme + rest
    if own is Scope.ORIGIN:
        return scheme + authority + rest
    if own is Scope.PATH:
        return scheme + authority + path + rest if authority or path else rest
    directory, slash, name = path.rpartition("/")
    if name.lower().replace("%2e", ".") in (".", ".."):
        directory, slash = path, "/"
    return scheme + authority + directory + (slash or "/" * bool(authority)) + rest


def _parts(base: str) -> tuple[str, str, str]:
    """Return the scheme with its colon, the authority with its slashes, and the path of a base."""
    written = _WRITTEN_SCHEME.match(base)
    scheme = written[0].lower() if written else ""
    path = base[len(scheme) :].partition("?")[0]
    if scheme[:-1] in SPECIAL_SCHEMES or not scheme:
        path = path.replace("\\", "/")
        if path.startswith("//"):
            path = "//" + path.lstrip("/")  # further slashes have no meaning
        else:
            scheme = ""  # relative on a page with this scheme
    end = 0
    if path.startswith("//"):
        end = path.find("/", 2) if "/" in path[2:] else len(path)
    return scheme, path[:end], path[end:]


def scope_of(classes: Iterable[Scope]) -> Scope:
    """Return the scope of a content: the widest class of its links; `Scope.NONE` without links.

    Args:
        classes: Classes of the kept links; without links that lead to the same page.
    """
    return max(classes, default=Scope.NONE)


class Base:
    """The URI that the links of one page resolve against: of its base element, else of the page.

    Args:
        page: The URI as captured. If it is not a valid URL, only absolute references resolve.
        base_href: The ``href`` of the first base element that has one, as written; None if missing.
        charset: Charset of the page, by its name in the Encoding Standard; used for characters in
            queries that are not ASCII.
        limit: Maximum length of a target, in characters (nearly all are ASCII).

    Attributes:
        uri: The URI that references resolve against, without fragment; None if neither base nor
            page is a valid URL.
        usable: Whether ``base_href`` is a base: it is given, valid, and neither ``data:`` nor
            ``javascript:``.

    Source:
        HTML Standard, *document base URL*; URL Standard.
    """

    __slots__ = (
        "_charset",
        "_class",
        "_directory",
        "_limit",
        "_origin",
        "_scheme",
        "uri",
        "usable",
    )

    def __init__(
        self,
        page: UriR,
        base_href: str | None,
        charset: str = "utf-8",
        *,
        limit: int = _MAX_URI_LENGTH,
    ) -> None:
        self._limit = limit
        self._charset = charset
        self._stand_on(_normalize(page))
        self._class = Scope.DOCUMENT
        self.usable = False
        if base_href is not None:
            self._use(base_href)

    def _use(self, base_href: str) -> None:
        base_class = class_of(base_href, self._scheme)
        try:
            base = self.resolve(base_href)
        except UriError:
            return
        if base.startswith(("data:", "javascript:")):
            return
        self._stand_on(base)
        self._class = base_class
        self.usable = True

    def _stand_on(self, uri: str | None) -> None:
        self.uri = uri
        self._origin = self._directory = None
        self._scheme = "" if uri is None else uri[: uri.index(":")]
        # A path of file: may begin with a drive letter, which has its own rules; URIs of schemes
        # that are not special may have no path.
        if uri is not None and self._scheme in SPECIAL_SCHEMES and self._scheme != "file":
            scheme, origin, directory, _, _ = _fields(uri)
            self._origin = f"{scheme}:{origin}"
            self._directory = self._origin + directory

    def class_of(self, reference: str) -> Scope:
        """Return the part of the page's URI that a reference depends on.

        It is the smaller of the reference's own class and the class of the base. `Scope.DOCUMENT`
        means *same page*: the reference leads to the page itself, at any URI.
        """
        own = class_of(reference, self._scheme)
        return own if own < self._class else self._class

    def resolve(self, reference: str) -> UriR:
        """Return the absolute target of a reference in the URL Standard's form, without fragment.

        Raises:
            UriError: `Reason.LINK_INVALID` if it does not resolve, `Reason.LINK_TOO_LONG` if the
                target is too long.
        """
        return self.follow(reference)[0]

    def follow(self, reference: str) -> tuple[UriR, Scope]:
        """Return the results of `resolve` and `class_of` in one step: faster for most references.

        Raises:
            UriError: As `resolve`.
        """
        found = concatenated(reference, self._origin, self._directory) or self._from_above(
            reference
        )
        target, scope = found or (self._parsed(reference), None)
        if len(target) > self._limit:
            raise UriError(Reason.LINK_TOO_LONG, f"{len(target)} characters: {_shown(target)}")
        if scope is None:
            scope = class_of(reference, self._scheme)
        return UriR(target), scope if scope < self._class else self._class

    def _from_above(self, reference: str) -> tuple[str, Scope] | None:
        """Return the result of `concatenated` for ``../x``, ``../../x``; None for any other.

        Each ``../`` leaves one directory; at the root it has no effect.
        """
        if self._directory is None or self._origin is None or not reference.startswith("../"):
            return None
        root = len(self._origin) + 1
        directory = self._directory
        while reference.startswith("../"):
            reference = reference[3:]
            if len(directory) > root:
                directory = directory[: directory.rindex("/", 0, -1) + 1]
        found = concatenated(reference, self._origin, directory)
        return found if found and found[1] is Scope.DIRECTORY else None

    def _parsed(self, reference: str) -> str:
        written = reference
        if not reference.isascii():
            reference = self._with_encoded_query(_SURROGATE.sub("\ufffd", reference))
        import ada_url  # queries need no parser: its import costs more than their resolving

        try:
            href = (
                ada_url.normalize_url(reference)
                if self.uri is None
                else ada_url.join_url(self.uri, reference)
            )
        except ValueError as error:
            raise UriError(Reason.LINK_INVALID, _shown(written)) from error
        return href.partition("#")[0]

    def _with_encoded_query(self, reference: str) -> str:
        from arclink.uris.encodings import encode_query, output_encoding

        charset = output_encoding(self._charset)
        if charset is None:
            return reference
        head, sharp, fragment = reference.partition("#")
        path, mark, query = head.partition("?")
        written = _WRITTEN_SCHEME.match(_clean(reference))
        scheme = written[1].lower() if written else self._scheme
        if scheme not in SPECIAL_SCHEMES or scheme in ("ws", "wss"):
            return reference
        # Keep the fragment: without it, the parser would strip a blank at the end of the query.
        return path + mark + encode_query(query, charset) + sharp + fragment


@native("resolution")
def concatenated(
    reference: str, origin: str | None, directory: str | None
) -> tuple[str, Scope] | None:
    """Return the target of a plain reference, and its class; None if the parser is needed.

    It is also None if a part of the base is missing. Without the compiled module, every reference
    needs the parser.

    Args:
        reference: As written.
        origin: Scheme and origin of the base; None if no path follows them.
        directory: The base up to its last slash; None in the same cases.
    """
    return None


@lru_cache(maxsize=1024)  # called about five times per page
def fields_of(original: UriR) -> UriFields:
    """Return the fields of a URI, to sort and compare: pages with equal first fields are adjacent.

    They are the fields of its serialisation without fragment (URL Standard), with these exceptions.
    Each exception distinguishes URIs that resolve links differently:

    - not a valid URL: the raw text is the second field, the first is empty;
    - an opaque path (``mailto:a@b``): the whole URI is the first field, which then has a colon;
    - ``file:``: the whole path belongs to the origin, because ``/x`` depends on its drive letter.

    >>> fields_of(UriR("http://h:80/a/b.html?q#f"))
    ('http', '//h', '/a/', 'b.html', '?q')
    """
    uri = _normalize(original)
    return ("", original, "", "", "") if uri is None else _fields(uri)


PARTS = 32
"""Number of parts of the origins of a scheme, by a hash."""

_PLAIN_ORIGIN = re.compile(r"https?://[a-z0-9.-]+/")
"""The beginning of a URI that shows its origin without parsing the URI."""


def cut(original: UriR, scope: Scope) -> str:
    """Return the part of a page's URI that links of this scope depend on.

    Pages with equal cuts resolve these links to the same targets. A cut is the first fields of the
    URI, separated by newlines (which no valid URL contains), so that cuts of one scope are equal
    only if all fields are equal. It is empty for `Scope.NONE`.

    >>> uris = (UriR("http://h/a/b.html"), UriR("HTTP://h:80/a/"))
    >>> len({cut(uri, Scope.DIRECTORY) for uri in uris})
    1
    """
    return "\n".join(fields_of(original)[:scope]) if scope else ""


def part_of_origin(original: UriR) -> tuple[str, str]:
    """Return a scheme, and the part of its origins that the origin of a URI is in.

    URIs with equal cuts of `Scope.SCHEME` have the same scheme; those with equal cuts of
    `Scope.ORIGIN` or beyond also have the same part. All schemes except HTTP and HTTPS, which may
    be any number, are one scheme of one part.

    >>> part_of_origin(UriR("http://h/a/b.html")) == part_of_origin(UriR("HTTP://h:80/c"))
    True
    """
    plain = _PLAIN_ORIGIN.match(original)
    return _part_of_origin(UriR(plain[0]) if plain else original)


@lru_cache(maxsize=1024)
def _part_of_origin(original: UriR) -> tuple[str, str]:
    scheme = cut(original, Scope.SCHEME)
    if scheme not in ("http", "https"):
        return "other", ""
    return scheme, f"{crc32(cut(original, Scope.ORIGIN).encode()) % PARTS:02x}"


@lru_cache(maxsize=1024)  # the pages of a site have few cuts
def _digest_of(cut: str) -> str:
    # A raw original may contain any character, also lone surrogates.
    return sha1(cut.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]


def content_id(checksum: Checksum, original: UriR, scope: Scope) -> ContentId:
    """Return the vertex of a payload captured at ``original``.

    It is the checksum alone, or, if the links depend on the page's URI, the checksum with 16 hex
    digits of SHA-1 of the cut.

    >>> content_id(Checksum("ABC"), UriR("http://h/a"), Scope.NONE)
    'ABC'
    >>> content_id(Checksum("ABC"), UriR("http://h/a"), Scope.ORIGIN)
    'ABC-34ed37a6987e402e'
    """
    if scope is Scope.NONE:
        return ContentId(checksum)
    return ContentId(f"{checksum}-{_digest_of(cut(original, scope))}")


_CUT = re.compile("(.*)-[0-9a-f]{16}", re.DOTALL)


def checksum_of(content: ContentId) -> Checksum:
    """Return the checksum of a vertex.

    No checksum ends like a cut, because `arclink.checksums.normal_checksum` encodes such an end.

    >>> checksum_of(ContentId("ABC-34ed37a6987e402e"))
    'ABC'
    """
    found = _CUT.fullmatch(content)
    return Checksum(found[1] if found else content)


def serialised(original: UriR) -> UriR:
    """Return the URI of a page in the form of link targets, so that both can be joined.

    The form is the serialisation of the URL Standard, without fragment. A text that is not a valid
    URL is returned unchanged.

    >>> serialised(UriR("HTTP://H:80/a b#c")), serialised(UriR("no url"))
    ('http://h/a%20b', 'no url')
    """
    return UriR(_normalize(original) or original)


@lru_cache(maxsize=1024)
def _normalize(uri: str) -> str | None:
    """Return the serialisation of an absolute URI without fragment; None if it is not valid."""
    plain = concatenated(uri, None, None)
    if plain is not None:
        return plain[0]
    import ada_url

    # Drop the fragment: with one that is not ASCII, the parser treats ASCII hosts differently.
    # Keep its "#": a blank before it counts.
    before, sharp, _ = uri.partition("#")
    try:
        return ada_url.normalize_url(before + sharp).partition("#")[0]
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _fields(uri: str) -> UriFields:
    """Return the fields of a serialised URI without fragment."""
    if uri.startswith(("http://", "https://")):  # nearly all; these have a host and a path
        scheme, _, rest = uri.partition(":")
        rest, mark, query = rest.partition("?")
        host = rest.index("/", 2)
        end = rest.rindex("/") + 1
        return (scheme, rest[:host], rest[host:end], rest[end:], mark + query)
    match = _FIELDS.fullmatch(uri)
    if match is None or uri[match.end(1) + 1 : match.end(1) + 2] != "/":
        return (uri, "", "", "", "")
    scheme, origin, directory, name, query = match.groups()
    if scheme == "file":
        return (scheme, origin + directory + name, "", "", query)
    return (scheme, origin, directory, name, query)


def _clean(reference: str) -> str:
    """Return a reference as the URL parser reads it, without C0 controls and spaces at its ends.

    Tabs and newlines are removed everywhere.
    """
    return _CLEANED_AWAY.sub("", reference.strip(C0_OR_SPACE))


def _shown(text: str) -> str:
    return ascii(text[:200])
