"""The Pig scripts, compared with ArcLink's stages and with the true links of the demo archive."""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arclink.counts import Counts
from arclink.filter.rules import Rules
from arclink.mapreduce.runs import JobRunner, parts_of
from arclink.model import Forgotten, Span, Surt, Timestamp
from arclink.pipeline import stages
from arclink.pipeline.rule_table import rule_table
from arclink.pipeline.settings import BuildSettings
from arclink.reasons import Reason
from arclink.rows.pointers import PointerKind, parse_pointer
from arclink.store.protocols import Takedown
from arclink.store.takedown_files import format_takedowns
from arclink.uris.surts import surt_of
from tests.engines.conftest import ROOT, Pig
from tests.mapreduce.contract import Inputs

OTHER_RULES = Rules(
    statuses=("200", "404", "-"),
    mimes=("text/*", "application/*"),
    mimes_excluded=("text/css", "*javascript*"),
    extensions_excluded=("gif", "html"),
    mime_before_extension=False,
    read_redirects=False,
    prefixes=("example,", "org,"),
    first=Timestamp("20090101000000"),
    last=Timestamp("20171231235959"),
)
"""Rules of which each differs from the default."""

ODD_URI = 'http://odd.example/it\'s;a="$b"\\x^y]z[{1}(2)*?q=.+|'
"""A URI with whatever is special to Java's expressions, to Pig's strings, or in its files of
parameters.
"""


@pytest.fixture(scope="module")
def batch(inputs: Inputs) -> Path:
    """The folder of a batch, with its rows and graph files."""
    return inputs.filter[0].parent.parent


@pytest.fixture(scope="module")
def rows(batch: Path, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with rows of the demo archive (CDXJ) and of real and odd CDX files."""
    parts = [
        *parts_of(batch / "rows"),
        *sorted(shared_data.glob("flink_web/*.cdx")),
        *sorted(shared_data.glob("cdx/**/*.cdx")),
    ]
    originals = [b"http://a.example/x.GIF;v=1", ODD_URI.encode()]
    odd = [
        b"no row\n",
        *(
            b"%b 20100101 %b %b 200 - - 10 20 a.warc.gz\n" % (uri, uri, mime)
            for uri in originals
            for mime in (b"Text/HTML;q=1", b"application/rss+xml", b"unk", b"-")
        ),
        *(
            b"example,a)/form?__wb_method=%b 20100101 http://a.example/form text/html %b %b - - 10 "
            b"20 a.warc.gz\n" % (method, status, b"A" * 32)
            for method in (b"post", b"head")
            for status in (b"200", b"302")
        ),
        *(
            b"- 20100101 http://a.example/%b %b - %b - - 10 20 a.warc.gz\n"
            % (path, mime, b"B" * 32)
            for path in (b"untyped", b"x.gif")
            for mime in (b"-", b"text/html", b"image/png", b"application/x-www-form-urlencoded")
        ),
    ]
    path = tmp_path_factory.mktemp("rows") / "rows.cdx"
    # A header would hold for the files after it.
    lines = (
        line
        for part in parts
        for line in part.read_bytes().splitlines(keepends=True)
        if not line.lstrip().startswith(b"CDX")
    )
    path.write_bytes(b"".join([*lines, *odd]))
    return path


def filtered(
    rows: Path, rules: Rules, folder: Path, takedowns: Sequence[Takedown] = ()
) -> tuple[Counts, Sequence[str], Sequence[tuple[str, ...]]]:
    """Return the result of ArcLink's filter: counts, mementos, and the captures to read."""
    settings = BuildSettings(rules=rules, forgotten=tuple(takedown.what for takedown in takedowns))
    counts = stages.filter_rows([rows], folder, settings, JobRunner("local", 2, folder / "tasks"))
    mementos = [
        line
        for part in parts_of(folder / "mementos")
        for line in part.read_text("utf-8").splitlines()
    ]
    reads = []
    for part in parts_of(folder / "pointers"):
        for line in part.read_bytes().splitlines():
            pointer = parse_pointer(line)
            if pointer.memento:
                mementos.append(pointer.memento.decode())
            if (
                pointer.kind not in (PointerKind.REVISIT_ONLY, PointerKind.NOT_MODIFIED)
                and pointer.chunk == 0
            ):
                reads.append(
                    (
                        pointer.checksum,
                        pointer.timestamp,
                        pointer.original,
                        pointer.file,
                        str(pointer.offset),
                        str(pointer.length),
                    )
                )
    return counts, sorted(mementos), sorted(reads)


def written(rules: Rules, folder: Path, takedowns: Sequence[Takedown] = ()) -> Path:
    """Return a file with the parameters of rules and takedowns, made as the documentation says."""
    (folder / "rules.json").write_text(rules.to_json(), encoding="utf-8")
    (folder / "takedowns.jsonl").write_bytes(format_takedowns(takedowns))
    command: list[str | Path] = [
        sys.executable,
        ROOT / "pig/rule_parameters.py",
        folder / "rules.json",
        "--takedowns",
        folder / "takedowns.jsonl",
    ]
    path = folder / "rules.pig"
    path.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    return path


def compare_filters(
    rules: Rules, rows: Path, pig: Pig, folder: Path, takedowns: Sequence[Takedown] = ()
) -> Counts:
    counts, mementos, reads = filtered(rows, rules, folder, takedowns)
    out, chosen = f"mementos-{folder.name}", f"reads-{folder.name}"
    pig.run(
        "filter.pig",
        written(rules, folder, takedowns),
        CDX=pig.put(rows),
        MEMENTOS=pig.address(out),
        READS=pig.address(chosen),
    )
    assert len(mementos) > 1000
    assert sorted(pig.read(out)) == mementos
    assert sorted(tuple(line.split("\t")) for line in pig.read(chosen)) == reads
    return counts


def takedowns_in(mementos: Sequence[str]) -> list[Takedown]:
    """Return takedowns of some mementos: of a site for a time, of a domain with its ports, of a
    folder, and of one odd page.
    """
    captures = [line.split("\t")[:2] for line in mementos]
    hosts = Counter(surt.partition(")")[0] for surt, _ in captures)
    (site, _), (domain, _), (other, _) = hosts.most_common(3)
    times = sorted(timestamp for surt, timestamp in captures if surt.startswith(f"{site})"))
    folders = Counter(
        surt.rpartition("/")[0] for surt, _ in captures if surt.startswith(f"{other})/")
    )
    ((folder, _),) = folders.most_common(1)
    return [
        Takedown(
            Forgotten(
                Surt(f"{site})/"),
                Span(Timestamp(times[len(times) // 4]), Timestamp(times[len(times) // 2])),
            ),
            "",
            "2026",
        ),
        *(
            Takedown(Forgotten(Surt(prefix)), "", "2026")
            for prefix in (domain, f"{folder}/", surt_of(ODD_URI), domain[:-1])
        ),
    ]


def test_pigs_filter_agrees_with_ours_row_for_row(rows: Path, pig: Pig, tmp_path: Path) -> None:
    compare_filters(Rules(), rows, pig, tmp_path)


def test_pigs_filter_leaves_out_what_is_forgotten_as_ours_does(
    rows: Path, pig_here: Pig, tmp_path: Path
) -> None:
    (tmp_path / "before").mkdir()
    _, mementos, _ = filtered(rows, Rules(), tmp_path / "before")
    takedowns = takedowns_in(mementos)
    counts = compare_filters(Rules(), rows, pig_here, tmp_path, takedowns)
    covered = [
        sum(takedown.what.covers(*line.split("\t")[:2]) for line in mementos)
        for takedown in takedowns
    ]
    assert all(covered[:-1]), "each takedown has a capture"
    assert not covered[-1], "half a label is not a label"
    assert counts[Reason.ROW_FORGOTTEN] == sum(covered)
    assert len(mementos) == counts[Reason.ROW_KEPT] + counts[Reason.ROW_FORGOTTEN]


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(OTHER_RULES, id="others"),
        pytest.param(
            replace(Rules(), checksum=False, statuses=(), mimes=(), extensions_excluded=()),
            id="none",
        ),
    ],
)
def test_pigs_filter_agrees_with_ours_under_other_rules(
    rules: Rules, rows: Path, pig_here: Pig, tmp_path: Path
) -> None:
    compare_filters(rules, rows, pig_here, tmp_path)


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(Rules(), id="default"),
        pytest.param(Rules(mime_before_extension=False), id="those of the paper"),
    ],
)
def test_table_2_is_that_of_filter(rules: Rules, rows: Path, pig: Pig, tmp_path: Path) -> None:
    counts, _, _ = filtered(rows, rules, tmp_path)
    pig.run(
        "table2.pig",
        written(rules, tmp_path),
        CDX=pig.put(rows),
        TABLE=pig.address(f"table2-{tmp_path.name}"),
    )
    expected = {str(row["rule"]): row for row in rule_table(counts, rules).sections["rules"]}
    table = [line.split("\t") for line in pig.read(f"table2-{tmp_path.name}")]
    assert [name for name, _, _ in table] == list(expected)
    assert [int(left) for _, left, _ in table] == [row["records"] for row in expected.values()]
    assert [float(share) for _, _, share in table] == pytest.approx(
        [row["share"] for row in expected.values()]
    )
    assert len({left for _, left, _ in table}) == len(expected), (
        "the rows would not tell one rule from another"
    )


def true_inlinks(archive: Path) -> list[tuple[str, str, int, int]]:
    """Return (target, month, mementos, originals) from the list of true links: no stage had a hand
    in it.
    """
    linking: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for line in (archive / "truth.jsonl").read_text("utf-8").splitlines():
        memento = json.loads(line)
        for target, *_ in memento["links"] or []:
            linking[surt_of(target), memento["timestamp"][:6]].add(
                (memento["original"], memento["timestamp"])
            )
    return sorted(
        (target, month, len(found), len({original for original, _ in found}))
        for (target, month), found in linking.items()
    )


def test_inlinks_by_month_are_those_of_the_true_links(batch: Path, pig: Pig) -> None:
    graph = str(batch / "graph")
    if pig.cluster:
        for relation in ("mementos", "payloads", "outlinks", "inlinks"):
            pig.cluster.put(parts_of(batch / "graph" / relation), f"/tests/graph/{relation}")
        graph = "hdfs:///tests/graph"
    pig.run("inlinks_by_month.pig", GRAPH=graph, COUNTS=pig.address("inlinks"))
    found = [
        (target, month, int(mementos), int(sources))
        for target, month, mementos, sources in map(str.split, pig.read("inlinks"))
    ]
    assert found == true_inlinks(batch / "archive"), "also in this order"
    assert max(mementos - sources for _, _, mementos, sources in found) > 0
