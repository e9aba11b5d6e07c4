"""Commands that ask other instances: ``arclink aggregate``, and ``arclink ask --instance``."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from arclink.access.archives import ArchiveReport, Outcome
from arclink.access.declarations import Given, Parameter, field_parameter, number
from arclink.access.formats import FORM, FORMAT, FORMATS, chosen_format
from arclink.access.formats.rows import SEED_FORMATS, RowAnswer, RowFormat, seeds_of
from arclink.access.formats.table import archive_lines, check_answered
from arclink.access.texts import counted
from arclink.analysis.questions.queries import LIMIT
from arclink.analysis.questions.rows import ASK_FORMAT, check_format, said_from
from arclink.cli.options import (
    INSTANCE,
    STORE,
    open_requested_graph,
    requested_tables,
    takes,
    write_answer,
)
from arclink.errors import UsageError
from arclink.others.federation.instances import QueryLimits, parse_instances
from arclink.others.federation.merge import MERGED_PARAMETERS, MergedQuery, answer_of, merge
from arclink.store.location import name_of_store

if TYPE_CHECKING:
    from arclink.analysis.questions.merged import AskedRows, MergedQuestion
    from arclink.others.federation.requests import Asking

# What commands that ask other instances share: options, and how they report failures.

_INCOMPLETE = 3
"""Exit code if there is an answer, but an instance failed or gave only a part."""


_SECONDS = number(least=0.1, most=3600)
TIMEOUT = field_parameter(
    QueryLimits, "instance_seconds", _SECONDS, name="timeout", metavar="SECONDS"
)
WHOLE = field_parameter(QueryLimits, "whole_seconds", _SECONDS, name="whole", metavar="SECONDS")


def _client_for(given: Given, instances: Parameter[str]) -> "Asking":
    """Return the client for the instances that a parameter names.

    Raises:
        UsageError: One of them has no usable name or address.
    """
    from arclink.others.federation.requests import Asking

    limits = QueryLimits(
        instance_seconds=TIMEOUT.required(given), whole_seconds=WHOLE.required(given)
    )
    return Asking(parse_instances(instances.many(given)), limits)


def _complain(reports: Sequence[ArchiveReport], *, is_table: bool) -> None:
    """Report failed instances on standard error, unless a table of the answers reports them.

    Raises:
        InstanceError: No instance answered.
    """
    check_answered(reports)
    if is_table:
        return
    for report, line in zip(reports, archive_lines(reports), strict=True):
        if report.outcome is not Outcome.ANSWERED:
            click.echo(f"arclink: {line}", err=True)


def _end_if_incomplete(reports: Sequence[ArchiveReport]) -> None:
    """End the command with code 3 if an instance failed or gave only a part."""
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        sys.exit(_INCOMPLETE)


# ``arclink aggregate URI``: the links of a URI in several archives, merged.

_AGGREGATE_EXAMPLES = (
    "arclink aggregate example.org --instance olympics=http://127.0.0.1:8080/olympics",
)


@click.command()
@takes(*MERGED_PARAMETERS, *FORM, INSTANCE, TIMEOUT, WHOLE)
def aggregate_command(given: Given) -> None:
    """Query several services for the links of URI at once, and merge their answers link by link.

    Exit code 3 means that an instance failed or gave only a part of its answer. Standard error
    names the instance and the reason.
    """
    asked = MergedQuery.of(given)
    form = chosen_format(FORMAT.required(given), given)
    found = _client_for(given, INSTANCE).ask(asked.query)
    reports = [report for _, report in found]
    _complain(reports, is_table=form is FORMATS["table"])
    answer = answer_of(merge(findings for findings, _ in found), asked, reports)
    write_answer(form.write(answer))
    _end_if_incomplete(reports)


# ``arclink ask NAME --instance URL``: a question to services, and to a store if one is named.

# A variable of the environment must not send the questions about a store to other machines.
INSTANCES = replace(
    INSTANCE,
    about="A service to ask as well, with a name for its archive.",
    is_required=False,
    envvar="",
)
STORE_OF_MANY = replace(STORE, is_required=False, otherwise="none, with --instance")

_HERE = "here"
"""Name of the archive of the store."""


def ask_archives(given: Given, name: str) -> None:
    """Answer a question of services, and of a store if there is one.

    Raises:
        UsageError: A parameter is wrong.
        InstanceError: No archive answered.
        StoreError: The store cannot be read.
    """
    from arclink.analysis.questions.merged import (
        MergedQuestion,
        ask_instances,
        merge_rows,
        merged_as_rows,
    )

    form = ASK_FORMAT.required(given)
    question = MergedQuestion.of(given, name)
    check_format(question.query, form)
    asking = _client_for(given, INSTANCES)
    archives = [*_of_store(given, question, asking), *ask_instances(asking, question)]
    answer = merge_rows(question, archives)
    _complain(answer.reports, is_table=form.name == "table")
    rows = merged_as_rows(answer)
    unknown = "; ".join(f"{name}: {why}" for name, why in answer.unknown.items())
    write_answer(with_notes(form, rows, unknown, answer.total - answer.shown))
    _end_if_incomplete(answer.reports)


def with_notes(form: RowFormat, rows: RowAnswer, unknown: str, left_out: int) -> Iterator[bytes]:
    """Yield an answer in a format, and then say on standard error what this format does not.

    Args:
        form: The format.
        rows: The answer.
        unknown: Why no row does not mean "none"; empty if it does.
        left_out: Number of rows after the limit.
    """
    yield from form.write(rows)
    sys.stdout.flush()
    if form.name in ("table", "json"):
        return
    others = seeds_of(rows)[1] if form.name in SEED_FORMATS else 0
    if unknown:
        click.echo(f"Unknown: {unknown}.", err=True)
    if left_out:
        click.echo(
            f"{counted(left_out, 'more row')} left out; --{LIMIT.name} 0 writes all.", err=True
        )
    if others:
        click.echo(
            f"{counted(others, 'address', 'addresses')} left out: no http or https.", err=True
        )


def _of_store(given: Given, question: "MergedQuestion", asking: "Asking") -> "Iterator[AskedRows]":
    """Yield the answer of the store, if there is one."""
    if not given.has(STORE_OF_MANY):
        return
    if any(instance.name == _HERE for instance in asking.instances):
        raise UsageError(f"--instance {_HERE}=…: the store has this name; use another one")
    texts = question.query.question.is_of_texts
    with (
        open_requested_graph(given) as graph,
        requested_tables(given, graph, with_texts=texts) as database,
    ):
        from arclink.analysis.questions.asking import ask
        from arclink.analysis.questions.merged import as_asked

        name = name_of_store(STORE.required(given))
        found = said_from(ask(database, question.query), graph, name, question.given)
    yield as_asked(_HERE, found, question)


COMMANDS = {
    "aggregate": (aggregate_command, _AGGREGATE_EXAMPLES),
}
"""The commands of this module, with their examples, by name."""
