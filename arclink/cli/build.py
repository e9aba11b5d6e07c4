"""``arclink build``: turns archive files into a store."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from arclink.cli.engine_options import engine_options, runner_of
from arclink.cli.options import store_option
from arclink.cli.rules import rules_from_options, wayback_of, wayback_options
from arclink.errors import ArclinkError, UsageError
from arclink.pipeline.settings import BuildSettings

SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


EXAMPLES = (
    "arclink build /data/crawl --store links.db",
    "arclink build crawl.warc.gz --cdx crawl.cdxj --store links.db",
    "arclink build hdfs:///crawl --runner hadoop --store cassandra://node1/links",
)


@click.command(short_help="Build the link graph of archive files, or add files to it.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@store_option
@click.option(
    "--cdx",
    multiple=True,
    type=click.Path(),
    help="CDX or CDXJ file, ZipNum index, WACZ or pywb collection. May be given again.",
)
@click.option(
    "--rules", "rules_file", type=click.Path(), help="JSON file of filter rules (docs/filter.md)."
)
@click.option(
    "--prefix",
    "prefixes",
    multiple=True,
    help="Only captures whose SURT starts with this. May be given again.",
)
@click.option(
    "--from", "first", help="Only captures from this time on: 1 to 14 digits, or ISO 8601."
)
@click.option("--to", "last", help="Only captures up to and including this time.")
@click.option("--no-redirects", is_flag=True, help="Do not read redirects to learn their targets.")
@click.option(
    "--lazy",
    is_flag=True,
    help="Also extract the data- attributes of lazy loading, such as data-src.",
)
@click.option(
    "--heritrix-outlinks",
    is_flag=True,
    help="Add the links that Heritrix recorded for a page (docs/heritrix.md).",
)
@wayback_options
@click.option(
    "--batch-size",
    default="4G",
    show_default=True,
    help="Archive bytes per batch; a batch goes through all stages at once.",
)
@engine_options
@click.option(
    "--cores",
    type=click.IntRange(min=1),
    help="Number of parallel tasks. Default: the number of processors.",
)
@click.option(
    "--work",
    type=click.Path(),
    help="Folder for files between the stages. Default: next to the store, or the current folder for Cassandra.",
)
@click.option(
    "--rebuild",
    is_flag=True,
    help="Remove the store and build a new one. Takedowns stay in effect.",
)
@click.option("--quiet", is_flag=True, help="Show only the summary, no progress.")
def command(
    inputs: tuple[str, ...],
    store: str,
    cdx: tuple[str, ...],
    rules_file: str | None,
    prefixes: tuple[str, ...],
    first: str | None,
    last: str | None,
    no_redirects: bool,
    lazy: bool,
    heritrix_outlinks: bool,
    unwrap_wayback: bool,
    wayback_prefixes: tuple[str, ...],
    batch_size: str,
    runner: str,
    engine_conf: str | None,
    hdfs: str | None,
    cores: int | None,
    work: str | None,
    rebuild: bool,
    quiet: bool,
) -> None:
    """Build the link graph of archive files, or add more files to it.

    INPUT is an archive file, a folder, a glob, a list file (.txt, .lst) with one of these per line,
    or a file or folder in HDFS (hdfs://…). Files that the store has already are skipped, so the
    same
    command continues a build that was stopped.
    """
    from arclink.cli.summary import show_summary
    from arclink.extract.extraction import ExtractSettings
    from arclink.mapreduce.runs import FAILED_TASK
    from arclink.pipeline.build import build, only_build
    from arclink.pipeline.damage import known_damage
    from arclink.pipeline.inputs import describe, find_archives, leave_out_foreign
    from arclink.pipeline.progress import Lines, Live, Progress, Silent
    from arclink.pipeline.wat_pairs import leave_out_described
    from arclink.rows.cdx_files import find_cdx
    from arclink.store.location import (
        exists,
        local_path_of,
        open_store,
        remove_if_empty,
        remove_store,
        takedowns_path,
        work_folder,
    )
    from arclink.store.takedown_files import set_aside, take_back

    settings = BuildSettings(
        rules=rules_from_options(
            rules_file, prefixes, first, last, read_redirects=not no_redirects
        ),
        extract=ExtractSettings(
            lazy=lazy,
            heritrix_outlinks=heritrix_outlinks,
            wayback=wayback_of(unwrap_wayback, wayback_prefixes),
        ),
        batch_bytes=parse_size(batch_size),
        runner=runner,
    )
    if cores:
        settings = replace(settings, cores=cores)
    if runner == "inline":
        settings = replace(settings, cores=1)
    paths, complaints = leave_out_foreign(find_archives(inputs))
    for complaint in complaints:
        click.echo(f"skipped: {complaint}", err=True)
    cdx_paths = find_cdx(cdx)
    folder = Path(work) if work else work_folder(store)
    run = runner_of(runner, settings.cores, folder, engine_conf, hdfs, local_path_of(store).name)
    with only_build(local_path_of(store)):
        record = takedowns_path(store)
        if rebuild:
            if exists(store):
                with open_store(store, create=True) as old:
                    set_aside(old, record)
            remove_store(store)
            shutil.rmtree(folder, ignore_errors=True)
        is_new = not exists(store)
        progress: Progress = Silent() if quiet else Live() if sys.stderr.isatty() else Lines()
        try:
            with open_store(store, create=True) as opened:
                take_back(opened, record)
                known = {file.name: file for file in opened.files()}
                paths, described = leave_out_described(paths, known)
                for complaint in described:
                    click.echo(f"skipped: {complaint}", err=True)
                files = describe(paths, known, known_damage(opened))
                report = build(files, cdx_paths, opened, settings, folder, progress, run)
        except ArclinkError:
            # No store is better than one that answers "not captured" to every query. The log of a
            # failed task is kept.
            if is_new and remove_if_empty(store) and not (folder / "tasks" / FAILED_TASK).exists():
                shutil.rmtree(folder, ignore_errors=True)
            raise
    with open_store(store) as built:  # reopened: its size is that of the closed file
        show_summary(report, built, store)
    if report.needs_a_person:
        raise click.exceptions.Exit(1)


def parse_size(text: str, option: str = "--batch-size") -> int:
    """Return the number of bytes that a text such as ``300M`` means.

    It is digits with an optional ``k``, ``M``, ``G`` or ``T``, for powers of 1,024.

    Args:
        text: The value of the option.
        option: Name of the option, for the error.

    Raises:
        UsageError: The text is not a size, or is zero.

    >>> parse_size("300M")
    314572800
    """
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in SIZES else (text, "")
    if not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise UsageError(
            f"{option} {text!r}: not a size; write bytes, or a number with k, M, G or T, such as 300M"
        )
    return int(number) * SIZES.get(unit, 1)
