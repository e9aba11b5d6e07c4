"""The commands that only answer a query: capabilities, and those that write more than rows.

To add one that writes more than rows, declare it here and give it a short help in
`arclink.cli.main`. A declaration imports what its command needs: so a call loads nothing for the
other commands.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arclink.access.capabilities import Capability, ToAnswer, capability
from arclink.access.declarations import (
    FROM,
    PATH,
    SUBSET,
    AnyParameter,
    ConflictError,
    Given,
    Parameter,
    named,
    span_of,
    switch,
)
from arclink.access.replay import NO_REPLAY, uri_ms_in
from arclink.cli.options import (
    GRAPH,
    REPLAY,
    STORE,
    open_requested_graph,
    requested_tables,
    takes,
    write_answer,
)
from arclink.errors import InputError, UsageError
from arclink.model import ALL_TIME
from arclink.rooms import CAPABILITIES
from arclink.store.location import name_of_store, sizes_next_to
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.access.formats.rows import RowAnswer, RowFormat
    from arclink.access.provenance import ProvenanceFields
    from arclink.analysis.questions.queries import AskQuery

_Answer = Callable[[Scans], Iterator[bytes]]
"""Yields the answer of a store in the format of the query."""


class _Query(NamedTuple):
    """What a command declares.

    Attributes:
        parameters: Its parameters, in the order of its help.
        read: Reads the query in the parameters, before a store is opened.
        more: Lines that its help has at its end.
        elsewhere: Answers without `read` if the caller wants that, and returns whether it did.
    """

    parameters: tuple[AnyParameter, ...]
    read: Callable[[Given], _Answer]
    more: Sequence[str] = ()
    elsewhere: Callable[[Given], bool] = lambda _: False


class _Declaration(NamedTuple):
    """A command and its examples; the docstring of ``declare`` is its help."""

    declare: Callable[[], _Query]
    examples: tuple[str, ...]


_COMMANDS: dict[str, _Declaration] = {}


def load_command(name: str) -> tuple[click.Command, tuple[str, ...]]:
    """Return a command of a capability or of this module, and its examples."""
    if name in CAPABILITIES:
        one = capability(name)
        return _answering(one.about, _in_rows(one)), one.examples
    declare, examples = _COMMANDS[name]
    query = declare()
    about = "\n".join((getdoc(declare) or "", *(("", "\b", *query.more) if query.more else ())))
    return _answering(about, query), examples


def _answering(about: str, query: _Query) -> click.Command:
    def command(given: Given) -> None:
        if query.elsewhere(given):
            return
        answer = query.read(given)
        with open_requested_graph(given) as graph:
            write_answer(answer(graph))

    return click.command(help=about)(takes(*query.parameters)(command))


def _in_rows(one: Capability[Any]) -> _Query:
    """Return the command of a capability."""
    from arclink.access.formats.rows import ROW_FORMAT

    def read(given: Given) -> _Answer:
        form, name = ROW_FORMAT.required(given), name_of_store(STORE.required(given))
        if one.is_question(given):
            from arclink.analysis.questions.queries import question_behind

            return _to_question(given, question_behind(one, given), form)
        query, prefix = one.query.of(given), REPLAY.optional(given) or NO_REPLAY
        return lambda graph: form.write(
            one.rows(ToAnswer(graph, query, replay=prefix, archive=name), given)
        )

    replay = (REPLAY,) if one.has_replay else ()
    return _Query((STORE, one.subset, *one.declared, *replay, ROW_FORMAT), read)


def _to_question(given: Given, query: "AskQuery", form: "RowFormat") -> _Answer:
    """Answer a question from the tables of a store."""

    def answer(graph: Scans) -> Iterator[bytes]:
        texts = query.question.is_of_texts
        with requested_tables(given, graph, with_texts=texts) as database:
            from arclink.analysis.questions.asking import ask
            from arclink.analysis.questions.rows import ask_as_rows, said_from
            from arclink.cli.instances import with_notes

            name = name_of_store(STORE.required(given))
            found = said_from(ask(database, query), graph, name, given)
        yield from with_notes(form, ask_as_rows(found), found.unknown, found.left_out)

    return answer


def _command(name: str, *examples: str) -> Callable[[Callable[[], _Query]], Callable[[], _Query]]:
    """Return the decorator that adds a command."""

    def add(declare: Callable[[], _Query]) -> Callable[[], _Query]:
        _COMMANDS[name] = _Declaration(declare, examples)
        return declare

    return add


@_command(
    "links",
    "arclink links example.org --store links.db",
    "arclink links example.org --store links.db --direction in --from 2010 --to 201003",
    "arclink links example.org --store links.db --at 20100217 --format csv > links.csv",
)
def _links() -> _Query:
    """Show the outlinks and inlinks of URI, with their times and words.

    Any variant of the URI (http or https, with or without www.) gives the same answer.
    """
    from arclink.access.answers import answer_link_query
    from arclink.access.formats import FORM, FORMAT, chosen_format
    from arclink.access.queries import LINK_PARAMETERS, LinkQuery
    from arclink.access.reader import PATIENT

    def said_from(graph: Scans, given: Given) -> "ProvenanceFields":
        from arclink.access.provenance import fields_of_links  # not every format says it

        return fields_of_links(graph, name_of_store(STORE.required(given)), given)

    def read(given: Given) -> _Answer:
        query = LinkQuery.of(given.sorted_out(LINK_PARAMETERS, *GRAPH, REPLAY, *FORM))
        prefix = REPLAY.optional(given) or NO_REPLAY
        form = chosen_format(FORMAT.required(given), given)
        form.check(query)

        def answer(graph: Scans) -> Iterator[bytes]:
            found = answer_link_query(graph, query, PATIENT, prefix)
            found = replace(found, provenance=partial(said_from, graph, given))
            yield from form.write(found)
            if not (query.is_range or found.mementos.count):
                from arclink.cli.similar import similar_note

                if note := similar_note(given, graph, query.uri):
                    _note(note)

        return answer

    return _Query((*GRAPH, *LINK_PARAMETERS, *FORM, REPLAY), read)


@_command("timemap", "arclink timemap example.org --store links.db")
def _timemap() -> _Query:
    """List the mementos of URI in the graph, oldest first, up to 10,000 at a time.

    Link format needs --replay: without it, mementos have no address.
    """
    from arclink.access.formats.timemaps import write_json_timemap, write_link_timemap
    from arclink.access.queries import URI
    from arclink.access.timemaps import read_timemap

    form = Parameter(
        "format",
        "JSON, or link format (RFC 7089).",
        named({"link": write_link_timemap, "json": write_json_timemap}),
        default="json",
    )

    def read(given: Given) -> _Answer:
        prefix, write = REPLAY.optional(given) or NO_REPLAY, form.required(given)
        if write is write_link_timemap and not prefix:
            raise UsageError(
                "--format link: a TimeMap in link format needs --replay PREFIX; with --format "
                "json the times are listed"
            )
        uri, start = given.text(URI), FROM.optional(given) or ALL_TIME.first

        def answer(graph: Scans) -> Iterator[bytes]:
            found = read_timemap(graph, uri, start)
            yield from write(found, uri_ms_in(prefix))
            if found.following is not None:
                _note(f"There is more: repeat the command with --from {found.following}")

        return answer

    return _Query((*GRAPH, URI, FROM, REPLAY, form), read)


@_command("explain", "arclink explain http://example.org/news --store links.db")
def _explain() -> _Query:
    """Show the outcome of each capture of URI, with its reason, file and offset."""
    import orjson

    from arclink.access.evidence import EXPLAIN_PARAMETERS, explain
    from arclink.access.formats.explanations import explanation_fields, explanation_lines
    from arclink.access.queries import URI
    from arclink.access.texts import printable_uri

    form = Parameter(
        "format",
        "Format: text for people, or one JSON object per line.",
        named({"text": "text", "jsonl": "jsonl"}),
        default="text",
    )

    def read(given: Given) -> _Answer:
        uri, span, is_text = given.text(URI), span_of(given), form.required(given) == "text"

        def answer(graph: Scans) -> Iterator[bytes]:
            is_captured = False
            for found in explain(graph, uri, span):
                is_captured = True
                if is_text:
                    yield _line("\n".join(explanation_lines(found)))
                else:
                    yield orjson.dumps(explanation_fields(found), option=orjson.OPT_APPEND_NEWLINE)
            if not is_captured:
                text = f"Not captured: the graph has no memento of {printable_uri(uri)}."
                if is_text:
                    yield _line(text)
                else:
                    _note(text)

        return answer

    return _Query((*GRAPH, *EXPLAIN_PARAMETERS, form), read)


@_command(
    "ask",
    "arclink ask linkers '*.example.org' --store links.db --level domain --by year",
    "arclink ask broken http://example.org/ --store links.db --scope host --format csv",
    "arclink ask most-linked --store links.db --level host",
    "arclink ask captures --store links.db --uris addresses.txt --by year",
    "arclink ask gaps --store links.db --min-hosts 3 --limit 0 --format seeds > seeds.txt",
    "arclink ask linkers example.org --instance olympics=http://127.0.0.1:8080/olympics",
)
def _ask() -> _Query:
    """Answer a question about pages, sites, or the whole archive.

    The answer is read from the tables of the store, which are made on first use (`arclink tables`).
    docs/reference/questions.md says what each question counts. With --instance, services answer,
    and so does the store, if there is one; exit code 3 means that an archive failed or gave only a
    part of its answer.
    """
    from arclink.analysis.questions.queries import ADDRESSES, ASK_PARAMETERS, QUESTION, AskQuery
    from arclink.analysis.questions.rows import ASK_FORMAT, check_format
    from arclink.analysis.questions.table import QUESTIONS
    from arclink.cli.instances import INSTANCES, STORE_OF_MANY, TIMEOUT, WHOLE, ask_archives

    addresses = Parameter(
        "uris",
        "A file with an address on each line, for questions about many.",
        PATH,
        metavar="FILE",
    )

    def with_list(given: Given) -> Given:
        file = addresses.optional(given)
        texts = given.found(ADDRESSES)[1]
        if not all(text.strip() for text in texts):  # such as a variable of a shell without value
            why = "is empty: leave it out to ask about the whole archive"
            raise ConflictError(ADDRESSES.name, "", why)
        if file is not None:
            from arclink.files.sealed import lines_of_list

            lines = lines_of_list(Path(file))
            if not lines:
                raise InputError(f"{file}: this list has no address")
            texts = (*texts, *lines)
            given = Given({**given.texts, ADDRESSES.name: texts})
        return given

    def elsewhere(given: Given) -> bool:
        if given.has(INSTANCES):
            ask_archives(with_list(given), QUESTION.required(given))
        elif not given.has(STORE_OF_MANY):
            raise UsageError("--store or --instance is missing: name a store, or services")
        return given.has(INSTANCES)

    def read(given: Given) -> _Answer:
        form = ASK_FORMAT.required(given)
        given = with_list(given)
        query = AskQuery.of(given, name=QUESTION.required(given))
        check_format(query, form)

        return _to_question(given, query, form)

    width = max(map(len, QUESTIONS))
    names = [f"  {name:<{width}}  {question.asks}" for name, question in QUESTIONS.items()]
    parameters = (QUESTION, STORE_OF_MANY, SUBSET, *ASK_PARAMETERS, addresses, ASK_FORMAT)
    return _Query((*parameters, INSTANCES, TIMEOUT, WHOLE), read, names, elsewhere)


@_command(
    "stats",
    "arclink stats --store links.db",
    "arclink stats --store links.db --duplicates --subset domain:gov",
)
def _stats() -> _Query:
    """Count the mementos, URIs, contents, links and other parts of a store.

    The command also counts batches, files, payloads, targets and bytes, and shows the first and
    last time of capture. All counts are exact: mementos, original URIs and targets are counted by
    reading about 50 % of the store. Then come the bytes of the files next to the store; `arclink
    tables --remove` removes those that can be made again. Last comes what each filter rule left of
    the captures when they were built.
    """
    in_json = switch("json", "Write one JSON object instead of lines.")
    manifests = switch(
        "manifests",
        "Show the manifest of each batch, one JSON document per line.",
        "reference/manifest.md",
    )

    duplicates = switch(
        "duplicates",
        "Count the captures that have the payload of the one before, by month or year, and the "
        "bytes that one copy of each payload would save.",
        "reference/relations.md#pages-that-stayed-the-same",
    )

    def read(given: Given) -> _Answer:
        if duplicates.required(given):
            form = "json" if in_json.required(given) else "table"
            return lambda graph: write_duplicates(given, graph, form)
        if manifests.required(given):
            return write_manifests

        write = write_counts_in_json if in_json.required(given) else write_counts
        return partial(write, sizes_next_to(STORE.required(given)), given.has(SUBSET))

    def write_duplicates(given: Given, graph: Scans, form: str) -> Iterator[bytes]:
        from arclink.access.formats.rows import ROW_FORMATS

        with requested_tables(given, graph) as database:
            from arclink.analysis.relations.answers import count_duplicates

            found = count_duplicates(database, graph, name_of_store(STORE.required(given)))
        return ROW_FORMATS[form].write(found)

    def write_manifests(graph: Scans) -> Iterator[bytes]:
        import orjson

        for batch in graph.batches():
            yield orjson.dumps(orjson.loads(batch.manifest), option=orjson.OPT_APPEND_NEWLINE)

    def rules_of(graph: Scans, *, is_subset: bool) -> "RowAnswer | None":
        from arclink.pipeline.rule_table import table_of_batches

        return None if is_subset else table_of_batches(graph.batches())

    def write_counts_in_json(
        sizes: Mapping[str, int], is_subset: bool, graph: Scans
    ) -> Iterator[bytes]:
        import orjson

        counts = {**asdict(graph.stats()), "files_next_to": sizes}
        if table := rules_of(graph, is_subset=is_subset):
            counts |= table.sections
        yield orjson.dumps(counts, option=orjson.OPT_APPEND_NEWLINE)

    def write_counts(sizes: Mapping[str, int], is_subset: bool, graph: Scans) -> Iterator[bytes]:
        next_to = {f"bytes of {name}": size for name, size in sizes.items()}
        for name, value in {**asdict(graph.stats()), **next_to}.items():
            shown = f"{value:,}" if isinstance(value, int) else value or "-"
            yield _line(f"{name}{shown:>{_WIDTH_OF_COUNTS - len(name)}}")
        if table := rules_of(graph, is_subset=is_subset):
            from arclink.cli.build import shown_table

            yield _line("") + shown_table(table)

    return _Query((*GRAPH, in_json, manifests, duplicates), read)


_WIDTH_OF_COUNTS = 28
"""Characters of a line of `arclink stats`."""


def _line(text: str) -> bytes:
    return f"{text}\n".encode()


def _note(text: str) -> None:
    """Write a note on an answer to standard error, after the answer itself."""
    sys.stdout.flush()
    click.echo(text, err=True)
