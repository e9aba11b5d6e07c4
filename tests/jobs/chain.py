"""The how-to about jobs by hand: its commands, and an archive that all of them have work for."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from arclink.demo import write_demo_archive
from tests.archives.made_archives import gzipped
from tests.pipeline.batch_orders import DIGESTED, damaged, digest_of, page, revisit, row
from tests.pipeline.cdx_of_files import cdx_of
from tests.sources import ROOT

PAGE = ROOT / "docs/how-to/jobs-by-hand.md"
LATER = "later.warc.gz"
"""The archive file of the page that has no rows."""


def commands() -> list[str]:
    """Return the commands of the page, one text each."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [
        command for block in blocks for command in re.split(r"(?:^|\n)\$ ", block.rstrip("\n"))[1:]
    ]


def run(command: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command of the page in a folder next to the jobs; fail with what it said.

    A job without input may fail.
    """
    if not (folder / "jobs").exists():
        (folder / "jobs").symlink_to(ROOT / "jobs")
    done = subprocess.run(
        ["bash", "-O", "nullglob", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lacks_input = done.stderr.endswith("does not exist!\n")
    said = f"{command}\n{done.stdout}\n{done.stderr[-4000:]}"
    assert done.returncode == 0 or lacks_input, said


def write_chain(folder: Path, earlier: Path) -> None:
    """Write ``archive`` and ``rows.cdxj`` to a folder, and an archive file of an earlier batch.

    Captures of one payload are in files that are cut short: the next one is read in the second
    round, and the fourth one after a search. A page without checksum in its row is the payload of
    two revisits, one of them in the earlier batch.
    """
    archive = folder / "archive"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    cdx_of(archive, sorted(path.name for path in archive.glob("*.warc*")), folder / "rows.cdxj")
    rows = []
    for name, cut in (("retried", 1), ("sought", 3)):
        body = b'<a href="%b.html">Next</a>' % name.encode()
        for number in range(cut + 1):
            uri, file = f"http://{name}.example/{number}/", f"{name}-{number}.warc"
            record = page(uri, number, body=body)
            (archive / file).write_bytes(damaged(record) if number < cut else record)
            rows.append(row(uri, number, file, 0, digest_of(body)[5:]))
    (archive / "again.warc").write_bytes(revisit("http://again.example/", 2, DIGESTED))
    (archive / "undigested.warc").write_bytes(page("http://undigested.example/", 3))
    rows.append(row("http://again.example/", 2, "again.warc", 0, mime="warc/revisit"))
    rows.append(row("http://undigested.example/", 3, "undigested.warc", 0, "-"))
    with (folder / "rows.cdxj").open("a", encoding="utf-8") as cdx:
        cdx.writelines(rows)
    later = page("http://later.example/", 4, body=b'<a href="later.html">Later</a>')
    (archive / LATER).write_bytes(gzipped([later]))
    earlier.write_bytes(revisit("http://earlier.example/", 1, DIGESTED))
