"""Options that several commands share."""

import click

store_option = click.option(
    "--store",
    "store",
    required=True,
    metavar="PATH|URL",
    envvar="ARCLINK_STORE",
    show_envvar=True,
    help="The link graph: a file such as links.db, or a URL such as sqlite:///links.db or cassandra://node1,node2/links.",
)

replay_option = click.option(
    "--replay",
    default="",
    metavar="PREFIX",
    envvar="ARCLINK_REPLAY",
    show_envvar=True,
    help="Part of replay addresses before TIMESTAMP/URI, such as https://web.archive.org/web/.",
)

archives_option = click.option(
    "--archives",
    "archives",
    multiple=True,
    metavar="FOLDER|INDEX",
    help="Where archive files are now, if they were moved: a folder, a URL that ends in /, or a file with a name "
    "and a path on each line, separated by a tab; may come several times.",
)
