"""The texts of links to a part of the web, per window, weighted against the whole store.

There is one row per term and window, with the counts of `arclink.access.tallies`. The weight is
tf-idf. The *document* is all texts of links to the target in the window. *tf* of a term is its
number of occurrences in the texts of these links (distinct page, target, kind, text and rel). *df*
is the number of targets of the same level to which the term ever led. So the weights of one term
in several windows differ by its use, not by the collection.

Source: the paper, section 5.3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from arclink.access.queries import LinkQuery
from arclink.access.tallies import Counts
from arclink.analysis.link_scope import LinkScope, ask_about_links
from arclink.analysis.targets import Target
from arclink.analysis.windows import Windows
from arclink.analysis.words import words_of
from arclink.model import Sighting

if TYPE_CHECKING:
    from arclink.relations.database import RelationsDatabase


class Term(Enum):
    """The unit of counting: whole texts, or their words."""

    TEXT = "text"
    WORD = "word"

    def of(self, text: str) -> Iterable[str]:
        """Return the terms of ``text`` with repetitions; a text without words has no terms."""
        if self is Term.WORD:
            return words_of(text)
        return (text,) if text else ()


@dataclass(frozen=True, slots=True)
class AnchorTextQuery:
    """A query for the texts of links to a target.

    Attributes:
        links: The time and the kinds; its URI and SURT are those of ``target``.
        is_external: Leave out links from within the target: from its host or domain, at that level;
            for a URI, from its host.
        windows: The windows in which terms are counted; one time may be in several windows, or in
            none.
    """

    target: Target
    links: LinkQuery
    term: Term
    windows: Windows
    is_external: bool = False


class WeighedTerm(NamedTuple):
    """One term that led to the target, in one window.

    Attributes:
        window: The name of the window.
        counts: Counts of the links with the term. ``links`` counts a link once, even if the term
            occurs several times in its text.
        occurrences: Number of occurrences of the term in these links: tf.
        documents: Number of targets of the collection to which the term led: df.
        tf_idf: The weight; 0 if every target has the term.
    """

    window: str
    term: str
    counts: Counts
    occurrences: int
    documents: int
    tf_idf: float


class TextCounts(NamedTuple):
    """Counts of what was read for an answer.

    Attributes:
        links: Number of links of contents.
        inner: Number of links from within the target that were left out.
        targets: Number of SURTs of the target that a link led to.
        captured: Number of those with a memento.
        textless: Number of links without text, which were left out.
        documents: Number of targets of the collection to which any term led: N.
    """

    links: int
    inner: int
    targets: int
    captured: int
    textless: int
    documents: int


def anchor_texts(
    database: "RelationsDatabase", query: AnchorTextQuery
) -> tuple[list[WeighedTerm], TextCounts]:
    """Return the terms that led to the target, and counts of what was read.

    Terms are sorted by window, then largest weight first, then by occurrences and term.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    _add_terms(database, query.term)
    links = query.links
    rows = ask_about_links(
        database,
        "anchors",
        scope=LinkScope(query.target.level, links.wants, query.is_external),
        part=query.target.part,
        windows=query.windows,
        since=links.span.first,
        until=links.at or links.span.last,
        is_in_force=links.at is not None,
    )
    names = ("found_links", "inner_links", "targets", "captured", "textless", "all_documents")
    found = TextCounts(*(rows[0][name] for name in names))
    terms = [_weighed(row) for row in rows if row["term"] is not None]
    return sorted(
        terms, key=lambda one: (one.window, -one.tf_idf, -one.occurrences, one.term)
    ), found


def _add_terms(database: "RelationsDatabase", term: Term) -> None:
    """Add the table of the terms of all texts: a few texts lead to many targets."""
    import pyarrow as arrow

    columns = [("text", arrow.string()), ("term", arrow.string()), ("number", arrow.int32())]
    with database.apart() as other, other.reading("SELECT DISTINCT text FROM links") as batches:
        texts = (text for batch in batches for text in batch.column("text").to_pylist())
        rows = ((text, *one) for text in texts for one in Counter(term.of(text)).items())
        database.add_table("terms", arrow.schema(columns), rows)


def _weighed(row: Mapping[str, Any]) -> WeighedTerm:
    """Return a term with its weight: tf · log10(N / df).

    Source: Manning, Raghavan, Schütze: Introduction to Information Retrieval (2008), equations 6.7
        and 6.8.
    """
    first, last = Sighting(**row["first"]), Sighting(**row["last"])
    counts = Counts(
        row["links"], row["contents"], row["mementos"], row["hosts"], first=first, last=last
    )
    tf, df = row["occurrences"], row["documents"]
    weight = tf * log10(row["all_documents"] / df)
    return WeighedTerm(row["window"], row["term"], counts, tf, df, weight)
