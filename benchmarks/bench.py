"""The folder with the generated data of a benchmark run, and the commands that it measures."""

import json
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arclink.store.sqlite.schema import remove_logs
from benchmarks.corpus import CDX
from benchmarks.measurement import Figure, measure

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(__file__).parent / "peers"

# Hadoop and Pig reach into the JDK (JEP 403).
OPENED = (
    *(
        f"java.{name}"
        for name in ("io", "lang", "lang.reflect", "math", "net", "nio", "security", "text", "util")
    ),
    *("java.util.concurrent", "java.util.zip", "sun.security.util", "sun.security.x509"),
)


class NotHereError(Exception):
    """A peer cannot be run on this machine; the text says what it lacks."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Archive files with a CDX next to them.

    Attributes:
        captures: As many were asked for; 0 for a real archive.
    """

    name: str
    files: Sequence[Path]
    cdx: Path
    captures: int = 0

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files)

    @property
    def cdx_options(self) -> list[str]:
        """Options that tell a build of its CDX."""
        return ["--cdx", str(self.cdx)]


@dataclass(frozen=True, slots=True)
class Built:
    """A build: what it cost, and the store that came out.

    Attributes:
        seconds: CPU seconds by job, from the manifest.
        stats: What ``arclink stats --json`` says.
    """

    figure: Figure
    store: Path
    seconds: dict[str, float]
    stats: dict[str, int]


@dataclass(slots=True)
class Bench:
    """One run of benchmarks.

    Attributes:
        folder: Of all that is generated; what is there is used again.
        sizes: Captures of the corpora to measure, ascending.
        real: A link-dense archive file.
        repeat: Times that a process is measured; the one with the least CPU time counts.
        links: Sizes of generated graphs, ascending; empty for the usual ones.
        memory_group: A control group with a memory limit that processes may be moved into.
    """

    folder: Path
    sizes: Sequence[int]
    real: Path | None = None
    repeat: int = 1
    links: Sequence[int] = ()
    memory_group: Path | None = None
    _builds: dict[tuple[str, bool, int | None], list[Built]] = field(
        default_factory=lambda: defaultdict(list)
    )

    # What is generated.

    def corpus(self, captures: int, *, addition: bool = False) -> Corpus:
        """Return a generated corpus, or the fourth crawl that adds 1 % to it.

        Generated when it is not there.
        """
        name = f"corpus-{captures}" + ("-addition" if addition else "")
        folder = self.folder / name
        if not (folder / CDX).exists():
            words = ["benchmarks.corpus", str(folder), "--captures", str(captures)]
            self.generate(f"{captures:,} captures", *words, *["--addition"] * addition)
        return Corpus(name, sorted(folder.glob("*.warc.gz")), folder / CDX, captures)

    def link_dense(self) -> Corpus | None:
        """Return the link-dense archive with the CDXJ rows that ArcLink writes for it.

        None without a real archive.
        """
        if self.real is None:
            return None
        rows = self.folder / f"{self.real.name}.cdxj"
        if not rows.exists():
            folder = self.scratch("index")
            self.run(arclink("index", str(self.real), "--into", str(folder)), repeat=1)
            rows.write_bytes(
                b"".join(path.read_bytes() for path in sorted((folder / "rows").glob("part-*")))
            )
        return Corpus(self.real.name, [self.real], rows)

    def generate(self, what: str, *command: str) -> None:
        """Run a module that generates something, and say how long it took.

        In a process of its own: what this one holds counts as the start of every process it
        measures.
        """
        figure = self.run(python(*command), repeat=1)
        say(f"generated {what} in {figure.wall:.0f} s ({figure.cpu:.0f} CPU seconds)")

    def scratch(self, name: str) -> Path:
        """Return an empty folder."""
        folder = self.folder / "scratch" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    # What is run.

    def run(
        self, command: Sequence[str], *, repeat: int | None = None, group: Path | None = None
    ) -> Figure:
        """Measure a command that can be run again and again; it finds this tree's modules."""
        # A start would be measured with all it compiles.
        environment = {
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        figures = [
            measure(command, environment=environment, group=group)
            for _ in range(repeat or self.repeat)
        ]
        return min(figures, key=lambda figure: figure.cpu)

    def peer(self, *words: str) -> list[str]:
        """Return the command that runs a module with the Python that has the peers' packages.

        Raises:
            NotHereError: `make bench` did not make it.
        """
        interpreter = self.folder / "venv/bin/python"
        if not interpreter.exists():
            raise NotHereError(f"no {interpreter}: `make bench` makes it")
        return [str(interpreter), "-m", *words]

    def java(self, *words: str) -> list[str]:
        """Return the command that runs a Java class with the peers' jars; build missing jars.

        Raises:
            NotHereError: There is no Java, or no Maven to build with.
        """
        java, maven = shutil.which("java"), shutil.which("mvn")
        out = self.folder / "java"
        if java is None or (maven is None and not (out / "peers.jar").exists()):
            raise NotHereError("no java and mvn (JDK 17)")
        if not (out / "peers.jar").exists():
            started = time.perf_counter()
            measure(
                [
                    str(maven),
                    "-B",
                    "-q",
                    "-ntp",
                    "-f",
                    str(PEERS / "java/pom.xml"),
                    f"-Dout={out.resolve()}",
                    "package",
                ]
            )
            say(f"built the Java peers in {time.perf_counter() - started:.0f} s")
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
        # The serial collector costs least CPU time.
        return [
            java,
            "-XX:+UseSerialGC",
            "-Xmx1g",
            *opened,
            "-cp",
            f"{out / 'peers.jar'}:{out / 'jars'}/*",
            *words,
        ]

    def rounds(
        self, *measures: Callable[[], Figure], others: Sequence[Callable[[], object]] = ()
    ) -> list[Figure]:
        """Measure all of them in turns, and return the run with the least CPU time of each.

        The machine's speed changes by 33 % within minutes, so the measured functions take turns:
        each runs at quiet moments, too.

        Args:
            measures: What is measured.
            others: Functions that take turns with them, and keep their figures themselves.
        """
        found: list[list[Figure]] = [[] for _ in measures]
        for _ in range(self.repeat):
            for of_one, measured in zip(found, measures, strict=True):
                of_one.append(measured())
            for other in others:
                other()
        return [min(of_one, key=lambda figure: figure.cpu) for of_one in found]

    def build(self, corpus: Corpus, *, with_cdx: bool = True, cores: int | None = None) -> Built:
        """Build a new store and return its cost; return the same figure for further calls."""
        key = corpus.name, with_cdx, cores
        while len(self._builds[key]) < self.repeat:
            self.build_again(corpus, with_cdx=with_cdx, cores=cores)
        return min(self._builds[key], key=lambda built: built.figure.cpu)

    def build_again(
        self, corpus: Corpus, *, with_cdx: bool = True, cores: int | None = None
    ) -> Built:
        """Build a new store once, for `rounds`; `build` has its cost."""
        built = self._build(corpus, with_cdx=with_cdx, cores=cores)
        self._builds[corpus.name, with_cdx, cores].append(built)
        return built

    def _build(self, corpus: Corpus, *, with_cdx: bool, cores: int | None) -> Built:
        stores = self.folder / "stores"
        stores.mkdir(parents=True, exist_ok=True)
        store = (
            stores
            / f"{corpus.name}{'' if with_cdx else '-without-cdx'}{f'-{cores}' if cores else ''}.db"
        )
        remove_store(store)
        options = (corpus.cdx_options if with_cdx else []) + (
            ["--cores", str(cores)] if cores else []
        )
        figure = self.run(
            arclink("build", *map(str, corpus.files), "--store", str(store), "--quiet", *options),
            repeat=1,
        )
        return Built(figure, store, self.seconds(store), self.stats(store))

    def stats(self, store: Path) -> dict[str, int]:
        """Return the counts of a store."""
        found: dict[str, int] = json.loads(
            self.run(arclink("stats", "--store", str(store), "--json"), repeat=1).printed
        )
        return found

    def seconds(self, store: Path) -> dict[str, float]:
        """Return CPU seconds by job.

        Those that the last batch's manifest has are of the build so far.
        """
        manifests = self.run(
            arclink("stats", "--store", str(store), "--manifests"), repeat=1
        ).printed.splitlines()
        found: dict[str, float] = json.loads(manifests[-1])["cpu seconds"]
        return found


def python(*words: str) -> list[str]:
    """Return the command that runs a module with ArcLink's own Python."""
    return [sys.executable, "-m", *words]


def arclink(*words: str) -> list[str]:
    """Return the command that runs a command of ArcLink."""
    return python("arclink.cli.main", *words)


def remove_store(store: Path) -> None:
    """Remove a store, if it is there."""
    store.unlink(missing_ok=True)
    remove_logs(store)
    shutil.rmtree(store.with_name(store.name + ".build"), ignore_errors=True)


def cores() -> int:
    """Return how many processors there are."""
    return os.cpu_count() or 1


def say(text: str) -> None:
    """Tell whoever waits what happens; results go to standard output, this does not."""
    print(text, file=sys.stderr, flush=True)
