"""A question as a value, and the parameters that it is read from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, Self

from arclink.access.capabilities import Capability
from arclink.access.declarations import (
    COMMON_TO_FOLLOW,
    FROM,
    TO,
    UNTIL,
    AnyParameter,
    BadParameterError,
    ConflictError,
    DeclaredQuery,
    Form,
    Given,
    Parameter,
    Redirects,
    choice,
    limit_to,
    span_of,
    switch,
    whole_number,
)
from arclink.access.kinds import NAVIGATION, Kinds
from arclink.access.queries import (
    EVERYTHING,
    LONGEST_URI,
    URI,
    MatchType,
    as_written,
    surt_asked,
)
from arclink.access.tallies import MOST_ROWS
from arclink.access.texts import printable, printable_uri
from arclink.access.words import TERMS
from arclink.analysis.matrices.slices import EVER, WINDOWS, Level, Windows
from arclink.analysis.questions.table import QUESTIONS, Question, QuestionScope, question_called
from arclink.analysis.relations.parts import ARCHIVE, LAST, WebPart
from arclink.model import ALL_TIME, Kind, Span
from arclink.uris.hosts import host_of
from arclink.uris.surts import QUERY_PATTERN

_MOST_ADDRESSES = 100_000
"""Largest number of addresses in one question."""

_OF_MATCH: Mapping[MatchType, QuestionScope] = {
    MatchType.EXACT: QuestionScope.PAGE,
    MatchType.PREFIX: QuestionScope.PREFIX,
    MatchType.HOST: QuestionScope.HOST,
    MatchType.DOMAIN: QuestionScope.DOMAIN,
}


def _address(text: str) -> str:
    """Return an address without blanks around it.

    Raises:
        ValueError: It is no address but words, or several hosts in one text.
    """
    if " " in text.strip() and "://" not in text:
        raise ValueError(
            "words are no address; the question `find` takes them as --words, over HTTP and in "
            "Python as words"
        )
    URI.form.read(as_written(text)[0])
    host, comma, _ = text.strip().partition("/")[0].partition(",")
    if comma and ")" not in text and "://" not in text:
        raise ValueError(f"give several addresses one by one: first {host}, then the others")
    return text.strip()


ADDRESSES: Parameter[str] = Parameter(
    "uri",
    "The address that the question is about: a page, http://example.org/news/* for all that begin "
    "like it, or *.example.org for a host and all hosts below it. None, or *, for the whole "
    "archive; several for a row about each of them.",
    Form(
        "an address such as http://example.org/, http://example.org/* or *.example.org, of at "
        f"most {LONGEST_URI:,} characters",
        {**URI.form.schema, "pattern": rf"^(?:\*\.)?(?:{QUERY_PATTERN})\*?$"},
        _address,
    ),
    is_list=True,
    also=("url",),
    is_positional=True,
    metavar="[URI]...",
    fields=(),
)
SCOPE = Parameter(
    "scope",
    "What of the address is meant: the page, all pages that begin like it, its host, its host and "
    "all hosts below it (domain), or everything (archive).",
    choice(QuestionScope),
    also=("at",),
    otherwise="what the address says with or without an asterisk; archive without an address",
    fields=(),
)
LEVEL = Parameter(
    "level",
    "How pages are named in rows: each by its URI, or together as hosts or registered domains. It "
    "makes no difference to questions whose rows are something else.",
    choice(Level),
    otherwise="the level of the question",
    fields=(),
)
BY = Parameter(
    "by",
    "Rows for each day, month or year of capture, or for each window of time that is listed.",
    WINDOWS,
    metavar="WINDOWS",
    otherwise="all time together, unless the question is about periods",
    fields=(),
)
EXTERNAL = switch(
    "external",
    "Only links from other sites: from other hosts; at the level of domains, from other domains; "
    "to a domain, from outside of it. Addresses without a host, such as mailto:, are no sites.",
    field="is_external",
)
_NEW = switch(
    "new",
    "Only links that an earlier capture of the page did not have, in `survival`: the age of others "
    "is not known.",
    field="is_new",
)
WORDS = Parameter(
    "words",
    "The words that `find`, `search`, `frequency` and `first-said` look for: words, phrases in "
    'quotation marks such as "queryable state", and beginnings of words with an asterisk such as '
    "stream*. In addresses, `find` finds parts of words, too.",
    TERMS,
    metavar="WORDS",
    otherwise="every page",
)


class Term(Enum):
    """The unit of counting: whole texts, or their words."""

    TEXT = "text"
    WORD = "word"


TERM = Parameter(
    "of",
    "What `typical-anchors` counts: whole texts of links, or their words.",
    choice(Term),
    default="text",
    fields=("term",),
)
_BY_DATE = switch(
    "by-date",
    "In `search`: pages that said it last come first.",
    field="is_by_date",
)
MIN_HOSTS = Parameter(
    "min-hosts",
    "Only rows with at least this number of linking hosts, in questions that count these.",
    whole_number(999_999_999),
    default="0",
    metavar="N",
)
LIMIT = limit_to(MOST_ROWS, 50)

_EARLIER = replace(FROM, form=UNTIL)
"""``from`` of a question that compares two times."""

ASK_PARAMETERS: tuple[AnyParameter, ...] = (
    ADDRESSES,
    SCOPE,
    LEVEL,
    BY,
    EXTERNAL,
    FROM,
    TO,
    *COMMON_TO_FOLLOW,
    WORDS,
    _BY_DATE,
    TERM,
    _NEW,
    MIN_HOSTS,
    LIMIT,
)


_OF_WORDS = [name for name, question in QUESTIONS.items() if question.words is not None]


class AskedPart(NamedTuple):
    """A part of the web that a question is about.

    Attributes:
        written: As the caller wrote it.
        part: The part.
    """

    written: str
    part: WebPart


QUESTION = Parameter(
    "name",
    "The question.",
    Form(
        f"one of {', '.join(QUESTIONS)}", {"type": "string", "enum": [*QUESTIONS]}, question_called
    ),
    is_required=True,
    is_positional=True,
    metavar="NAME",
)


def question_asked(name: str) -> str:
    """Return the name of a question, which may be an earlier one.

    Raises:
        BadParameterError: No question has this name.
    """
    return QUESTION.read(name, "question")


def question_behind(one: Capability[Any], given: Given) -> "AskQuery":
    """Return the question with the name of a capability, whose parameters ask it (`is_question`).

    A page is answered by look-ups, a part of the archive by SQL, both under one name.

    Args:
        one: The capability.
        given: The parameters that were received for it.

    Returns:
        The question, with the limit of the capability.

    Raises:
        BadParameterError: A parameter is only for one page, or a value is wrong.
    """
    names = {parameter.name for parameter in ASK_PARAMETERS}
    for parameter in one.query.DECLARED:
        if parameter.name not in names and given.has(parameter):
            uri = given.text(URI)
            why = f"is only for one page: leave it out, or ask about a page instead of {uri!r}"
            raise ConflictError(parameter.name, given.text(parameter), why)
    limits = (parameter for parameter in one.query.DECLARED if parameter.name == LIMIT.name)
    return AskQuery.of(given, name=one.name, limit=next(limits).required(given))


@dataclass(frozen=True, slots=True)
class AskQuery(DeclaredQuery):
    """A question about one or several parts of the web.

    Attributes:
        name: Of the text of SQL; for questions, their name in `QUESTIONS`.
        scope: What the parts are: all are of one kind.
        asked: The parts; one without text for the whole archive.
        level: How pages are named; None if rows are no pages.
        windows: The windows of rows.
        is_external: Only links from outside.
        span: Only captures of this range; the two times, if the question compares two.
        kinds: Only links of these kinds.
        redirects: Whether redirects are included.
        words: Words and phrases to find (`parse_words`).
        is_by_date: Whether pages that said it last come first, in `search`.
        term: What terms are.
        is_new: Only links that an earlier capture of the page did not have.
        min_hosts: Only rows with at least this number of `hosts`, in questions with this column.
        limit: Largest number of rows about each part and period; 0 for all.
    """

    DECLARED = ASK_PARAMETERS

    name: str
    scope: QuestionScope = QuestionScope.ARCHIVE
    asked: tuple[AskedPart, ...] = (AskedPart("", ARCHIVE),)
    level: Level | None = None
    windows: Windows = EVER
    is_external: bool = False
    span: Span = ALL_TIME
    kinds: Kinds = NAVIGATION
    redirects: Redirects = Redirects.YES
    words: tuple[str, ...] = ()
    is_by_date: bool = False
    term: Term = Term.TEXT
    is_new: bool = False
    min_hosts: int = 0
    limit: int = 0

    @classmethod
    def of(cls, given: Given, **otherwise: Any) -> Self:
        question = QUESTIONS[otherwise["name"]]
        scope, asked = _asked_parts(given)
        if question.needs_address and scope is QuestionScope.ARCHIVE:
            raise BadParameterError(
                ADDRESSES.name,
                "",
                f"an address: {otherwise['name']} is not about the whole archive",
            )
        if WORDS.optional(given) and question.words is None:
            why = f"is only for {', '.join(_OF_WORDS)}: it would leave out no row of this question"
            raise ConflictError(WORDS.name, given.text(WORDS), why)
        if question.words and "words" not in otherwise and not WORDS.optional(given):
            raise BadParameterError(WORDS.name, "", f"words to find: {WORDS.form.allowed}")
        windows = BY.optional(given) or Windows(question.period)
        if question.is_timeless:
            windows = EVER
        if question.is_by_calendar and windows.period is None:
            raise BadParameterError(BY.name, given.text(BY), "day, month or year in this question")
        return cls(
            scope=scope,
            asked=asked,
            level=question.level and (LEVEL.optional(given) or question.level),
            windows=windows,
            span=span_of(given, _EARLIER if question.compares else FROM),
            **cls.values(given, otherwise),
        )

    @property
    def question(self) -> Question:
        """The question."""
        return QUESTIONS[self.name]

    @property
    def has_uris(self) -> bool:
        """Whether each row is a page, which `name` names."""
        return self.question.columns[0] == "name" and self.level in (None, Level.URI)

    def wants(self, kind: Kind) -> bool:
        """Return whether links of a kind count."""
        return kind in self.kinds and self.redirects.allow(kind)


def _asked_parts(given: Given) -> tuple[QuestionScope, tuple[AskedPart, ...]]:
    """Return the scope of a question, and the parts that it is about.

    Raises:
        BadParameterError: An address is not one, or they are of several kinds.
    """
    texts = list(dict.fromkeys(ADDRESSES.many(given)))
    scope = SCOPE.optional(given)
    if texts == [EVERYTHING] and scope in (None, QuestionScope.ARCHIVE):
        texts = []
    if scope is QuestionScope.ARCHIVE and texts:
        why = "asks about everything: leave out the address, or choose another scope"
        raise ConflictError(SCOPE.name, scope.value, why)
    if not texts:
        if scope is not None and scope is not QuestionScope.ARCHIVE:
            why = "needs an address; without one, the question is about the archive"
            raise ConflictError(SCOPE.name, scope.value, why)
        return QuestionScope.ARCHIVE, (AskedPart("", ARCHIVE),)
    if len(texts) > _MOST_ADDRESSES:
        why = f"at most {_MOST_ADDRESSES:,} addresses"
        raise BadParameterError(ADDRESSES.name, texts[-1], why)
    read = [(text, *_read(text, scope)) for text in texts]
    first, found, _ = read[0]
    for text, other, _ in read:
        if other is not found:
            why = (
                f"must all be of one scope, but {printable(first)!r} is a {found.value} and "
                f"{printable(text)!r} a {other.value}: ask about each scope by itself, or say with "
                "scope what all of them mean"
            )
            raise ConflictError(ADDRESSES.name, text, why)
    return found, tuple(AskedPart(text, part) for text, _, part in read)


def _read(text: str, scope: QuestionScope | None) -> tuple[QuestionScope, WebPart]:
    """Return the scope of an address, and what is meant by it.

    Raises:
        BadParameterError: It is no URI, or has no host although the scope needs one.
    """
    # The name of a page may end with an asterisk, too.
    uri, written = (text, None) if scope is QuestionScope.PAGE else as_written(text)
    surt = surt_asked(ADDRESSES.name, uri)
    found = scope or _OF_MATCH[written or MatchType.EXACT]
    if found is QuestionScope.PAGE:
        key = printable_uri(surt)
        return found, WebPart("uri", key, key, key)
    if found is QuestionScope.PREFIX:
        stem = printable_uri(surt)
        return found, WebPart("prefix", "", stem, stem + LAST)
    host = host_of(surt)
    if not host:
        raise BadParameterError(ADDRESSES.name, text, "an address with a host")
    return found, WebPart.below("host" if found is QuestionScope.HOST else "site", host)


# Addresses that are almost an unknown one, for readers who may have mistyped it.

MOST_SIMILAR = 5
"""Number of pages, and of hosts, with almost the address of a page that is unknown."""


def similar_queries(uri: str) -> Sequence[AskQuery]:
    """Return the questions for pages, and for hosts, with almost the address of a page.

    Raises:
        BadParameterError: It is no URI.
    """
    given = [("uri", uri), (SCOPE.name, QuestionScope.PAGE.value), (LIMIT.name, str(MOST_SIMILAR))]
    return [
        AskQuery.from_parameters([*given, (LEVEL.name, level.value)], name="near")
        for level in (Level.URI, Level.HOST)
    ]
