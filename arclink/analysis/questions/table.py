"""The questions that people ask about pages, sites and archives: one table.

A question is one row, and a text of SQL (``sql/NAME.sql``) over the relations. The command line,
the service, Python and the documents make everything else from the table. To add a question, add
its row and its text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from arclink.access.capabilities import ColumnKind
from arclink.access.declarations import warn_renamed
from arclink.access.tallies import Period
from arclink.analysis.matrices.slices import Level


class QuestionScope(Enum):
    """What a question is about, by its names in the parameter ``scope``."""

    PAGE = "page"
    """One URI in all its variants."""
    PREFIX = "prefix"
    """All URIs whose SURT starts with the SURT of the URI."""
    HOST = "host"
    """All URIs of its host, at any port."""
    DOMAIN = "domain"
    """All URIs of its host and of the hosts below it, at any port."""
    ARCHIVE = "archive"
    """All URIs."""


class Group(Enum):
    """What questions are about, as people read it."""

    WHO = "Who links"
    WORDS = "In which words"
    CHANGED = "What changed"
    MISSING = "What is missing"
    IN_IT = "What is in it"


class Basis(Enum):
    """The captures that an answer is read from: without any, nothing is known."""

    ARCHIVE = "archive"
    """Any page of the archive may link to the part."""
    PART = "part"
    """Captures of the part itself."""


class SliceGroups(Enum):
    """What the rows of an answer are, if links can be read a slice at a time to count them."""

    TARGETS = "targets"
    """Targets at the level; pages, if there is no level."""
    TEXTS = "texts"
    """Texts of links."""
    LINKERS = "linkers"
    """What links, at the level."""


class Merge(Enum):
    """How the values that several archives have in a column become one value of all of them."""

    NAME = "names the row, or else is that of the row with the earliest `first`"
    LEAST = "the least value"
    GREATEST = "the greatest value"
    SAME = "the value, if all archives have the same one"
    CAPTURES = "the sum, if the archives have captures of different times only"
    NEVER = "no value: what is counted may be the same in several archives"


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        group: What it is about.
        listed: The parts after which it is asked next, by their first letters: page, host, domain,
            archive; of prefixes as of hosts.
        sentence: The question, as people read it, with ``{it}`` for the part, and ``{words}`` for
            words to find.
        of_archive: The same about the whole archive; empty if it is never about that.
        then: The same after another question about the same part; ``{year}`` is a year.
        rows: What a row is, and in which order rows are.
        counts: What ``from`` and ``to`` limit, and what a page and a target are: one sentence.
        ranks: The column whose numbers say which rows come first, the greatest first; or empty.
        columns: Names of the columns, after those of `EXTRA`, in the order of the text of SQL.
        basis: What it is read from.
        level: How pages are named if the caller does not say; None if rows are no hosts either.
        is_by_calendar: Whether it compares a period with others, so that windows of any other time
            make no sense.
        is_timeless: Whether its rows are about all time together, or about two times.
        needs_address: Whether it makes no sense about the whole archive.
        has_terms: Whether its text of SQL needs to know how frequent terms are.
        period: The periods of rows, if the caller names none; None for all time together.
        is_of_links: Whether it counts links, so that kinds and other sites make a difference.
        is_of_others: Whether pages ask it of links from other sites first, about a host or domain.
        is_of_texts: Whether it is about the text of pages, of which only some may be known.
        words: Whether it takes words to find: None if not, False if it answers without, too.
        compares: Whether it compares two times: the ends of ``from`` and ``to``, as `DiffQuery`.
        groups: What a slice of its links has all of; None if it reads all links at once.
        names_linkers: Whether `name` links: in windows, rows without links say what is known of it.
        has_variants: Whether each variant of a URI has a row.
        lacks: Columns of `EXTRA` that its rows never have.
        apart: Why rows of several archives never become one; empty if rows with one name do.
    """

    group: Group
    listed: str
    sentence: str
    of_archive: str
    then: str
    rows: str
    counts: str
    ranks: str
    columns: tuple[str, ...]
    basis: Basis = Basis.ARCHIVE
    level: Level | None = Level.HOST
    period: Period | None = None
    is_of_links: bool = True
    is_of_others: bool = False
    is_of_texts: bool = False
    words: bool | None = None
    compares: bool = False
    is_by_calendar: bool = False
    is_timeless: bool = False
    needs_address: bool = False
    has_terms: bool = False
    groups: SliceGroups | None = None
    names_linkers: bool = False
    has_variants: bool = False
    lacks: tuple[str, ...] = ()
    apart: str = ""

    @property
    def asks(self) -> str:
        """The question about any part."""
        return self.asks_about("it")

    def asks_about(self, part: str, words: str = "words") -> str:
        """Return the question about a part, or about the whole archive if it has no name."""
        sentence = self.sentence if part else self.of_archive
        return sentence.format(it=part, words=words)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that name a row: the first ones, if they are names."""
        return tuple(takewhile(lambda one: COLUMNS[one].merge is Merge.NAME, self.columns))

    @property
    def needs_read(self) -> bool:
        """Whether it is known only from captures whose payload was read."""
        return self.is_of_links or self.is_of_texts

    @property
    def about(self) -> str:
        """What is said about it wherever it is listed."""
        return f"{self.rows} {self.counts}"


class AnswerColumn(NamedTuple):
    """A column of answers to questions.

    Attributes:
        kind: What its values are. Each may be null.
        about: What they are, as people read it.
        merge: How the values of several archives become one.
    """

    kind: ColumnKind
    about: str
    merge: Merge = Merge.NEVER


_text = partial(AnswerColumn, ColumnKind.TEXT)
_number = partial(AnswerColumn, ColumnKind.NUMBER)
_decimal = partial(AnswerColumn, ColumnKind.DECIMAL)
_time = partial(AnswerColumn, ColumnKind.TIME)

EXTRA = ("asked", "period", "captures", "read")
"""Columns that answers have when they are needed; `captures` and `read` are the last ones."""

COLUMNS: Mapping[str, AnswerColumn] = {
    "asked": _text("The address that the row is about, if the question is about several."),
    "period": _text(
        "Window of time of the captures; `rising` and `new-anchors`: the later one of the two "
        "compared."
    ),
    "read": _number(
        "Number of these whose links are known, or whose text, if it is about words. With 0, they "
        "are unknown, and not none."
    ),
    "name": _text(
        "Page, host or domain; of several variants of a page, the first in the alphabet; "
        "`gaps` and `stale`: the one that most links use.",
        Merge.NAME,
    ),
    "source": _text("Page, host or domain that links; named like `name`.", Merge.NAME),
    "target": _text("Where the link leads; `host-links`: named like `name`.", Merge.NAME),
    "text": _text(
        "Text of the links, or alternate text of images; may be empty. `begin`: the one that "
        "most pages have.",
        Merge.NAME,
    ),
    "term": _text(
        "Text of the links, or a word of these (`of`); `frequency` and `bursts`: the word or "
        "phrase.",
        Merge.NAME,
    ),
    "tf_idf": _decimal(
        "Weight of the term: `tf` · log10(N / `df`); N: pages, hosts or domains to which any "
        "text leads."
    ),
    "tf": _number("How often distinct links have the term: page, target, kind, text and rel."),
    "df": _number(
        "Number of pages, hosts or domains of the archive to which links with the term lead, "
        "at any time and of any kind."
    ),
    "tld": _text(
        "Top-level domain of the linking hosts; `address` if they are IP addresses.", Merge.NAME
    ),
    "state": _text("Why it is in the list; `diff`: what differs.", Merge.SAME),
    "title": _text("Newest title of the page.", Merge.SAME),
    "found_in": _text(
        "Where the words are: `text`, `title`, `address`, `words` of links.", Merge.SAME
    ),
    "score": _decimal(
        "Weight of the words, times the logarithm of the linking pages: how it is computed is in "
        "how-to/words.md."
    ),
    "snippet": _text("The line of the page with most of the words, or its part.", Merge.SAME),
    "said": _number("Captures that have the term; `bursts`: pages in the burst.", Merge.CAPTURES),
    "percent": _decimal(
        "Per cent of the captures whose text is known; `bursts`: of pages in the burst."
    ),
    "usual": _decimal("Per cent of pages at any time."),
    "begins": _text("First window of the burst.", Merge.NAME),
    "ends": _text("Last window of the burst."),
    "weight": _decimal(
        "How much cheaper it is to explain the pages of these windows by a burst (Kleinberg 2002)."
    ),
    "letters": _number("Letters that are added, missing or other.", Merge.LEAST),
    "links": _number(
        "Distinct links: page, target, kind, text and rel. Variants of the page in the "
        "question (`http` and `https`, with `www` and without) are one page."
    ),
    "pages": _number(
        "Distinct pages, variants of a URI as one: those that link, or for `captures` and "
        "`hosts` those captured; `churn`: those compared, each variant by itself; `frequency`: "
        "those with the term; `bursts`: all in these windows; `vanished`: other pages that link to "
        "it after `last`, in the same site, too, null if no page was read after it."
    ),
    "mementos": _number("Captures that show the links.", Merge.CAPTURES),
    "contents": _number("Distinct contents that have the links."),
    "kinds": _text("Elements and attributes of the links.", Merge.SAME),
    "hosts": _number("Distinct hosts of the linking pages."),
    "domains": _number("Distinct registered domains of the linking pages."),
    "pages_before": _number("The same in the period before."),
    "hosts_before": _number("The same in the period before."),
    "changes": _number("Links added and removed; null if they are not known."),
    "comparisons": _number("Pairs of captures."),
    "days_apart": _decimal(
        "Mean number of days between two compared captures, to six digits after the point. If "
        "it is much longer than the period, changes may belong to earlier ones."
    ),
    "links_before": _number("Links of the earlier captures: targets with a host."),
    "added": _number(
        "Links that an earlier capture of the page did not have; `churn`: that the one before "
        "did not have."
    ),
    "first_capture": _number(
        "Links that the first known capture of the page has: since when it had them is not known."
    ),
    "removed": _number("Links that a later capture of the page does not have any more."),
    "last_without": _time(
        "Time of the last capture of the page before that has no such link, although its "
        "links are known: the link appeared between the two. Without one, it may be older. "
        "`first-said`: the same for words."
    ),
    "page": _text("Page with the link, or with the words.", Merge.NAME),
    "months": _number(
        "Age of links in months of 30.436875 days, in whole days: month 16 is day 486.", Merge.NAME
    ),
    "at_risk": _number("Links that were observed for at least that time."),
    "gone": _number("Links that were seen to be gone by then."),
    "share": _decimal("Share of links that live longer."),
    "low": _decimal("Lower end of its confidence interval of 95 %; null if nothing varies."),
    "high": _decimal("Upper end of it."),
    "earliest": _decimal("The share, if links ended when they were last seen."),
    "latest": _decimal("The share, if links ended when they were first missing."),
    "captures": _number(
        "Number of captures; `most-linked` and `near`: at any time, 0 if it was never "
        "captured; `search`: those whose text has the words. In windows of time, if rows are about "
        "links: captures in the window that the row is read from; `linkers`: those of `name`.",
        Merge.CAPTURES,
    ),
    "status": _number("HTTP status that the newest capture shows which shows one.", Merge.SAME),
    "status_before": _number("HTTP status of the earlier capture."),
    "title_before": _text(
        "Title of the earlier capture; empty without a title, null if not known."
    ),
    "mime": _text(
        "Media type that the newest capture shows; `vanished`: of those without error.", Merge.SAME
    ),
    "success": _number("Captures with status 200 to 299.", Merge.CAPTURES),
    "redirects": _number("Captures with status 300 to 399.", Merge.CAPTURES),
    "errors": _number("Captures with status 400 or more.", Merge.CAPTURES),
    "known": _number(
        "Captures whose links are known, also if there are no links; not those that redirect "
        "to a variant of their own URI, because they say nothing about the page.",
        Merge.CAPTURES,
    ),
    "first": _time(
        "Time of the first capture that counts; `diff`: of the earlier one compared.",
        Merge.LEAST,
    ),
    "last": _time(
        "Time of the last capture that counts; `begin` and `vanished`: of the last one "
        "without error; `diff`: of the later one compared.",
        Merge.GREATEST,
    ),
    "captured": _time("Time of its own last capture."),
    "since": _time("Time of the first error after it."),
    "host_last": _time("Time of the last capture of any page of the host."),
}
"""The columns of all questions; those of `EXTRA` come first."""

MEANINGS: Mapping[str, str] = {name: column.about for name, column in COLUMNS.items()}
"""What each column is, as people read it."""

COUNTS_OF_CAPTURES = ("captures", "pages", "success", "redirects", "errors", "known")
"""Columns that are 0 where there are no captures, in questions that are not about links."""


QUESTIONS: Mapping[str, Question] = {
    "linkers": Question(
        Group.WHO,
        "dha",
        "Who linked to {it}?",
        "Which sites linked to others?",
        "Who linked to it?",
        "A row for each host, domain or page that links to it, those with most links first. By "
        "windows of time, each of them has a row in every window: with 0 links if captures of it "
        "were read in the window (`read`) and none of them links, with null if none was read, so "
        "that its links are unknown. At most 20,000 rows are added, for those with most links.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one, but in `links` each variant of a linking page counts.",
        "links",
        ("name", "links", "pages", "mementos", "first", "last"),
        groups=SliceGroups.LINKERS,
        names_linkers=True,
        is_of_others=True,
    ),
    "new-lost": Question(
        Group.CHANGED,
        "phda",
        "Which links to {it} appeared and disappeared?",
        "Which links appeared and disappeared?",
        "Which links appeared and disappeared?",
        "A row for each host, domain or page whose links to it began or ended, in the period in "
        "which they did. A link is a page and a target; one that was missing for a while counts "
        "once. A link of a page's first known capture may be older; so it is not counted "
        "as added.",
        "All captures are read, and `from` and `to` limit when links began or ended; page and "
        "target are all variants of a URI as one.",
        "",
        ("name", "added", "first_capture", "removed"),
        apart="a link that is new in one archive may be older in another one",
        is_of_others=True,
    ),
    "first-linkers": Question(
        Group.WHO,
        "phda",
        "Who linked to {it} first?",
        "Who linked to others first?",
        "Which of them were new in {year}?",
        "A row for each page, host or domain that links to it, in the period of its first link, "
        "oldest first. Each variant of a page has a row.",
        "All captures are read, and `from` and `to` limit the time of the first link; a page is "
        "each variant of a URI by itself, a target all of them as one.",
        "",
        ("name", "first", "last_without", "page", "text", "target"),
        level=Level.URI,
        has_variants=True,
        is_of_others=True,
    ),
    "diff": Question(
        Group.CHANGED,
        "dha",
        "What changed on {it} between two times?",
        "What changed between two times?",
        "Which pages changed between two times?",
        "A row for each page that differs between its newest captures by the end of `from` and by "
        "the end of `to`; without these times, between its first and its last capture. Only "
        "captures with known links count, also errors, which have none. `state` lists what "
        "differs: content (the payload), links, status, title. The command `diff` lists the links "
        "of one page, with those of its other variants. It is `not known before` if there is no "
        "such capture by the earlier time: whether the page existed then is not known. Pages with "
        "most links added and removed come first, and those not known before last. The answer says "
        "how many more pages were compared and do not differ.",
        "`from` and `to` name the two times, and all captures by then are read; a page is all "
        "variants of a URI as one, a target each by itself.",
        "changes",
        (
            *("name", "state", "changes", "added", "removed", "status", "status_before"),
            *("title", "title_before", "first", "last"),
        ),
        Basis.PART,
        level=None,
        compares=True,
        is_timeless=True,
        apart="another archive may have captures between the two that are compared",
    ),
    "anchors": Question(
        Group.WORDS,
        "dha",
        "With which words was {it} linked?",
        "With which words did sites link to each other?",
        "With which words?",
        "A row for each text of links to it, those with most links first. The command "
        "`anchors` has the same rows of one page by look-ups, and more parameters.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one, but in `links` each variant of a linking page counts.",
        "links",
        (*("text", "links", "contents", "pages", "mementos", "hosts", "first", "last", "kinds"),),
        level=None,
        groups=SliceGroups.TEXTS,
        is_of_others=True,
    ),
    "typical-anchors": Question(
        Group.WORDS,
        "phda",
        "Which words are typical of links to {it}?",
        "Which words are typical of links?",
        "Which words are typical of it?",
        "A row for each text of links to it, or each word of these, those with the greatest weight "
        "first. The weight compares it with the other pages that links lead to, or with the other "
        "hosts or domains, if a host or domain is asked about. Only targets with a host count.",
        "`from` and `to` limit the captures of linking pages, but not what `df` counts; in "
        "`tf`, page and target are each variant of a URI by itself.",
        "",
        ("term", "tf_idf", "tf", "df", "pages", "mementos", "hosts", "first", "last"),
        level=None,
        has_terms=True,
        is_of_others=True,
    ),
    "new-anchors": Question(
        Group.WORDS,
        "phda",
        "Which words of links to {it} are new, and which are gone?",
        "Which words of links are new, and which are gone?",
        "Which words are new?",
        "A row for each text of links to it that is in one of the last two periods and not in the "
        "other: it came or went. `pages` and `hosts` are those of the period that has it; in the "
        "other one, no page has it. Only pages that were captured in both count. Texts on most "
        "pages come first.",
        "`from` and `to` limit the captures that are read; pages and targets are all variants "
        "of a URI as one.",
        "pages",
        ("text", "state", "pages", "hosts"),
        level=None,
        period=Period.YEAR,
        is_by_calendar=True,
        groups=SliceGroups.TEXTS,
        apart="only pages that one archive has in both periods are compared",
        is_of_others=True,
    ),
    "most-linked": Question(
        Group.WHO,
        "dha",
        "Which pages of {it} are most linked?",
        "What is most linked?",
        "Which pages do they link to most?",
        "A row for each page, host or domain that links lead to, those with most linking hosts "
        "first.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one.",
        "hosts",
        ("name", "hosts", "pages", "first", "last", "captures"),
        level=Level.URI,
        groups=SliceGroups.TARGETS,
    ),
    "rising": Question(
        Group.CHANGED,
        "dha",
        "Which pages of {it} are linked more and more?",
        "What is linked more and more?",
        "What is linked more and more?",
        "A row for each page, host or domain with more linking pages in the last period than in "
        "the one before. Only pages that were captured in both count.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one.",
        "pages",
        ("name", "pages", "pages_before", "hosts", "hosts_before"),
        level=Level.URI,
        period=Period.YEAR,
        is_by_calendar=True,
        groups=SliceGroups.TARGETS,
        apart="only pages that one archive has in both periods are compared",
    ),
    "broken": Question(
        Group.MISSING,
        "dha",
        "Which pages of {it} are linked, but were never captured, or only as an error?",
        "What is linked, but was never captured, or only as an error?",
        "What is linked, but not there?",
        "A row for each page, host or domain, those with most linking hosts first.",
        "`from` and `to` limit the captures of linking pages, and those of targets count at any "
        "time; pages and targets are all variants of a URI as one.",
        "hosts",
        ("name", "state", "status", "hosts", "pages", "first", "last"),
        level=Level.URI,
        groups=SliceGroups.TARGETS,
        apart="another archive may have captured it",
    ),
    "gaps": Question(
        Group.MISSING,
        "",
        "Which pages of {it} are linked, but were never captured?",
        "What is linked, but was never captured?",
        "What is linked, but was never captured?",
        "A row for each page, host or domain that links lead to, that was never captured, and that "
        "a crawler can capture (`http` or `https`), those with most linking hosts first.",
        "`from` and `to` limit the captures of linking pages, and those of targets count at any "
        "time; pages and targets are all variants of a URI as one.",
        "hosts",
        ("name", "hosts", "pages", "first", "last"),
        level=Level.URI,
        apart="another archive may have captured it",
    ),
    "stale": Question(
        Group.MISSING,
        "dha",
        "Which pages of {it} are still linked, but were not captured again?",
        "What is still linked, but was not captured again?",
        "What should be captured again?",
        "A row for each page, host or domain that was captured, but not since `from`, although "
        "captures since then link to it; without `from`, not since the captures that link to it. "
        "Only those that a crawler can capture, those with most linking hosts first.",
        "`from` and `to` limit the captures of linking pages, and those of targets count at any "
        "time; pages and targets are all variants of a URI as one.",
        "hosts",
        ("name", "hosts", "pages", "first", "last", "captured"),
        level=Level.URI,
        apart="another archive may have captured it since",
    ),
    "tlds": Question(
        Group.WHO,
        "dha",
        "From which top-level domains was {it} linked?",
        "From which top-level domains do links come?",
        "From which top-level domains?",
        "A row for each top-level domain of pages that link to it, those with most domains first.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one.",
        "domains",
        ("tld", "domains", "hosts", "pages", "first", "last"),
        level=None,
        is_of_others=True,
    ),
    "led-to": Question(
        Group.IN_IT,
        "dha",
        "Where did {it} lead?",
        "Which sites did others link to?",
        "Where does it lead?",
        "A row for each host, domain or page that it links to, those with most links first. URIs "
        "without host, such as mailto:, are one row without name at the levels of hosts and "
        "domains.",
        "`from` and `to` limit the captures of its pages; a page is all variants of a URI as "
        "one, and so is a target, but in `links` each variant of a target counts.",
        "links",
        ("name", "links", "pages", "mementos", "first", "last"),
        Basis.PART,
        is_of_others=True,
    ),
    "host-links": Question(
        Group.WHO,
        "dha",
        "Who links to whom around {it}?",
        "Who links to whom?",
        "Who links to whom around it?",
        "A row for each pair of hosts, domains or pages of which the first links to the second, "
        "and at least one is in the part; those with most links first. Links of a host to itself "
        "are left out.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one.",
        "links",
        ("source", "target", "links", "pages", "mementos", "first", "last"),
    ),
    "common": Question(
        Group.WHO,
        "",
        "Who links to all of {it}?",
        "",
        "Who links to all of these?",
        "A row for each host, domain or page that links to each of the addresses, those with most "
        "links first.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one, but in `links` each variant of a linking page counts.",
        "links",
        ("name", "links", "pages", "first", "last"),
        lacks=("asked",),
        apart="a page may link to one address in one archive and to another one in another archive",
    ),
    "linked-with": Question(
        Group.WHO,
        "phd",
        "What else do the linkers of {it} link to?",
        "",
        "What else do they link to?",
        "A row for each host, domain or page that is linked from the same contents of pages, "
        "those with most linking hosts first. It needs an address.",
        "`from` and `to` limit the captures of linking pages; pages and targets are all "
        "variants of a URI as one.",
        "hosts",
        ("name", "hosts", "pages", "first", "last"),
        needs_address=True,
    ),
    "captures": Question(
        Group.IN_IT,
        "dha",
        "When was {it} captured?",
        "When was the archive captured?",
        "When was it captured?",
        "A row for each period, oldest first.",
        "`from` and `to` limit the captures; a page is all variants of a URI as one.",
        "",
        ("captures", "pages", "success", "redirects", "errors", "known", "first", "last"),
        Basis.PART,
        level=None,
        period=Period.MONTH,
        is_of_links=False,
    ),
    "churn": Question(
        Group.CHANGED,
        "dha",
        "How many links did the pages of {it} gain and lose?",
        "How many links did pages gain and lose?",
        "How many links did they gain and lose?",
        "A row for each host, domain or page of it with captures that can be compared, those with "
        "most changes first. Each capture with known links is compared with the one before it of "
        "the same page, in the period of the later one; an error or a redirect has no "
        "links: a page that becomes one loses all.",
        "All captures are read, and `from` and `to` limit the later one of two that are "
        "compared; a page is each variant of a URI by itself, a target all of them as one.",
        "",
        ("name", "pages", "comparisons", "days_apart", "links_before", "added", "removed"),
        Basis.PART,
        has_variants=True,
        apart="another archive may have captures between two that are compared",
    ),
    "survival": Question(
        Group.CHANGED,
        "dha",
        "How long do links on {it} last?",
        "How long do links last?",
        "How long do links last?",
        "A row for each month of age of the links of its pages, up to that of the oldest: the "
        "share that lives longer, as Kaplan and Meier estimate it. Periods are those in which "
        "links were first seen. A link is a page and what it leads to at the level. It is gone if "
        "a later capture with known links does not have it, and is taken to end in the middle "
        "between that one and the last one with it.",
        "`from` and `to` limit the captures that are read; a page is each variant of a URI by "
        "itself, a target all of them as one.",
        "",
        ("months", "at_risk", "gone", "share", "low", "high", "earliest", "latest"),
        Basis.PART,
        level=Level.URI,
        apart="shares of links in one archive say nothing about links that another one has seen "
        "for longer",
    ),
    "hosts": Question(
        Group.IN_IT,
        "da",
        "Which hosts does {it} have?",
        "Which hosts does the archive have?",
        "Which hosts does it have?",
        "A row for each host or domain that was captured, those with most captures first.",
        "`from` and `to` limit the captures; a page is all variants of a URI as one.",
        "captures",
        ("name", "captures", "pages", "first", "last"),
        Basis.PART,
        is_of_links=False,
    ),
    "begin": Question(
        Group.IN_IT,
        "",
        "Where is a good place to begin in {it}?",
        "Where is a good place to begin?",
        "Where is a good place to begin?",
        "A row for each of up to ten pages of each host that were captured as HTML without error. "
        "First comes the page of each host that most hosts link to, then the second one of each "
        "host, and so on; last come those that no captured page links to.",
        "`from` and `to` limit the captures of pages and of those that link to them; pages and "
        "targets are all variants of a URI as one.",
        "",
        ("name", "title", "text", "hosts", "pages", "captures", "last"),
        Basis.PART,
        level=None,
        is_timeless=True,
        groups=SliceGroups.TARGETS,
        apart="a row is the place of a page among those of one archive",
    ),
    "pages": Question(
        Group.IN_IT,
        "dha",
        "Which pages does {it} have?",
        "Which pages does the archive have?",
        "Which pages does it have?",
        "A row for each page that was captured, those with most captures first.",
        "`from` and `to` limit the captures; a page is all variants of a URI as one.",
        "captures",
        ("name", "title", "captures", "status", "mime", "first", "last"),
        Basis.PART,
        level=None,
        is_of_links=False,
    ),
    "find": Question(
        Group.WORDS,
        "",
        "Which addresses, titles and links of {it} have “{words}”?",
        "Which addresses, titles and links have “{words}”?",
        "Which addresses and titles have it?",
        "A row for each page that has all words in its address, in a title, or in the text of one "
        "link to it, also if it was never captured; those with most linking hosts first. Case and "
        "accents make no difference. Titles and texts have the words as a whole, phrases as words "
        "that follow each other; in an address, parts of words count, in any order.",
        "Words are looked for at all times, and `from` and `to` limit the captures of pages, or "
        "of those that link to them, of which there must be one; a page is all variants of a "
        "URI as one.",
        "hosts",
        ("name", "found_in", "title", "hosts", "captures"),
        level=None,
        is_of_links=False,
        is_timeless=True,
        words=False,
    ),
    "search": Question(
        Group.WORDS,
        "dha",
        "Which pages of {it} say “{words}”?",
        "Which pages say “{words}”?",
        "Which pages say a word?",
        "A row for each page that has all words in its text or title, or in the text of one link "
        "to it. What many pages linked to in the window comes first.",
        "`from` and `to` limit the captures whose text is read, and those of linking pages; a page "
        "is all variants of a URI as one.",
        "score",
        (
            *("name", "score", "found_in", "title", "pages", "hosts", "captures", "first", "last"),
            "snippet",
        ),
        Basis.PART,
        level=None,
        is_of_links=False,
        is_of_texts=True,
        words=True,
        apart="weights compare the pages of one archive",
    ),
    "frequency": Question(
        Group.WORDS,
        "dha",
        "How often does {it} say “{words}”?",
        "How often is “{words}” said?",
        "How often, year by year?",
        "A row for each word or phrase in each period: how many captures have it, of all whose "
        "text is known.",
        "`from` and `to` limit the captures; a page is all variants of a URI as one.",
        "",
        ("term", "said", "percent", "pages"),
        Basis.PART,
        level=None,
        period=Period.YEAR,
        is_of_links=False,
        is_of_texts=True,
        words=True,
    ),
    "first-said": Question(
        Group.WORDS,
        "dha",
        "Who on {it} said “{words}” first?",
        "Who said “{words}” first?",
        "Who said it first?",
        "A row for each page, host or domain with a capture that has all words in its text or "
        "title, in the period of the first one, oldest first.",
        "All captures are read, and `from` and `to` limit the time of the first one; a page is "
        "all variants of a URI as one.",
        "",
        ("name", "first", "last_without", "page", "title", "snippet"),
        Basis.PART,
        level=Level.URI,
        is_of_links=False,
        is_of_texts=True,
        words=True,
        apart="another archive may have an earlier capture",
    ),
    "bursts": Question(
        Group.WORDS,
        "dha",
        "Which words came in bursts on {it}?",
        "Which words came in bursts?",
        "Which words came in bursts?",
        "A row for each time in which a word was on at least twice as many pages as at other "
        "times, those with the greatest weight first. What is on more than half of the pages of a "
        "host in one window is its menu, and is left out; so are words on fewer than four pages.",
        "`from` and `to` limit the captures; a page is all variants of a URI as one, and counts "
        "once in each window.",
        "weight",
        ("term", "begins", "ends", "weight", "percent", "usual", "said", "pages"),
        Basis.PART,
        level=None,
        period=Period.MONTH,
        is_of_links=False,
        is_of_texts=True,
        is_by_calendar=True,
        lacks=("period",),
        apart="bursts compare the pages of one archive",
    ),
    "near": Question(
        Group.MISSING,
        "phd",
        "Which addresses are almost {it}?",
        "",
        "Which addresses are almost the same?",
        "A row for each page, host or domain, captured or only linked at any time, that differs by "
        "at most three letters, and at most one in three, but one in any text; a swap counts as "
        "two. Pages differ in the path, or in the host. For a host or domain, its first page is "
        "compared. Those with fewest other letters come first; texts of more than 200 letters are "
        "not compared. It needs an address.",
        "`from` and `to` change nothing; a page is all variants of a URI as one.",
        "",
        ("name", "letters", "captures"),
        level=Level.URI,
        needs_address=True,
        is_of_links=False,
        is_timeless=True,
    ),
    "vanished": Question(
        Group.MISSING,
        "dha",
        "Which pages of {it} vanished?",
        "Which pages vanished?",
        "Which pages vanished, and who still pointed there?",
        "A row for each page that was captured without error, and either as an error later, or "
        "not at all in later periods in which other pages of its host were captured. HTML "
        "pages come first, before images, styles and other files; of each kind, those that were "
        "there last. `pages` are those that still pointed there.",
        "`from` and `to` limit the captures, and those of pages that point there; a page is all "
        "variants of a URI as one.",
        "",
        (
            *("name", "state", "mime", "status", "last", "since", "host_last", "captures"),
            "pages",
        ),
        Basis.PART,
        level=None,
        period=Period.YEAR,
        is_of_links=False,
        is_by_calendar=True,
        lacks=("period",),
        apart="another archive may have captured the page later",
    ),
}
"""All questions by name, in the order in which people meet them."""

_WAS = {
    "words": "anchors",
    "typical-words": "typical-anchors",
    "new-words": "new-anchors",
    "changed": "diff",
}
"""Earlier names of questions, which are read for one more version."""


def question_called(name: str) -> str:
    """Return the name of a question; an earlier one warns.

    Raises:
        ValueError: No question has this name.

    >>> question_called("linkers")
    'linkers'
    """
    if name in _WAS:
        warn_renamed(f"the question '{name}'", f"'{_WAS[name]}'")
    found = _WAS.get(name, name)
    if found not in QUESTIONS:
        raise ValueError
    return found
