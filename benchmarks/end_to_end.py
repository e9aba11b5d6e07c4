"""Archive files to a store that can be asked, beside the floor and the peers that list links only."""

from collections.abc import Iterator

from benchmarks.bench import Bench, Built, Corpus, NotHereError
from benchmarks.measuring import Figure
from benchmarks.tables import TIMES, Cell, Table, Target

PLAIN_PAGES = 100
ENOUGH = 300_000_000
"""Bytes of a batch from which on the targets hold."""

COLUMNS = ["", "CPU s", "wall s", "pages", "ms a page", "µs a link", "times the floor", "MB, all processes", "MB, largest"]


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table for each corpus, and one for the link-dense archive."""
    for size in bench.sizes:
        yield _of_corpus(bench, bench.corpus(size))
    if bench.real:
        yield _of_corpus(bench, Corpus(bench.real.name, [bench.real], None))


def _of_corpus(bench: Bench, corpus: Corpus) -> Table:
    files = [str(path) for path in corpus.files]
    floor = bench.run(bench.peer("benchmarks.peers.floor", *files))
    pages, links, _ = map(int, floor.printed.split())
    per_page = floor.cpu / pages

    def row(name: str, figure: Figure, pages: int, links: int | None) -> list[Cell]:
        cpu = figure.cpu
        per_link = 1e6 * cpu / links if links else None
        return [name, cpu, figure.wall, pages, 1e3 * cpu / pages, per_link, cpu / pages / per_page, figure.megabytes, figure.largest]

    rows = [row("floor: fastwarc + lexbor, a@href with text, nothing kept", floor, pages, links)]
    builds = {name: bench.build(corpus, with_cdx=name == "with CDX") for name in (["with CDX"] if corpus.cdx else []) + ["without CDX"]}
    for name, built in builds.items():
        rows.append(row(f"ArcLink, {name}", built.figure, pages, built.stats["links"]))
        rows += [[f"… {stage}", seconds, *[None] * 7] for stage, seconds in by_stage(built).items()]
    plain = bench.run(bench.peer("benchmarks.peers.plain_way", str(min(pages, PLAIN_PAGES)), *files))
    plain_pages, plain_links = map(int, plain.printed.split())
    rows.append(row("the plain way: warcio, BeautifulSoup, urljoin, surt, SimHash", plain, plain_pages, plain_links))
    notes = [f"{sum(path.stat().st_size for path in corpus.files):,} bytes in {len(files)} files; the plain way on {plain_pages} pages."]
    java = None
    try:
        java = bench.run(bench.java("benchmarks.ListLinks", *files))
        java_pages, java_links, _ = map(int, java.printed.split())
        rows.append(row("plain Java: jwarc + jsoup, links only", java, java_pages, java_links))
        notes.append(f"jsoup found {java_links:,} links on {java_pages:,} pages, lexbor {links:,} on {pages:,}.")
        rows.append(_wat(bench, corpus, per_page))
        notes.append("The WAT extractor parses every answer, equal ones again; its pages are these, of one file of a generated corpus.")
    except NotHereError as error:
        notes.append(f"Java was not measured: {error}.")
    return Table(
        f"End to end: {corpus.name}", COLUMNS, rows, _targets(bench, corpus, builds, floor, plain, java, pages, plain_pages), notes
    )


def by_stage(built: Built) -> dict[str, float]:
    """Return CPU seconds by job, and what is left of the whole process."""
    return {**built.seconds, "the rest": built.figure.cpu - sum(built.seconds.values())}


def _wat(bench: Bench, corpus: Corpus, per_page: float) -> list[Cell]:
    smallest = str(min(corpus.files, key=lambda path: path.stat().st_size))
    answers = int(bench.run(bench.peer("benchmarks.peers.floor", smallest), repeat=1).printed.split()[2])
    figure = bench.run(bench.java("org.archive.extract.ResourceExtractor", "-wat", smallest))
    per_answer = figure.cpu / answers
    return [
        *("webarchive-commons' WAT extractor", figure.cpu, figure.wall, answers, 1e3 * per_answer),
        *(None, per_answer / per_page, figure.megabytes, figure.largest),
    ]


def _targets(
    bench: Bench, corpus: Corpus, builds: dict[str, Built], floor: Figure, plain: Figure, java: Figure | None, pages: int, plain_pages: int
) -> list[Target]:
    without = builds["without CDX"]
    if corpus.cdx is None:  # link-dense, and small: what a build of next to nothing costs is not the links'
        fixed = bench.build(bench.corpus(3), with_cdx=False).figure.cpu
        links = without.stats["links"]
        return [
            Target(
                "a link of link-dense pages, without the fixed cost of a build", 1e6 * (without.figure.cpu - fixed) / links, 20, unit=" µs"
            ),
            Target("the same, fixed cost and all", 1e6 * without.figure.cpu / links, 20, unit=" µs"),
        ]
    built = builds["with CDX"]
    memory = Target("memory of all processes", max(one.figure.megabytes for one in builds.values()), 500, unit=" MB")
    if corpus.bytes < ENOUGH:
        return [memory]
    return [
        Target("CPU per page read, with CDX, by the floor's", built.figure.cpu / floor.cpu, 3.3, unit=TIMES),
        Target("aim: the same", built.figure.cpu / floor.cpu, 2.5, unit=TIMES),
        Target("the plain way's CPU per page by ours", plain.cpu / plain_pages * pages / built.figure.cpu, 20, at_most=False, unit=TIMES),
        Target("CPU by plain Java's", built.figure.cpu / java.cpu if java else None, 1, unit=TIMES),
        Target("CPU without CDX by that with", without.figure.cpu / built.figure.cpu, 1.25, unit=TIMES),
        memory,
    ]
