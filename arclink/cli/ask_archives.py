"""``arclink ask NAME --instance URL``: a question to services, and to a store if one is named."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from arclink.access.declarations import Given
from arclink.access.formats.rows import SEED_FORMATS, RowAnswer, RowFormat, seeds_of
from arclink.access.texts import counted
from arclink.analysis.questions.queries import LIMIT
from arclink.analysis.questions.rows import ASK_FORMAT, check_format, said_from
from arclink.cli.instance_options import client_for, complain, end_if_incomplete
from arclink.cli.options import (
    INSTANCE,
    STORE,
    open_requested_graph,
    requested_tables,
    write_answer,
)
from arclink.errors import UsageError
from arclink.store.location import name_of_store

if TYPE_CHECKING:
    from arclink.analysis.questions.merged import AskedRows, MergedQuestion
    from arclink.others.federation.requests import Asking

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
    asking = client_for(given, INSTANCES)
    archives = [*_of_store(given, question, asking), *ask_instances(asking, question)]
    answer = merge_rows(question, archives)
    complain(answer.reports, is_table=form.name == "table")
    rows = merged_as_rows(answer)
    unknown = "; ".join(f"{name}: {why}" for name, why in answer.unknown.items())
    write_answer(with_notes(form, rows, unknown, answer.total - answer.shown))
    end_if_incomplete(answer.reports)


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
    with open_requested_graph(given) as graph, requested_tables(given, graph) as database:
        from arclink.analysis.questions.asking import ask
        from arclink.analysis.questions.merged import as_asked

        name = name_of_store(STORE.required(given))
        found = said_from(ask(database, question.query), graph, name, question.given)
    yield as_asked(_HERE, found, question)
