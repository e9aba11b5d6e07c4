"""``arclink forget``: removes captures of a site, or of a time of it, from a store permanently."""

from collections.abc import Sequence
from functools import partial

import click

from arclink.access.declarations import Given
from arclink.cli.options import perform, takes
from arclink.operations.forget import FORGET, counts_removed, forget, takedown_name
from arclink.operations.operation import Operation
from arclink.store.protocols import Removed, Takedown

EXAMPLES = ("arclink forget 'http://example.org/private*' --store links.db --reason 'request 17'",)


@click.command()
@takes(*FORGET.declared)
def command(given: Given) -> None:
    """Remove captures from a store after a takedown request, and all data that only they show.

    PART is '*.example.org' (a site with all its ports and subdomains), 'http://example.org/a*' (all
    pages that begin like it), or the beginning of the captures' SURTs, which means the same:
    'org,example' and 'org,example)/a'. Records about these pages, such as their text and pictures
    (urn:text:URI), are removed with them, and so are the store's tables that tasks wrote to an
    address. Later builds leave out these captures, even if they read the same files again or use
    --rebuild.
    """
    done = perform(Operation(FORGET.declared, partial(forget, show=click.echo)), given)
    if done.known is not None:
        _show(done.known)


def _show(known: Sequence[tuple[Takedown, Removed]]) -> None:
    if not known:
        click.echo("nothing was forgotten.")
    for takedown, removed in known:
        what = takedown.what
        counts = counts_removed(removed)
        targets = f", links to it included ({removed.inlinks:,})" if what.has_targets else ""
        click.echo(
            f"{takedown.time}  {takedown_name(what)}{targets}  {counts}  {takedown.reason or '-'}"
        )
