"""``arclink analyze pagerank``: the nodes with the highest rank, by window of time."""

import click

from arclink.access.declarations import Given
from arclink.access.formats.rows import ROW_FORMAT, ROW_FORMATS
from arclink.analysis.matrices.graph_queries import PAGERANK, RankQuery, ranked_windows
from arclink.cli.analyze.options import GRAPH_OR_FILES, to_answer
from arclink.cli.options import takes, write_answer

EXAMPLES = PAGERANK.examples


@click.command(help=PAGERANK.about)
@takes(*GRAPH_OR_FILES, *RankQuery.DECLARED, ROW_FORMAT)
def command(given: Given) -> None:
    """Write the answer; the table for people is that of the paper."""
    from arclink.analysis.matrices.pagerank import as_table_4, as_table_5

    query, form = RankQuery.of(given), ROW_FORMAT.required(given)
    with to_answer(given, query) as asked:
        if form is not ROW_FORMATS["table"] or query.uri:
            write_answer(form.write(PAGERANK.rows(asked, given)))
            return
        with ranked_windows(asked) as found:
            for table in as_table_5(found) if query.compare else as_table_4(found):
                write_answer(form.write(table))
