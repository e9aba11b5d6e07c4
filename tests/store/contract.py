"""The contract of stores: one suite of tests per protocol. A subclass provides the store."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.forgetting import forgetting
from arclink.errors import StoreError
from arclink.known import KnownLinks
from arclink.model import (
    ALL_TIME,
    EMPTY_PAYLOAD,
    NO_CHECKSUM,
    Batch,
    ContentId,
    Forgotten,
    Inlink,
    Outlink,
    Payload,
    Source,
    Span,
    Surt,
    Timestamp,
)
from arclink.store.protocols import Answers, Builds, GraphStore, Removed, Scans, Takedown
from arclink.uris.surts import key_of_answer
from tests.relations.cases import CASES, TRUTHS
from tests.relations.rows import kept_rows, rows_by_tasks, rows_in, rows_of
from tests.store import graphs as drawn
from tests.store.graphs import Graph, graphs, write_next
from tests.store.load_arguments import FILES as FILES
from tests.store.load_arguments import SETTINGS as SETTINGS
from tests.store.memory_store import MemoryStore

# The tests are inherited by one class per store, each of which makes stores of its own kind:
# "differing executors".
slowly = settings(
    deadline=None,
    # Fewer where a store is asked over a network; `make test-long` has many.
    max_examples=int(os.environ.get("ARCLINK_EXAMPLES", "15")),
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.differing_executors,
    ],
)


def load_next(store: Builds, graph: Graph, number: int, folder: Path, parts: int = 1) -> Batch:
    """Load one batch of a graph."""
    write_next(store, graph, graph.batches[number], folder / str(number), parts)
    return store.load(
        folder / str(number), FILES[number : number + 1], SETTINGS, f'{{"batch": {number}}}'
    )


def all_links(store: Scans) -> Iterator[tuple[ContentId, list[Outlink]]]:
    """Yield each content that a whole scan tells, with its links."""
    for block in store.scan_contents():
        for content, numbers in zip(block.contents, block.lists, strict=True):
            yield content, [block.links[index] for index in numbers]


@dataclass(frozen=True)
class WantsText:
    """Wants links with some texts."""

    texts: frozenset[str]

    def __call__(self, kind: str, text: str, rel: str | None) -> bool:
        return text in self.texts


def pages_of(store: Answers, content: ContentId, span: Span) -> Iterator[Source]:
    """Yield the pages that show a content, by its sightings."""
    for original, seen in groupby(store.sightings(content, span), attrgetter("original")):
        yield original, [sighting.timestamp for sighting in seen]


def canonical(store: Scans) -> dict[str, object]:
    """Return all answers of a store but those that depend on how the mementos were divided into
    batches.
    """
    answers: dict[str, object] = {}
    for surt in store.surts(Surt("")):
        mementos = list(store.mementos(surt))
        answers[f"mementos {surt}"] = mementos
        answers[f"inlinks {surt}"] = sorted(store.inlinks(surt), key=repr)
        for memento in mementos:
            content = store.content_of(memento)
            answers[f"content of {memento}"] = content
            answers[f"payload {memento.checksum}"] = store.payload(memento.checksum)
            answers[f"originals {memento.checksum}"] = list(store.originals_of(memento.checksum))
            if content is not None:
                answers[f"outlinks {content}"] = list(store.outlinks(content))
                answers[f"sightings {content}"] = list(store.sightings(content))
        for inlink in store.inlinks(surt):
            answers[f"sightings {inlink.content}"] = list(store.sightings(inlink.content))
    answers["captured"] = list(store.captured_surts(Surt("")))
    answers["all mementos"] = list(store.scan_mementos())
    answers["all links"] = sorted(all_links(store), key=repr)
    answers["stats"] = replace(store.stats(), batches=0, files=0, bytes=0)
    answers["sums"] = replace(store.sums(), batches=0, files=0, bytes=0)
    return answers


def timed(store: Scans) -> dict[str, object]:
    """Return the `canonical` answers, and what is known of the captures by their times."""
    answers = canonical(store)
    answers["days"] = [*(store.days() or {}).items()]
    for first in ("20091103011308", "20091103011309", "20100101"):
        span = Span(Timestamp(first.ljust(14, "0")), Timestamp("20100217101228"))
        answers[f"known since {first}"] = store.known(span)
    return answers


def placeless(answers: Mapping[str, object]) -> dict[str, object]:
    """Return those of the `answers` of a store that do not depend on batches, nor on which capture
    a payload was read from.
    """
    return {
        name: replace(answer, file="", offset=0) if isinstance(answer, Payload) else answer
        for name, answer in answers.items()
    }


@st.composite
def drawn_forgotten(draw: st.DrawFn) -> Forgotten:
    """Draw what is to be forgotten: a part of the small web of `graphs`, from all time or some of
    it.
    """
    prefix = draw(
        st.sampled_from(
            [
                "org,example)/",
                "org,example)/news",
                "org,example",
                "example,other)/",
                "org,example,sub)/",
                "zz",
            ]
        )
    )
    first, last = draw(st.sampled_from([("", ""), ("20091103011308", ""), ("2010", "2011")]))
    span = Span(Timestamp(first.ljust(14, "0")), Timestamp(last.ljust(14, "9")))
    return Forgotten(Surt(prefix), span, span == ALL_TIME and draw(st.booleans()))


forgotten = drawn_forgotten()


class LoadedScans(Scans, Builds, Protocol):
    """A store that can be loaded and read."""


class Contract:
    """Makes the stores of a contract: empty, each with an empty `MemoryStore` for comparison."""

    def opened(self, folder: Path) -> AbstractContextManager[LoadedScans]:
        """Return an empty store in a folder."""
        raise NotImplementedError

    def answers(self, store: Scans) -> dict[str, object]:
        """Return the answers of a store that are compared."""
        return timed(store)

    def placeless(self, store: Scans) -> dict[str, object]:
        """Return the answers that `placeless` leaves."""
        return placeless(self.answers(store))

    @contextmanager
    def empty(self) -> Iterator[tuple[LoadedScans, MemoryStore, Path]]:
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as store:
            yield store, MemoryStore(), Path(name)


class AnswersContract(Contract):
    """Tests of `Answers` against a `MemoryStore`."""

    @slowly
    @given(graph=graphs(), parts=st.integers(1, 3))
    def test_any_batches_in_any_parts_answer_like_a_dictionary_with_one_batch(
        self, graph: Graph, parts: int
    ) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder, parts)
            load_next(dictionary, graph.as_one_batch(), 0, folder / "one")
            assert self.answers(store) == self.answers(dictionary)
            assert list(store.verify()) == []

    def test_answers_to_another_method_are_counted_when_their_payload_comes(self) -> None:
        checksum = next(name for name, truth in TRUTHS.items() if truth.is_html)
        posted = drawn.memento("http://example.org/", "20091103011308", checksum, "revisit")
        posted = posted._replace(surt=key_of_answer(posted.surt, "POST"))
        read = drawn.memento("http://example.org/news", "20100130003005", checksum)
        with self.empty() as (store, dictionary, folder):
            for number in range(2):
                graph = Graph(TRUTHS, [[posted], [read]])
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
                assert (
                    store.known()
                    == dictionary.known()
                    == KnownLinks(*((1, 0), (2, 2, posted.timestamp, read.timestamp))[number])
                )
            assert list(store.verify()) == []

    @slowly
    @given(
        graph=graphs(),
        span=st.builds(
            Span,
            st.sampled_from(["20091103011308", "2010"]),
            st.sampled_from(["20091103011308", "2011"]),
        ),
    )
    def test_a_span_leaves_out_what_was_not_observed_in_it(self, graph: Graph, span: Span) -> None:
        span = Span(Timestamp(span.first.ljust(14, "0")), Timestamp(span.last.ljust(14, "9")))
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            for surt in dictionary.surts(Surt("")):
                mementos = list(dictionary.mementos(surt))
                assert list(store.mementos(surt, span)) == [
                    one for one in mementos if one.timestamp in span
                ]
                for content in filter(None, map(dictionary.content_of, mementos)):
                    assert list(store.sightings(content, span)) == list(
                        dictionary.sightings(content, span)
                    )

    @slowly
    @given(
        graph=graphs(),
        span=st.sampled_from(
            [ALL_TIME, Span(Timestamp("20091103011308"), Timestamp("20111231235959"))]
        ),
    )
    def test_contents_asked_together_are_answered_as_one_by_one(
        self, graph: Graph, span: Span
    ) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            contents = [
                inlink.content for surt in store.surts(Surt("")) for inlink in store.inlinks(surt)
            ]
            contents += [*reversed(contents), ContentId("none")]
            expected = [list(pages_of(dictionary, content, span)) for content in contents]
            assert [list(pages) for pages in store.sources(iter(contents), span)] == expected

    @slowly
    @given(
        graph=graphs(),
        span=st.sampled_from(
            [ALL_TIME, Span(Timestamp("20091103011308"), Timestamp("20111231235959"))]
        ),
        wants_all=st.booleans(),
    )
    def test_inlinks_come_with_the_pages_that_show_them(
        self, graph: Graph, span: Span, wants_all: bool
    ) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            for surt in store.surts(Surt("")):
                inlinks = list(store.inlinks(surt))
                texts = {inlink.text for inlink in inlinks}
                wanted = texts if wants_all else {*sorted(texts)[1:]}
                expected = [
                    (*inlink[:4], [*map(tuple, pages_of(dictionary, inlink.content, span))])
                    if inlink.text in wanted
                    else None
                    for inlink in inlinks
                ]
                wants = WantsText(frozenset(wanted))
                found = [
                    link and (*link[:4], [*map(tuple, link.pages)])
                    for link in store.shown_inlinks(surt, span, wants)
                ]
                assert found == expected
                shown = [link.content for link in store.shown_inlinks(surt) if link is not None]
                assert [shown.index(content) for content in shown] == [
                    [inlink.content for inlink in inlinks].index(inlink.content)
                    for inlink in inlinks
                ]

    @slowly
    @given(graph=graphs())
    def test_outlinks_are_counted_by_kind_once_each(self, graph: Graph) -> None:
        with self.empty() as (store, _, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
            for content, links in all_links(store):
                counted: Counter[str] = Counter()
                for kind, count in store.outlink_kinds(content):
                    counted[kind] += count
                assert counted == Counter(link.kind for link in {*links})
            assert list(store.outlink_kinds(ContentId("none"))) == []

    @slowly
    @given(graph=graphs())
    def test_inlinks_are_counted_by_kind_without_being_read(self, graph: Graph) -> None:
        with self.empty() as (store, _, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
            for surt in store.surts(Surt("")):
                counted: Counter[str] = Counter()
                for kind, count in store.inlink_kinds(surt):
                    counted[kind] += count
                assert counted == Counter(inlink.kind for inlink in store.inlinks(surt))

    @slowly
    @given(graph=graphs())
    def test_inlinks_continue_after_any_of_them_and_never_change_order(self, graph: Graph) -> None:
        with self.empty() as (store, _, folder):
            before: dict[Surt, list[Inlink]] = {}
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                for surt in store.surts(Surt("")):
                    inlinks = list(store.inlinks(surt))
                    old = set(before.get(surt, []))
                    assert [inlink for inlink in inlinks if inlink in old] == before.get(surt, [])
                    before[surt] = inlinks
            for surt, inlinks in before.items():
                assert len(set(inlinks)) == len(inlinks)
                for index, inlink in enumerate(inlinks):
                    assert list(store.inlinks(surt, inlink)) == inlinks[index + 1 :]

    @slowly
    @given(
        graph=graphs(),
        prefix=st.sampled_from(
            ["", "org,example", "org,example)/", "org,example)/news", "example,", "zz"]
        ),
    )
    def test_surts_of_mementos_and_targets_are_found_by_prefix(
        self, graph: Graph, prefix: Surt
    ) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            expected = list(dictionary.surts(prefix))
            assert list(store.surts(prefix)) == expected
            for index, surt in enumerate(expected):
                assert list(store.surts(prefix, surt)) == expected[index + 1 :]
            assert list(store.surts(prefix, Surt(""))) == expected
            captured = list(dictionary.captured_surts(prefix))
            assert list(store.captured_surts(prefix)) == captured
            for index, surt in enumerate(captured):
                assert list(store.captured_surts(prefix, surt)) == captured[index + 1 :]


class ScansContract(Contract):
    """Tests of `Scans` against a `MemoryStore`."""

    @slowly
    @given(
        graph=graphs(),
        span=st.sampled_from(
            [ALL_TIME, Span(Timestamp("20091103011308"), Timestamp("20111231235959"))]
        ),
    )
    def test_a_whole_scan_has_every_content_and_memento_once(
        self, graph: Graph, span: Span
    ) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            assert list(store.scan_mementos(span)) == list(dictionary.scan_mementos(span))
            for prefix in ("org,example)", "org,example)/news", "example,", "zz"):
                assert list(store.scan_mementos(span, Surt(prefix))) == list(
                    dictionary.scan_mementos(span, Surt(prefix))
                )
            for surt in store.captured_surts(Surt("")):
                copies = list(store.copies(surt))
                assert copies == list(dictionary.copies(surt))
                firsts = [next(same) for _, same in groupby(copies, attrgetter("key"))]
                assert firsts == list(store.mementos(surt))
            scanned = list(all_links(store))
            assert len(scanned) == len({content for content, _ in scanned}) == store.sums().contents
            assert scanned == [(content, list(store.outlinks(content))) for content, _ in scanned]


class BuildsContract(Contract):
    """Tests of `Builds` against a `MemoryStore`."""

    @slowly
    @given(graph=graphs())
    def test_the_same_graph_files_again_change_nothing(self, graph: Graph) -> None:
        with self.empty() as (store, _, folder):
            batches = [
                load_next(store, graph, number, folder) for number in range(len(graph.batches))
            ]
            answers, stats = canonical(store), store.stats()
            for number, batch in enumerate(batches):
                assert (
                    store.load(folder / str(number), FILES[number : number + 1], SETTINGS, "{}")
                    == batch
                )
            assert canonical(store) == answers
            assert replace(store.stats(), bytes=0) == replace(stats, bytes=0)

    @slowly
    @given(graph=graphs())
    def test_known_contents_come_in_the_order_of_the_query(self, graph: Graph) -> None:
        with self.empty() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            originals = sorted({memento.original for batch in graph.batches for memento in batch})
            wanted = [(checksum, originals) for checksum in sorted(graph.truths)] * 30
            expected = [
                (payload, list(missing)) for payload, missing in dictionary.known_contents(wanted)
            ]
            assert [
                (payload, list(missing)) for payload, missing in store.known_contents(iter(wanted))
            ] == expected

    @slowly
    @given(graph=graphs())
    def test_batches_files_and_settings_come_back(self, graph: Graph) -> None:
        with self.empty() as (store, _, folder):
            batches, states = [], [store.state()]
            for number in range(len(graph.batches)):
                batches.append(load_next(store, graph, number, folder))
                states.append(store.state())
            distinct = list({batch.number: batch for batch in batches}.values())
            assert len({state.version for state in states}) == len(
                {state.order for state in states[1:]}
            ) + len(distinct)
            assert list(store.batches()) == distinct
            assert store.last_batch() == distinct[-1].number
            assert [batch.number for batch in distinct] == list(range(1, len(distinct) + 1))
            assert distinct[0] == Batch(1, ("a.warc.gz",), '{"batch": 0}')
            assert list(store.files()) == FILES[: len(graph.batches)]
            assert store.setting("extractor") == "1"
            assert store.setting("unknown") is None

    def test_a_folder_without_graph_files_is_refused(self, tmp_path: Path) -> None:
        with (
            self.empty() as (store, _, _folder),
            pytest.raises(StoreError, match="has no graph files"),
        ):
            store.load(tmp_path, FILES, SETTINGS, "{}")


class TakedownsContract(Contract):
    """Tests of `Takedowns` against a `MemoryStore`."""

    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        raise NotImplementedError

    @contextmanager
    def forgetting(self) -> Iterator[tuple[GraphStore, MemoryStore, Path]]:
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as store:
            yield store, MemoryStore(), Path(name)

    @slowly
    @given(graph=graphs(), what=forgotten, before=st.integers(0, 5), data=st.data())
    def test_a_store_forgets_as_a_dictionary_does_at_any_time(
        self, graph: Graph, what: Forgotten, before: int, data: st.DataObject
    ) -> None:
        other = Takedown(data.draw(forgotten), "", "2026-11-22T00:00:00Z")
        takedown = Takedown(what, "of the owner", "2026-11-21T00:00:00Z")
        with self.forgetting() as (store, dictionary, folder):
            for number in range(len(graph.batches) + 1):
                if number == before or number == len(graph.batches) < before:
                    answers = canonical(store)
                    would = store.forget(takedown, is_trial=True)
                    assert canonical(store) == answers
                    assert list(store.forgotten()) == []
                    state = store.state()
                    assert would == store.forget(takedown) == dictionary.forget(takedown)
                    assert store.state().version != state.version
                    assert (store.state().order == state.order) is (
                        would.contents == would.links == 0
                    )
                    state = store.state()
                    assert store.forget(takedown) == dictionary.forget(takedown) == Removed()
                    assert store.state() == state
                    assert store.forget(other) == dictionary.forget(other)
                if number < len(graph.batches):
                    load_next(store, graph, number, folder)
                    load_next(dictionary, graph, number, folder / "other")
            assert self.placeless(store) == self.placeless(dictionary)
            assert list(store.forgotten()) == list(dictionary.forgotten())
            assert list(store.verify()) == []

    @slowly
    @given(graph=graphs(), subjects=st.lists(forgotten, max_size=8))
    def test_takedowns_of_a_list_are_as_one_after_the_other(
        self, graph: Graph, subjects: list[Forgotten]
    ) -> None:
        takedowns = [Takedown(what, str(number), "") for number, what in enumerate(subjects)]
        with self.forgetting() as (store, dictionary, folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(dictionary, graph, number, folder / "other")
            assert store.forget_each(takedowns) == list(map(dictionary.forget, takedowns))
            assert self.placeless(store) == self.placeless(dictionary)
            assert list(store.forgotten()) == list(dictionary.forgotten())
            assert list(store.verify()) == []

    @slowly
    @given(graph=graphs(), what=forgotten)
    def test_a_store_that_forgot_answers_like_one_built_without(
        self, graph: Graph, what: Forgotten
    ) -> None:
        what = replace(what, has_targets=False)
        without = [
            [one for one in batch if not what.covers(one.surt, one.timestamp)]
            for batch in graph.batches
        ]
        left = {one.checksum for batch in without for one in batch}
        whole = {
            one.checksum
            for batch in without
            for one in batch
            if one.record_type != "revisit" and one.reason == "-"
        }
        # What only revisits show is at hand in one store, and was never read in the other.
        assume(left <= whole | {NO_CHECKSUM, EMPTY_PAYLOAD})
        with self.forgetting() as (store, _, folder), self.forgetting() as (other, _, other_folder):
            for number in range(len(graph.batches)):
                load_next(store, graph, number, folder)
                load_next(other, Graph(graph.truths, without), number, other_folder)
            store.forget(Takedown(what, "", ""))
            assert self.placeless(store) == self.placeless(other)


class AdditionsContract(Contract):
    """Tests of `Additions`: the relations that are kept from batch to batch show the store."""

    def opened(self, folder: Path) -> AbstractContextManager[GraphStore]:
        raise NotImplementedError

    def test_addresses_of_tables_come_back(self, tmp_path: Path) -> None:
        one, other, third = "hdfs:///tables/links", "s3://bucket/a b", "/srv/täb'les"
        case = "a payload is read in a later batch"
        graph = Graph(TRUTHS, [step for step in CASES[case] if not isinstance(step, Forgotten)])
        with self.opened(tmp_path) as store:
            for address in store.tables_at():
                store.note_tables(address, are_there=False)
            for number, (address, are_there, expected) in enumerate(
                [
                    (third, True, [third]),
                    (one, True, [third, one]),
                    (one, True, [third, one]),
                    (third, False, [one]),
                    (other, False, [one]),
                    (other, True, [one, other]),
                ]
            ):
                state = store.state()
                store.note_tables(address, are_there=are_there)
                assert store.state() == state
                if number < len(graph.batches):
                    load_next(store, graph, number, tmp_path)
                assert store.tables_at() == expected
            assert store.setting("extractor") == "1"
            for address in (one, other):
                store.note_tables(address, are_there=False)
            assert not store.tables_at()

    @pytest.mark.costly
    @slowly
    @given(graph=graphs(), are_made=st.lists(st.booleans(), min_size=6, max_size=6))
    def test_relations_made_after_any_batches_show_the_store(
        self, graph: Graph, are_made: list[bool]
    ) -> None:
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as store:
            tables = tables_folder(str(Path(name) / "links.db"))
            for number in range(len(graph.batches)):
                load_next(store, graph, number, Path(name))
                if are_made[number % 6] or number == len(graph.batches) - 1:
                    assert rows_of(tables, store) == rows_in(store)

    @pytest.mark.costly
    @slowly
    @given(graph=graphs(), what=forgotten, before=st.integers(1, 5))
    def test_relations_forget_what_the_store_forgets(
        self, graph: Graph, what: Forgotten, before: int
    ) -> None:
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as store:
            tables = tables_folder(str(Path(name) / "links.db"))
            for number in range(len(graph.batches)):
                load_next(store, graph, number, Path(name))
                if number + 1 == min(before, len(graph.batches)):
                    assert rows_of(tables, store) == rows_in(store)
                    with forgetting(str(Path(name) / "links.db"), store, [what]):
                        store.forget(Takedown(what, "", "2026-11-21T00:00:00Z"))
                    assert kept_rows(tables, store) == rows_in(store)
            assert rows_of(tables, store) == rows_in(store)

    @pytest.mark.costly
    @pytest.mark.parametrize("case", CASES)
    def test_relations_show_the_store_after_each_step(self, case: str, tmp_path: Path) -> None:
        where = str(tmp_path / "links.db")
        graph = Graph(TRUTHS, [step for step in CASES[case] if not isinstance(step, Forgotten)])
        number = 0
        with self.opened(tmp_path) as store:
            for step in CASES[case]:
                if isinstance(step, Forgotten):
                    with forgetting(where, store, [step]):
                        store.forget(Takedown(step, "", "2026-11-21T00:00:00Z"))
                    assert kept_rows(tables_folder(where), store) == rows_in(store)
                else:
                    load_next(store, graph, number, tmp_path)
                    number += 1
                    assert rows_of(tables_folder(where), store) == rows_in(store)

    @pytest.mark.costly
    @slowly
    @given(graph=graphs(), what=forgotten, forgets=st.booleans(), parts=st.integers(1, 3))
    def test_relations_that_tasks_write_show_the_store(
        self, graph: Graph, what: Forgotten, forgets: bool, parts: int
    ) -> None:
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as store:
            for number in range(len(graph.batches)):
                load_next(store, graph, number, Path(name))
                if forgets and not number:
                    store.forget(Takedown(what, "", "2026-11-21T00:00:00Z"))
            assert rows_by_tasks(Path(name), store, parts) == rows_in(store)


class StoreContract(
    AnswersContract, ScansContract, BuildsContract, TakedownsContract, AdditionsContract
):
    """Tests of a `GraphStore` against a `MemoryStore`."""

    def test_an_empty_store_answers_everything_with_nothing(self) -> None:
        with self.empty() as (store, dictionary, _):
            assert self.answers(store) == self.answers(dictionary)
            assert store.last_batch() == 0
            assert list(store.mementos(Surt("org,example)/"))) == []
            assert list(store.inlinks(Surt("org,example)/"))) == []
            assert list(store.verify()) == []
