"""Where pages stand, and references that know where they lead without being resolved.

The truth of the demo archive must not come from a resolver. So a `Reference` is made together with the part of its
target that it spells out, and with how much it takes over from the place it is read at. Its target is put together
from these parts; what is written in the page is never read again.
"""

from dataclasses import dataclass, replace

from arclink.model import Scope


@dataclass(frozen=True, slots=True)
class Location:
    """A URI in its parts, each as the WHATWG URL standard serialises it.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Host, and port unless it is the scheme's own.
        directory: Path up to its last slash, which belongs to it.
        name: What follows the last slash; may be empty.
        query: With its question mark; empty if there is none.
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
        """Everything behind the host."""
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
    """A reference as it stands in a page, and where it leads.

    Attributes:
        written: Unicode, before it is escaped for HTML.
        scope: How much of the place it is read at it takes over.
        rest: What follows that part in the target, serialised, without fragment.
        climbs: Directories it goes up (``../``) before ``rest``; scope DIRECTORY only.
        elsewhere: Target on a page that is not ``http``, for references such as ``http:x``, which are relative on
            pages of their own scheme and absolute on others (WHATWG URL, *scheme state*).
    """

    written: str
    scope: Scope
    rest: str = ""
    climbs: int = 0
    elsewhere: str | None = None

    def target(self, place: Location) -> str:
        """Return the absolute URI without fragment that it leads to when it is read at ``place``."""
        if self.elsewhere is not None and place.scheme != "http":
            return self.elsewhere
        match self.scope:
            case Scope.NONE:
                return self.rest
            case Scope.SCHEME:
                return f"{place.scheme}:{self.rest}"
            case Scope.ORIGIN:
                return place.origin + self.rest
            case Scope.DIRECTORY:
                return place.origin + climb(place.directory, self.climbs) + self.rest
            case Scope.PATH:
                return place.origin + place.directory + place.name + self.rest
            case Scope.DOCUMENT:
                return place.uri


@dataclass(frozen=True, slots=True)
class Base:
    """A ``<base href>``: where the references of its page are read at.

    Attributes:
        written: As it stands in the page.
        scope: How much of the page's own place it takes over.
            DOCUMENT is for a base that changes nothing: ``#f``, or one that HTML ignores, as ``javascript:``.
        place: The parts that it does not take over; with scope DIRECTORY its directory is below the page's.
    """

    written: str
    scope: Scope
    place: Location

    def at(self, page: Location) -> Location:
        """Return where references are read at in a page that stands at ``page``."""
        match self.scope:
            case Scope.NONE:
                return self.place
            case Scope.SCHEME:
                return replace(self.place, scheme=page.scheme)
            case Scope.ORIGIN:
                return replace(self.place, scheme=page.scheme, host=page.host)
            case Scope.DIRECTORY:
                return replace(page, directory=page.directory + self.place.directory, name=self.place.name, query=self.place.query)
            case Scope.PATH:
                return replace(page, query=self.place.query)
            case Scope.DOCUMENT:
                return page


def climb(directory: str, climbs: int) -> str:
    """Return the directory ``climbs`` levels up; the root has none above it.

    >>> climb("/a/b/", 1), climb("/a/", 5)
    ('/a/', '/')
    """
    for _ in range(climbs):
        directory = directory.rstrip("/").rpartition("/")[0] + "/"
    return directory


def absolute(target: Location, fragment: str = "") -> Reference:
    """Return ``https://host/x`` for ``target``."""
    return Reference(target.uri + fragment, Scope.NONE, target.uri)


def opaque(uri: str) -> Reference:
    """Return a reference of another scheme, such as ``mailto:``, that stands for itself."""
    return Reference(uri, Scope.NONE, uri)


def scheme_relative(target: Location, fragment: str = "") -> Reference:
    """Return ``//host/x``: the target's scheme is that of the page."""
    rest = f"//{target.host}{target.path}"
    return Reference(rest + fragment, Scope.SCHEME, rest)


def origin_relative(path: str, fragment: str = "") -> Reference:
    """Return ``/x`` for a path that begins with a slash."""
    return Reference(path + fragment, Scope.ORIGIN, path)


def directory_relative(rest: str, climbs: int = 0, fragment: str = "") -> Reference:
    """Return ``x``, ``../x``, or ``./`` when there is nothing to write."""
    written = "../" * climbs + rest
    return Reference((written or "./") + fragment, Scope.DIRECTORY, rest, climbs)


def path_relative(query: str, fragment: str = "") -> Reference:
    """Return ``?q``."""
    return Reference(query + fragment, Scope.PATH, query)


def same_document(fragment: str = "") -> Reference:
    """Return ``#f``, or the empty reference."""
    return Reference(fragment, Scope.DOCUMENT)


def between(directory: str, target: Location) -> Reference:
    """Return the shortest directory-relative reference from ``directory`` to ``target`` on the same host.

    >>> between("/a/b/", Location("http", "h", "/a/c/", "x")).written
    '../c/x'
    """
    ours, theirs = directory.split("/")[1:-1], target.directory.split("/")[1:-1]
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
        shared += 1
    rest = "".join(part + "/" for part in theirs[shared:]) + target.name + target.query
    return directory_relative(rest, len(ours) - shared)


# Bytes of a query that WHATWG percent-encodes for http and https, beside controls and all above ASCII.
QUERY_ENCODED = frozenset(b" \"#<>'")


def encoded_query(text: str, codec: str) -> str:
    r"""Return the characters of a query as a page in ``codec`` sends them.

    A character that the charset does not hold becomes ``&#n;``, itself encoded. ASCII bytes stay as they are, also
    those that are the second half of a character: Shift_JIS has a backslash in the last character of the example.

    Source:
        WHATWG URL, *percent-encode after encoding*; UTF-16 pages send UTF-8 (WHATWG Encoding, *output encodings*).

    >>> encoded_query("Müller", "cp1252"), encoded_query("☃", "cp1252"), encoded_query("表", "shift_jis")
    ('M%FCller', '%26%239731%3B', '%95\\')
    """
    codec = "utf-8" if codec.startswith("utf") else codec
    pieces = []
    for character in text:
        try:
            sent = character.encode(codec)
        except UnicodeEncodeError:
            pieces.append(f"%26%23{ord(character)}%3B")
            continue
        pieces.extend(chr(byte) if 0x21 <= byte <= 0x7E and byte not in QUERY_ENCODED else f"%{byte:02X}" for byte in sent)
    return "".join(pieces)


def encoded_path(text: str) -> str:
    """Return the characters of a path as the WHATWG URL standard serialises them: always UTF-8.

    >>> encoded_path("/blå løype/{1}")
    '/bl%C3%A5%20l%C3%B8ype/%7B1%7D'
    """
    kept = frozenset(range(0x21, 0x7F)) - frozenset(b'"#<>?^`{}')
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in text.encode())
