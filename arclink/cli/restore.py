"""``arclink restore``: puts a backup in the place of a store that was lost."""

import shutil
from pathlib import Path

import click

from arclink.cli.options import store_option

EXAMPLES = ("arclink restore /backups/links.db --store links.db",)


@click.command(short_help="Restore a lost store from a backup.")
@click.argument("backup", metavar="FILE", type=click.Path())
@store_option
@click.option(
    "--takedowns",
    "lists",
    multiple=True,
    type=click.Path(),
    help="List of takedowns that is newer than the backup. May be given again.",
)
@click.option(
    "--no-later-takedowns",
    is_flag=True,
    help="Restore without a list of takedowns: nothing was forgotten after the backup.",
)
@click.option("--replace", "replaces", is_flag=True, help="Replace an existing store.")
@click.option("--no-verify", is_flag=True, help="Do not check the store. This is much faster.")
def command(
    backup: str,
    store: str,
    lists: tuple[str, ...],
    no_later_takedowns: bool,
    replaces: bool,
    no_verify: bool,
) -> None:
    """Put the backup FILE in the place of a SQLite store, completely or not at all.

    Takedowns that are newer than the backup are applied again. They are in the list
    STORE.takedowns, which outlives the store; without that list, restore asks for one. Afterwards,
    build again to read the files that the backup lacks.
    """
    from arclink.analysis.slice_cache import remove_slices
    from arclink.pipeline.build import only_build
    from arclink.store.backups import restore
    from arclink.store.location import local_file_of, takedowns_path, work_folder

    path = local_file_of(store, "arclink restore")
    aside = takedowns_path(store)  # left by a rebuild that was killed
    with only_build(path):
        done = restore(
            Path(backup),
            path,
            [*map(Path, lists), *([aside] if aside.exists() else [])],
            replaces=replaces,
            is_list_needed=not no_later_takedowns,
            verifies=not no_verify,
        )
        # Slices and files between the stages were made from the lost store.
        remove_slices(store)
        shutil.rmtree(work_folder(store), ignore_errors=True)
    sums = done.sums
    click.echo(
        f"{store}: {sums.batches:,} batches, {sums.contents:,} contents, {sums.links:,} links "
        f"({sums.bytes:,} bytes{'' if no_verify else ', verified'}), from {backup}."
    )
    if done.applied:
        click.echo(
            f"{len(done.applied):,} takedowns are newer than the backup: "
            f"{done.mementos:,} mementos were forgotten again."
        )
    click.echo("Build again with the same inputs to add files that the backup lacks.")
