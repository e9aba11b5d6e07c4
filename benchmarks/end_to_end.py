"""Cost from archive files to a store, compared with programs that only list links."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.bench import Bench, Built, Corpus, NotHereError
from benchmarks.measurement import Figure
from benchmarks.tables import TIMES, Cell, Table, Target

PLAIN_PAGES = 100
ENOUGH = 300_000_000
"""Bytes of a batch from which on the ratios are asked for."""

COLUMNS = [
    "",
    "CPU s",
    "wall s",
    "pages",
    "ms a page",
    "µs a link",
    "times the floor",
    "MB, all processes",
    "MB, largest",
]


@dataclass(frozen=True, slots=True)
class Listed:
    """What listing the links of some pages cost; ``links`` is None if they were not counted."""

    figure: Figure
    pages: int
    links: int | None

    @property
    def per_page(self) -> float:
        """CPU seconds."""
        return self.figure.cpu / self.pages

    def cells(self, name: str, floor: "Listed") -> list[Cell]:
        """Return a row of `COLUMNS`."""
        per_link = 1e6 * self.figure.cpu / self.links if self.links else None
        cost: list[Cell] = [
            name,
            self.figure.cpu,
            self.figure.wall,
            self.pages,
            1e3 * self.per_page,
            per_link,
        ]
        return [*cost, self.per_page / floor.per_page, self.figure.megabytes, self.figure.largest]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each corpus, and one for the link-dense archive."""
    for size in bench.sizes:
        yield _of_corpus(bench, bench.corpus(size))
    if link_dense := bench.link_dense():
        yield _of_corpus(bench, link_dense)


def _of_corpus(bench: Bench, corpus: Corpus) -> Table:
    files = [str(path) for path in corpus.files]
    notes = [
        (
            f"{corpus.bytes:,} bytes in {len(files)} files; the plain way on at most "
            f"{PLAIN_PAGES} pages."
        )
    ]
    floor_command = bench.peer("benchmarks.peers.floor", *files)
    most = min(_listed(bench.run(floor_command, repeat=1)).pages, PLAIN_PAGES)
    commands = [floor_command, bench.peer("benchmarks.peers.plain_way", str(most), *files)]
    try:
        commands.append(bench.java("benchmarks.ListLinks", *files))
    except NotHereError as error:
        notes.append(f"Java was not measured: {error}.")
    peers = [partial(bench.run, command, repeat=1) for command in commands]
    ours = [partial(bench.build_again, corpus, with_cdx=with_cdx) for with_cdx in (True, False)]
    floor, plain, *javas = map(_listed, bench.rounds(*peers, others=ours))
    with_cdx, without = (bench.build(corpus, with_cdx=with_cdx) for with_cdx in (True, False))
    rows = [floor.cells("floor: fastwarc + lexbor, a@href with text, nothing kept", floor)]
    for name, built in (("with CDX", with_cdx), ("without CDX", without)):
        rows.append(
            Listed(built.figure, floor.pages, built.stats["links"]).cells(f"ArcLink, {name}", floor)
        )
        rows += [[f"… {stage}", seconds, *[None] * 7] for stage, seconds in by_stage(built).items()]
    rows.append(plain.cells("the plain way: warcio, BeautifulSoup, urljoin, surt, SimHash", floor))
    java = javas[0] if javas else None
    if java is not None:
        rows.append(java.cells("plain Java: jwarc + jsoup, links only", floor))
        rows.append(
            _wat(bench, corpus).cells(
                "webarchive-commons' WAT extractor, on the smallest file", floor
            )
        )
        notes.append(
            f"jsoup found {java.links:,} links on {java.pages:,} pages, lexbor "
            f"{floor.links:,} on {floor.pages:,}."
        )
        notes.append("The WAT extractor parses every answer; equal ones count again.")
    targets = (
        _targets(corpus, floor, plain, java, with_cdx, without)
        if corpus.captures
        else _of_links(bench, with_cdx, without)
    )
    return Table(f"End to end: {corpus.name}", COLUMNS, rows, targets, notes)


def by_stage(built: Built) -> dict[str, float]:
    """Return CPU seconds by job, and what is left of the whole process."""
    return {**built.seconds, "the rest": built.figure.cpu - sum(built.seconds.values())}


def _listed(figure: Figure) -> Listed:
    """Return the output of a peer that lists links."""
    pages, links, *_ = map(int, figure.printed.split())
    return Listed(figure, pages, links)


def _wat(bench: Bench, corpus: Corpus) -> Listed:
    smallest = str(min(corpus.files, key=lambda path: path.stat().st_size))
    answers = int(
        bench.run(bench.peer("benchmarks.peers.floor", smallest), repeat=1).printed.split()[2]
    )
    return Listed(
        bench.run(bench.java("org.archive.extract.ResourceExtractor", "-wat", smallest)),
        answers,
        None,
    )


def _targets(
    corpus: Corpus,
    floor: Listed,
    plain: Listed,
    java: Listed | None,
    with_cdx: Built,
    without: Built,
) -> list[Target]:
    cpu = with_cdx.figure.cpu
    memory = Target(
        "memory of all processes",
        max(with_cdx.figure.megabytes, without.figure.megabytes),
        500,
        unit=" MB",
    )
    if corpus.bytes < ENOUGH:
        return [memory]
    return [
        Target(
            "CPU per page read, with CDX, by the floor's", cpu / floor.figure.cpu, 3.3, unit=TIMES
        ),
        Target("aim: the same", cpu / floor.figure.cpu, 2.5, unit=TIMES),
        Target(
            "the plain way's CPU per page by ours",
            plain.per_page * floor.pages / cpu,
            20,
            at_most=False,
            unit=TIMES,
        ),
        Target("CPU by plain Java's", cpu / java.figure.cpu if java else None, 1, unit=TIMES),
        Target("CPU without CDX by that with", without.figure.cpu / cpu, 1.25, unit=TIMES),
        memory,
    ]


def _of_links(bench: Bench, with_cdx: Built, without: Built) -> list[Target]:
    """Return the targets for link-dense pages. The archive is small.

    The fixed cost of a build is not the links'.
    """
    nothing = bench.corpus(3)
    fixed, fixed_without = (bench.build(nothing, with_cdx=one).figure.cpu for one in (True, False))
    links = with_cdx.stats["links"]
    per_link = 1e6 * (with_cdx.figure.cpu - fixed) / links
    return [
        Target(
            "a link of link-dense pages, with CDX, less the fixed cost", per_link, 20, unit=" µs"
        ),
        Target("aim: the same", per_link, 12, unit=" µs"),
        Target("without CDX", 1e6 * (without.figure.cpu - fixed_without) / links, 25, unit=" µs"),
    ]
