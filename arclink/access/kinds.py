"""Which links a query wants: groups of link kinds, and filters.

With each count, ArcLink reports which of them it counted.

A kind is the element and attribute that a link is written in (``a@href``). The tables below put
every kind into exactly one group. A kind that no table names is in ``other``: a WAT may name any
attribute, and a crawler any kind of its own. To add a kind, add one line to one table. A group says
what the link is *for*:

- ``navigation``: links that a reader can follow: anchors, image maps, redirects, frames, entries of
  feeds;
- ``resources``: parts of a page, feed or entry: style sheets, scripts, icons, images, sound, video;
- ``other``: all other links: targets of forms (they need input), sources of quotations and
  addresses for programs, which no reader sees, links that browsers do not show (``template@…``) or
  do not follow (``noscript@refresh``), and guesses of a crawler.

``link@href`` is one kind, whatever its ``rel`` is: most of these links are style sheets and icons.

Filters have the syntax of CDX servers: ``[!][=~]field:value``. Without a sign, the field must
contain the value. With ``=`` it must equal the value; with ``~`` a regular expression must match
from the start of the field. ``!`` negates the filter. Regular expressions have RE2 syntax. RE2
takes linear time for every expression, so a client's expression cannot keep a worker busy.

Source: pywb, *CDXJ Server API* (``filter``); RE2, *Syntax*.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Self

from arclink.access.texts import printable
from arclink.model import Kind, UriR
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of


class KindGroup(Enum):
    """The groups, by their names in the parameter ``kinds``."""

    NAVIGATION = "navigation"
    RESOURCES = "resources"
    OTHER = "other"


TABLES: Final[Mapping[KindGroup, tuple[str, ...]]] = {
    KindGroup.NAVIGATION: (
        "a@href",
        "a@data-href",
        "area@href",
        "article@data-href",
        "button@data-href",
        "div@data-href",
        "li@data-href",
        "span@data-href",
        "td@data-href",
        "tr@data-href",
        "frame@src",
        "iframe@src",
        "iframe@data-src",
        "http@location",
        "http@refresh",
        "http@delayed-refresh",
        "meta@refresh",
        "meta@delayed-refresh",
        "rss@link",
        "rss@guid",
        "rss@comments",
        "atom@link",
        "media@player",
    ),
    KindGroup.RESOURCES: (
        "link@href",
        "link@imagesrcset",
        "link@data-href",
        "script@src",
        "script@data-src",
        "img@src",
        "img@srcset",
        "img@data-src",
        "img@data-srcset",
        "img@data-original",
        "img@data-lazy-src",
        "image@href",
        "use@href",
        "feimage@href",
        "script@href",
        "input@src",
        "body@background",
        "table@background",
        "thead@background",
        "tbody@background",
        "tfoot@background",
        "tr@background",
        "td@background",
        "th@background",
        "source@src",
        "source@srcset",
        "source@data-src",
        "source@data-srcset",
        "video@src",
        "video@poster",
        "video@data-src",
        "video@data-poster",
        "audio@src",
        "audio@data-src",
        "track@src",
        "embed@src",
        "object@data",
        "rss@url",
        "rss@enclosure",
        "atom@content",
        "atom@icon",
        "atom@logo",
        "media@content",
        "media@thumbnail",
        "sitemap@image",
        "sitemap@video",
    ),
    KindGroup.OTHER: (
        "form@action",
        "input@formaction",
        "button@formaction",
        "blockquote@cite",
        "q@cite",
        "del@cite",
        "ins@cite",
        "http@link",
        "rss@source",
        "atom@uri",
        "sitemap@loc",
        "sitemap@link",
        "noscript@refresh",
        "template@action",
        "template@background",
        "template@cite",
        "template@data",
        "template@data-href",
        "template@data-lazy-src",
        "template@data-original",
        "template@data-poster",
        "template@data-src",
        "template@data-srcset",
        "template@formaction",
        "template@href",
        "template@imagesrcset",
        "template@poster",
        "template@refresh",
        "template@src",
        "template@srcset",
    ),
}
"""The kinds of each group."""

_GROUP_OF: Final = {Kind(kind): group for group, kinds in TABLES.items() for kind in kinds}
_NAMED: Final = {
    group: frozenset(kind for kind, of in _GROUP_OF.items() if of is group) for group in KindGroup
}


def group_of(kind: Kind) -> KindGroup:
    """Return the group of a kind.

    >>> group_of(Kind("a@href")).value, group_of(Kind("guess@js")).value
    ('navigation', 'other')
    """
    return _GROUP_OF.get(kind, KindGroup.OTHER)


@dataclass(frozen=True, slots=True)
class Kinds:
    """A set of link kinds; make it with `of`, `in_group` or `parse_kinds`.

    Attributes:
        named: The kinds in the set that a table or the caller names.
        has_unnamed: Whether all kinds that no table names are in the set, too.
    """

    named: frozenset[Kind]
    has_unnamed: bool = False

    @classmethod
    def of(cls, *names: str) -> Self:
        """Return the set of these kinds."""
        return cls(frozenset(map(Kind, names)))

    @classmethod
    def in_group(cls, group: KindGroup) -> Self:
        """Return the set of all kinds of a group."""
        return cls(_NAMED[group], group is KindGroup.OTHER)

    def __contains__(self, kind: Kind) -> bool:
        return kind in self.named or (self.has_unnamed and kind not in _GROUP_OF)

    def __or__(self, other: "Kinds") -> "Kinds":
        """Return the union of both sets; equal unions compare equal, however they were created."""
        named = self.named | other.named
        has_unnamed = self.has_unnamed or other.has_unnamed
        return Kinds(named & frozenset(_GROUP_OF) if has_unnamed else named, has_unnamed)

    @property
    def is_all(self) -> bool:
        """Whether the set contains every kind."""
        return self.has_unnamed and len(self.named) == len(_GROUP_OF)

    @property
    def words(self) -> tuple[str, ...]:
        """The words for `parse_kinds` that name this set: ``all``, or groups and kinds, sorted.

        >>> parse_kinds("img@src").words, (NAVIGATION | parse_kinds("img@src")).words
        (('img@src',), ('navigation', 'img@src'))
        """
        if self.is_all:
            return (_ALL,)
        groups = [
            group
            for group in KindGroup
            if self.named >= _NAMED[group] and (group is not KindGroup.OTHER or self.has_unnamed)
        ]
        single = self.named.difference(*(_NAMED[group] for group in groups))
        return (*(group.value for group in groups), *sorted(single))

    def __str__(self) -> str:
        """Return its words, separated by a comma and a space."""
        return ", ".join(self.words)


_NO_KINDS: Final = Kinds(frozenset())
ALL_KINDS: Final = Kinds(frozenset(_GROUP_OF), has_unnamed=True)
NAVIGATION: Final = Kinds.in_group(KindGroup.NAVIGATION)
"""The links that a reader can follow: the default wherever the graph is analysed or drawn."""

_ALL: Final = "all"
WORDS: Final = (*(group.value for group in KindGroup), _ALL)
"""The words that mean several kinds: the groups and ``all``."""


def parse_kinds(word: str) -> Kinds:
    """Return the kinds that one word names: a group, ``all``, or a kind.

    >>> parse_kinds("all").is_all, Kind("guess@js") in parse_kinds("other")
    (True, True)
    """
    if word == _ALL:
        return ALL_KINDS
    if word in WORDS:
        return Kinds.in_group(KindGroup(word))
    return Kinds.of(word)


def union_of(several: Iterable[Kinds]) -> Kinds:
    """Return the kinds that belong to any of several sets."""
    union = _NO_KINDS
    for kinds in several:
        union |= kinds
    return union


def kinds_line(kinds: Kinds) -> str:
    """Return a sentence for users that says which kinds of links were counted.

    >>> kinds_line(NAVIGATION)
    'Links of these kinds count: navigation (what a reader can follow).'
    """
    if kinds.is_all:
        return "Links of all kinds count."
    what = " (what a reader can follow)" if kinds == NAVIGATION else ""
    return f"Links of these kinds count: {kinds}{what}."


def others_line(kinds: Kinds, others: int) -> str:
    """Return a sentence for users: the answer is empty because only links of other kinds exist.

    Args:
        kinds: The kinds that count.
        others: Number of links of other kinds; at least one.
    """
    links = "1 link is" if others == 1 else f"{others:,} links are"
    return (
        f"No link has one of these kinds ({kinds}); {links} of other kinds; --kinds all "
        "includes them."
    )


_OF_END: Final = ("uri", "surt", "host")
"""Fields of the other end of a link."""
_OF_LINK: Final = ("kind", "text", "rel")
"""Fields of the link itself."""

LONGEST: Final = 1_000
MOST: Final = 20

PATTERN: Final = rf"!?[=~]?({'|'.join((*_OF_END, *_OF_LINK))}):[^\x00-\x1f]{{0,{LONGEST}}}"
ALLOWED: Final = (
    f"[!][=~]field:value, with a field of {', '.join((*_OF_END, *_OF_LINK))} and a value of at "
    f"most {LONGEST:,} characters"
)

_WRITTEN = re.compile(r"(!?)([=~]?)([a-z]+):(.*)", re.DOTALL)
_MEMORY: Final = 1 << 20
"""Memory limit for one expression and its compiled form, in bytes."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter. Two filters with the same text are equal.

    Attributes:
        text: The filter as the caller wrote it.
        name: The name of the field.
        passes: Returns whether a value of the field passes.
    """

    text: str
    name: str
    passes: Callable[[str], bool] = field(compare=False)

    def passes_link(self, kind: Kind, text: str, rel: str | None) -> bool:
        """Return whether a link passes; True if the filter is about the other end of the link."""
        match self.name:
            case "kind":
                return self.passes(kind)
            case "text":
                return self.passes(text)
            case "rel":
                return self.passes(rel or "")
            case _:
                return True

    def passes_end(self, uri: UriR) -> bool:
        """Return whether a link to or from ``uri`` passes; True for filters of the link itself."""
        match self.name:
            case "uri":
                return self.passes(uri)
            case "surt":
                return self.passes(surt_of(uri))
            case "host":
                return self.passes(host_of(surt_of(uri)))
            case _:
                return True


def parse_filter(text: str) -> Filter:
    """Return the filter in ``text``, which has the form of `PATTERN`.

    Raises:
        ValueError: Its value is not a regular expression.

    >>> parse_filter("!=text:News").passes("News")
    False
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise ValueError
    is_not, how, name, value = written.groups()
    passes = {"": lambda found: value in found, "=": lambda found: found == value}.get(
        how
    ) or _expression(value)
    return Filter(text, name, (lambda found: not passes(found)) if is_not else passes)


def _expression(pattern: str) -> Callable[[str], bool]:
    import re2  # needed only for regular expressions

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        why = error.args[0]
        why = why.decode(errors="replace") if isinstance(why, bytes) else error
        raise ValueError(f"not a regular expression of RE2: {why}") from error
    return lambda found: compiled.match(printable(found)) is not None
