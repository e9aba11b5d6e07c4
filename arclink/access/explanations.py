"""The outcome of each capture, with the reason: the data of ``arclink explain URI``."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from operator import attrgetter

from arclink.access.queries import URI, surt_asked
from arclink.access.texts import printable
from arclink.access.times import FROM, TO
from arclink.errors import StoreError
from arclink.model import ALL_TIME, ContentId, Memento, Payload, Span, Surt
from arclink.reasons import Reason
from arclink.rows.link_sources import LinkSource, source_of
from arclink.store.protocols import Answers
from arclink.uris.methods import keys_of_answers, method_of_key
from arclink.uris.resolution import checksum_of

TOGETHER = 1_000
"""Number of mementos that are explained from one snapshot of the store."""

EXPLAIN_PARAMETERS = (URI, FROM, TO)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One memento and what happened to it.

    Attributes:
        reason: `Reason.PAYLOAD_READ` or `Reason.PAYLOAD_RECORDED` if its links are known, else the
            reason why they are not.
        content: The vertex that holds its links; None if they are not known.
        payload: The payload, with the file and offset it was read from, which may belong to another
            memento; None if there is no payload to read.
        counts: Number of links of the page by reason, most frequent first; empty if the page itself
            was not read.
    """

    memento: Memento
    reason: Reason
    content: ContentId | None
    payload: Payload | None
    counts: tuple[tuple[Reason, int], ...]

    @property
    def title(self) -> str | None:
        """Title of the page as text for users, empty if it has none; None if it is not known."""
        title = None if self.payload is None else self.payload.title
        return None if title is None else printable(title)


def explain(store: Answers, uri: str, span: Span = ALL_TIME) -> Iterator[Explanation]:
    """Yield the explanation of each memento of a URI and its variants in a span, oldest first.

    Answers to all methods are among them, not only those to GET.

    Each group of up to `TOGETHER` mementos is read from one state of the store.

    Raises:
        BadParameterError: ``uri`` is not a URI.
        StoreError: The store cannot be reached.
    """
    surt = surt_asked("uri", uri)
    return _in_parts(store, _of_all_methods(store, surt, span))


def _of_all_methods(store: Answers, surt: Surt, span: Span) -> Iterator[Memento]:
    mementos = [store.mementos(surt, span)]
    if not method_of_key(surt):
        keys = store.captured_surts(keys_of_answers(surt))
        mementos += [store.mementos(key, span) for key in keys]
    return merge(*mementos, key=attrgetter("timestamp"))


def _in_parts(store: Answers, mementos: Iterator[Memento]) -> Iterator[Explanation]:
    while True:
        with store.snapshot():
            explanations = [
                _explain_memento(store, memento) for memento in islice(mementos, TOGETHER)
            ]
        if not explanations:
            return
        yield from explanations


def _explain_memento(store: Answers, memento: Memento) -> Explanation:
    """Return the explanation of one memento."""
    explanation = _explained(store, memento)
    if (
        explanation.reason is Reason.PAYLOAD_NOT_AT_HAND
        and memento.record_type == "revisit"
        and _is_left_out(store, memento)
    ):
        return replace(explanation, reason=Reason.PAYLOAD_LEFT_OUT)
    return explanation


def _is_left_out(store: Answers, memento: Memento) -> bool:
    """Return whether a rule left out an earlier capture of this URI and payload, in any batch."""
    earlier = store.mementos(memento.surt, Span(last=memento.timestamp))
    return any(
        one.checksum == memento.checksum and one.reason.startswith("MEMENTO_") for one in earlier
    )


def _explained(store: Answers, memento: Memento) -> Explanation:
    if memento.reason != "-":
        return Explanation(memento, _reason(memento.reason), None, None, ())
    content = store.content_of(memento)
    # A revisit that is only "not modified" shows the payload of another capture, which its
    # content names.
    payload = store.payload(checksum_of(content) if content else memento.checksum)
    if payload is None:
        return Explanation(memento, Reason.PAYLOAD_NOT_AT_HAND, None, None, ())
    if content is None:
        # Read, but not for this URI: its links resolve differently, and the payload was not
        # available again.
        why = _reason(payload.reason)
        return Explanation(
            memento,
            Reason.PAYLOAD_NOT_AT_HAND if payload.scope is not None else why,
            None,
            payload,
            (),
        )
    if source_of(payload) is LinkSource.CRAWLER:  # the payload has a list per original
        return Explanation(memento, Reason.PAYLOAD_RECORDED, content, payload, ())
    counts = sorted(
        ((_reason(name), count) for name, count in payload.counts),
        key=lambda pair: (-pair[1], pair[0].text),
    )
    return Explanation(memento, Reason.PAYLOAD_READ, content, payload, tuple(counts))


def _reason(name: str) -> Reason:
    """Return the reason of this name.

    Raises:
        StoreError: This version does not know the name: a newer version wrote the store.
    """
    try:
        return Reason[name]
    except KeyError as error:
        raise StoreError(
            f"the store names a reason that this version does not know: {name}; use the "
            "version that built it"
        ) from error
