"""How quickly captures are taken away: bytes of exported files per CPU second, by format.

    python -m benchmarks.take_away --captures 20000

Generated captures: pages of 40 KB of text, and pictures of 40 KB that do not compress, in equal
numbers, as gzip members of one WARC file. Each format is exported three times to the same folder;
the run with the least CPU time is shown. CPU is that of the whole export: listing, sorting,
reading, checking and writing.
"""

import argparse
import gzip
import platform
import random
import tempfile
import time
from pathlib import Path

from arclink.captures.export import Source
from arclink.captures.queries import FORMATS_OF_FILES, CaptureFormat, TakeAwayQuery
from arclink.captures.write import take_away
from arclink.pipeline.settings import BuildSettings
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from benchmarks.corpus import Captured, Payload, digest_of, record_of

TIME = "20100101000000"
BYTES = 40_000
"""Of a body."""

ROUNDS = 3
NAMES = {
    CaptureFormat.WARC: "out.warc.gz",
    CaptureFormat.WACZ: "out.wacz",
    CaptureFormat.CDXJ: "out.cdxj",
    CaptureFormat.CAPTURES: "out.parquet",
    CaptureFormat.CAPTURES_CSV: "out.csv",
}


def write_captures(path: Path, count: int) -> None:
    """Write a WARC file with this number of captures."""
    dice = random.Random(1)
    words = [f"word{number:x}" for number in range(5_000)]
    with path.open("wb") as file:
        for number in range(count):
            uri = f"http://site{number % 50}.example/{number}"
            if number % 2:
                payload = Payload(200, "image/jpeg", dice.randbytes(BYTES))
            else:
                text = " ".join(dice.choices(words, k=BYTES // 8)).encode()
                payload = Payload(200, "text/html", b"<p>%d %b" % (number, text[:BYTES]))
            capture = Captured(1, uri, TIME, payload, is_revisit=False)
            file.write(gzip.compress(record_of(capture, digest_of(payload.body)), 6))


def main() -> None:
    """Print a table of bytes per CPU second."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captures", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warc = folder / "crawl.warc.gz"
        write_captures(warc, options.captures)
        store = folder / "links.db"
        build_store(folder, store, BuildSettings(cores=2), inputs=[str(warc)])
        size = warc.stat().st_size
        print(f"{platform.platform()}, Python {platform.python_version()}")
        print(f"{options.captures:,} captures, {size / 1e6:,.0f} MB\n")
        print("| format | MB | CPU s | MB a CPU s | captures a CPU s |")
        print("| --- | --- | --- | --- | --- |")
        queries = [(form.value, TakeAwayQuery(form)) for form in FORMATS_OF_FILES]
        queries.append(("warc --check", TakeAwayQuery(CaptureFormat.WARC, is_checked=True)))
        for label, query in queries:
            least = float("inf")
            for _ in range(ROUNDS):
                with open_store(str(store)) as opened:
                    before = time.process_time()
                    done = take_away(Source(opened), query, folder / NAMES[query.form])
                    least = min(least, time.process_time() - before)
            size = sum(done.files.values())
            print(
                f"| {label} | {size / 1e6:,.1f} | {least:.2f} | {size / 1e6 / least:,.0f} "
                f"| {done.tally.captures / least:,.0f} |"
            )


if __name__ == "__main__":
    main()
