"""``arclink build``: turns archive files into a store."""

import click

from arclink.access.declarations import Given
from arclink.cli.options import perform, takes
from arclink.operations.build import BUILD

EXAMPLES = (
    "arclink build /data/crawl --store links.db",
    "arclink build crawl.warc.gz --cdx crawl.cdxj --store links.db",
    "arclink build --store links.db --rebuild",
    "arclink build hdfs:///crawl --runner hadoop --store cassandra://node1/links",
)


@click.command()
@takes(*BUILD.declared)
def command(given: Given) -> None:
    """Build the link graph of archive files, or add more files to it.

    INPUT is an archive file, a folder, a glob, an address (https, s3 or hdfs), or a list file
    (.txt, .lst, .list) with one of these per line. Files that the store has already are skipped,
    so the same command continues a build that was stopped.
    """
    from arclink.cli.summary import show_captures, show_summary

    done = perform(BUILD, given)
    show_summary(done.report, done.rules, done.sums, done.store)
    if done.captures:
        show_captures(*done.captures)
    if done.report.needs_a_person:
        raise click.exceptions.Exit(1)
