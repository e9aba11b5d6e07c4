"""Locations of pages, and references with known targets.

The truth of the demo archive must not come from a resolver. A `Reference` is therefore made
together with the part of its target that it spells out, and with the part that it takes over from
its page's location. Its target is composed of these parts; the text written in the page is never
parsed.
"""

from dataclasses import dataclass, replace

from arclink.model import Scope


@dataclass(frozen=True, slots=True)
class Location:
    """A URI in parts, each in the serialisation of the WHATWG URL standard.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Host, with the port unless it is the scheme's default.
        directory: Path up to and including its last slash.
        name: Text after the last slash; may be empty.
        query: Query with its question mark; empty if the URI has no query.
    """

    scheme: str
    host: str
    directory: str = "/"
    name: str = ""
    query: str = ""

    @property
    def origin(self) -> str:
        """Scheme and host."""
        return f"{self.scheme}://{self.host}"

    @property
    def path(self) -> str:
        """Path and query: all text after the host."""
        return f"{self.directory}{self.name}{self.query}"

    @property
    def uri(self) -> str:
        """The URI as one string.

        >>> Location("http", "www.kalvik2010.example", "/torch/", "route.html").uri
        'http://www.kalvik2010.example/torch/route.html'
        """
        return self.origin + self.path


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in a page, and its target.

    Attributes:
        written: Unicode text, before it is escaped for HTML.
        scope: How much of its page's location it takes over.
        rest: Text after that part in the target, serialised, without fragment.
        climbs: Directories it goes up (``../``) before ``rest``; scope DIRECTORY only.
        elsewhere: Target on a page that is not ``http``, for references such as ``http:x``, which
            are relative on pages of their own scheme and absolute on others (WHATWG URL, *scheme
            state*).
    """

    written: str
    scope: Scope
    rest: str = ""
    climbs: int = 0
    elsewhere: str | None = None

    def target(self, location: Location) -> str:
        """Return its target, an absolute URI without fragment, when it is read at ``location``."""
        if self.elsewhere is not None and location.scheme != "http":
            return self.elsewhere
        match self.scope:
            case Scope.NONE:
                return self.rest
            case Scope.SCHEME:
                return f"{location.scheme}:{self.rest}"
            case Scope.ORIGIN:
                return location.origin + self.rest
            case Scope.DIRECTORY:
                return location.origin + _climb(location.directory, self.climbs) + self.rest
            case Scope.PATH:
                return location.origin + location.directory + location.name + self.rest
            case Scope.DOCUMENT:
                return location.uri


@dataclass(frozen=True, slots=True)
class BaseElement:
    """A ``<base href>``: the location at which the references of its page are read.

    Attributes:
        written: Text in the page.
        scope: How much of the page's own location it takes over. DOCUMENT is for a base that
            changes
            nothing: ``#f``, or one that HTML ignores, such as ``javascript:``.
        location: The parts that it does not take over; with scope DIRECTORY, its directory is below
            the page's.
    """

    written: str
    scope: Scope
    location: Location

    def at(self, page: Location) -> Location:
        """Return the location at which references are read in a page at ``page``."""
        match self.scope:
            case Scope.NONE:
                return self.location
            case Scope.SCHEME:
                return replace(self.location, scheme=page.scheme)
            case Scope.ORIGIN:
                return replace(self.location, scheme=page.scheme, host=page.host)
            case Scope.DIRECTORY:
                return replace(
                    page,
                    directory=page.directory + self.location.directory,
                    name=self.location.name,
                    query=self.location.query,
                )
            case Scope.PATH:
                return replace(page, query=self.location.query)
            case Scope.DOCUMENT:
                return page


def _climb(directory: str, climbs: int) -> str:
    """Return the directory ``climbs`` levels up; the root has no parent.

    >>> _climb("/a/b/", 1), _climb("/a/", 5)
    ('/a/', '/')
    """
    for _ in range(climbs):
        directory = directory.rstrip("/").rpartition("/")[0] + "/"
    return directory


def absolute(target: Location, fragment: str = "") -> Reference:
    """Return ``https://host/x`` for ``target``."""
    return Reference(target.uri + fragment, Scope.NONE, target.uri)


def opaque(uri: str) -> Reference:
    """Return a reference with another scheme, such as ``mailto:``, whose target is itself."""
    return Reference(uri, Scope.NONE, uri)


def scheme_relative(target: Location, fragment: str = "") -> Reference:
    """Return ``//host/x``, whose target has the scheme of the page."""
    rest = f"//{target.host}{target.path}"
    return Reference(rest + fragment, Scope.SCHEME, rest)


def origin_relative(path: str, fragment: str = "") -> Reference:
    """Return ``/x`` for a path that begins with a slash."""
    return Reference(path + fragment, Scope.ORIGIN, path)


def directory_relative(rest: str, climbs: int = 0, fragment: str = "") -> Reference:
    """Return ``x`` or ``../x``, or ``./`` if there is no text to write."""
    written = "../" * climbs + rest
    return Reference((written or "./") + fragment, Scope.DIRECTORY, rest, climbs)


def path_relative(query: str) -> Reference:
    """Return ``?q``."""
    return Reference(query, Scope.PATH, query)


def same_document(fragment: str = "") -> Reference:
    """Return the reference ``#f``, or the empty reference."""
    return Reference(fragment, Scope.DOCUMENT)


def between(directory: str, target: Location) -> Reference:
    """Return the shortest directory-relative reference to ``target``, on the same host.

    >>> between("/a/b/", Location("http", "h", "/a/c/", "x")).written
    '../c/x'
    """
    ours, theirs = directory.split("/")[1:-1], target.directory.split("/")[1:-1]
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
        shared += 1
    rest = "".join(part + "/" for part in theirs[shared:]) + target.name + target.query
    return directory_relative(rest, len(ours) - shared)


# Bytes that WHATWG percent-encodes in queries of http and https, besides controls and non-ASCII
# bytes.
_QUERY_ENCODED = frozenset(b" \"#<>'")


def encoded_query(text: str, codec: str) -> str:
    r"""Return the characters of a query as a page in ``codec`` sends them.

    A character outside the charset becomes ``&#n;``, itself encoded. ASCII bytes are not changed,
    even as the second half of a character: in Shift_JIS, the last character of the example ends in
    a backslash.

    Source:
        WHATWG URL, *percent-encode after encoding*; UTF-16 pages send UTF-8 (WHATWG Encoding,
        *output encodings*).

    >>> encoded_query("Müller", "cp1252"), encoded_query("☃", "cp1252")
    ('M%FCller', '%26%239731%3B')
    >>> encoded_query("表", "shift_jis")
    '%95\\'
    """
    codec = "utf-8" if codec.startswith("utf") else codec
    pieces = []
    for character in text:
        try:
            sent = character.encode(codec)
        except UnicodeEncodeError:
            pieces.append(f"%26%23{ord(character)}%3B")
            continue
        pieces.extend(
            chr(byte) if 0x21 <= byte <= 0x7E and byte not in _QUERY_ENCODED else f"%{byte:02X}"
            for byte in sent
        )
    return "".join(pieces)


def encoded_path(text: str) -> str:
    """Return the characters of a path in the WHATWG URL serialisation, which is always UTF-8.

    >>> encoded_path("/blå løype/{1}")
    '/bl%C3%A5%20l%C3%B8ype/%7B1%7D'
    """
    kept = frozenset(range(0x21, 0x7F)) - frozenset(b'"#<>?^`{}')
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in text.encode())
