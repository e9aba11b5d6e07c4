"""A lost store in Cassandra is restored from its backup, without forgotten captures."""

from pathlib import Path

from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from tests.engines.builds import answers
from tests.engines.conftest import Cassandra

SITE, PAGE = "example,aurora-daily)/", "example,kalvik2010)/press"


def run(*words: str | Path) -> str:
    """Call ``arclink``; return what it prints."""
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, f"{words}\n{done.output}\n{done.exception!r}"
    return done.stdout


def test_a_lost_store_comes_back_without_what_was_forgotten(
    cassandra: Cassandra, tmp_path: Path
) -> None:
    """One site was forgotten before the backup, another one after it."""
    archive, graph, backup = tmp_path / "archive", tmp_path / "graph", tmp_path / "backup"
    newest = tmp_path / "newest.takedowns"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    url = cassandra.keyspace()
    work: list[str | Path] = [
        "--work",
        tmp_path / "work",
        "--keep-graph",
        graph,
        "--batch-size",
        "50k",
    ]
    run("build", archive, "--store", url, "--runner", "inline", "--quiet", *work)
    run("forget", SITE, "--store", url)
    assert "new, 1 takedown." in run("backup", "--into", backup, "--store", url, "--graph", graph)
    run("forget", PAGE, "--store", url)
    run("forget", "--into", newest, "--store", url)
    expected = answers(url)
    assert expected

    new = cassandra.keyspace()  # the other one is lost
    said = run("restore", backup, "--store", new, "--takedowns", newest)
    assert "2 takedowns applied" in said
    assert answers(new) == expected
