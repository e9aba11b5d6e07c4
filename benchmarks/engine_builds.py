"""Whole builds on one machine, on Hadoop and on Spark: CPU seconds by stage, driver and answers.

All builds read the same generated archives, and all stores must give the same answers. The CPU time
is that of all processes: of the command, of the engine's daemons and of their tasks. The two sizes
before the largest give the rates, which predict the costs of the others. The rates are written to
``rates.json`` in the folder, for ``arclink plan --rates``; the project's own are in
``arclink/engines/rates.json``::

    BLOCK=128m engines/hadoop.sh start FOLDER && . FOLDER/env && export HADOOP_RUN=FOLDER
    engines/spark.sh start && . .engines/run/spark/env && export SPARK_RUN=.engines/run/spark
    python -m benchmarks.run --only engine_builds --captures 10000 30000 100000

An engine that is not there is left out. A build that was measured is not measured again until its
file in ``engine_builds`` is deleted: large sizes take hours. Linux only, as a user who may make
control groups: these also count processes whose parent did not wait for them, such as Spark's
Python workers.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from arclink.engines.cluster_size import (
    MEASURED_ON,
    Amounts,
    MeasuredBuild,
    Rates,
    fit,
    format_rates,
    per_further_task,
    predicted,
)
from arclink.mapreduce.runs import DRIVER
from arclink.shares import BYTES_OF_CORE
from benchmarks.bench import Bench, Corpus, python, say
from benchmarks.engine_commands import (
    HADOOP,
    LOCAL,
    SPARK,
    build_command,
    control_group,
    cpu_of,
    engines_here,
)
from benchmarks.tables import TIMES, Cell, Table, Target
from benchmarks.this_machine import machine

ONE_TASK = 1
"""Reduce tasks per job of a build that is small enough for one core if no number is given."""

MANY_TASKS = 8
"""Reduce tasks per job of the build that shows what each of them costs."""


@dataclass(frozen=True, slots=True)
class EngineBuild:
    """A build, and its store's answers.

    Attributes:
        build: Its amounts, and CPU seconds by stage.
        batches: Number of its batches: large builds have several.
        driver: CPU seconds of the command itself, on an engine.
        megabytes: Largest process of the command and its children.
        wall: Seconds.
        load: Load average at the end.
        answers: Digest of all mementos and links.
    """

    build: MeasuredBuild
    batches: int
    driver: float
    megabytes: float
    wall: float
    load: float
    answers: str

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes."""
        return sum(self.build.seconds.values())


def measure(bench: Bench) -> Iterator[Table]:
    """Yield a table of builds, and one of predictions.

    Raises:
        RuntimeError: Two engines gave different answers.
    """
    engines = engines_here()
    found: dict[tuple[str, int], EngineBuild] = {}
    rows: list[list[Cell]] = []
    for captures in bench.sizes:
        corpus = bench.corpus(captures)
        for engine in engines:
            local = found.get((LOCAL, captures))
            one = _measured(bench, corpus, engine, engines[engine], local)
            found[engine, captures] = one
            rows.append(_row(f"{captures:,} captures, {engine}", one))
            builds = [one]
            if engine == HADOOP and corpus.bytes <= BYTES_OF_CORE:
                builds.append(_measured(bench, corpus, engine, engines[engine], local, ONE_TASK))
                rows.append(_row(f"{captures:,} captures, {engine}, one core", builds[-1]))
            if len({build.answers for build in (*builds, found[LOCAL, captures])}) != 1:
                raise RuntimeError(f"{captures:,} captures: the stores give different answers")
    columns = [
        "",
        "batches",
        "CPU s",
        "of the driver",
        "MB, largest process",
        "wall s",
        "load",
        "CPU s by stage",
    ]
    yield Table(
        "Builds by engine",
        columns,
        rows,
        notes=["All stores of one size have equal mementos and links (sum of their SHA-256)."],
    )
    if len(bench.sizes) < 2:
        return
    fitted = bench.sizes[-3:-1] if len(bench.sizes) > 2 else bench.sizes
    rates = {
        engine: {
            **fit(*(found[engine, captures].build for captures in fitted)),
            **_of_tasks(bench, found[engine, bench.sizes[0]], engine, engines[engine]),
        }
        for engine in engines
    }
    path = bench.folder / "rates.json"
    sizes = ", ".join(f"{captures:,}" for captures in fitted)
    source = [*machine().splitlines()[:2], f"- builds of {sizes} captures"]
    path.write_text(format_rates(rates, source), encoding="utf-8")
    say(f"wrote {path}")
    if len(bench.sizes) > 2:
        yield _predictions(fitted, rates, found)


def _row(name: str, one: EngineBuild) -> list[Cell]:
    row: list[Cell] = [
        name,
        one.batches,
        one.cpu,
        one.driver,
        one.megabytes,
        one.wall,
        one.load,
        ", ".join(f"{stage} {cost:.3g}" for stage, cost in one.build.seconds.items()),
    ]
    say(f"{row}")
    return row


def _of_tasks(bench: Bench, few: EngineBuild, engine: str, run: str) -> Rates:
    """Return the rate of further tasks, from the smallest build with `MANY_TASKS` per job."""
    if engine == LOCAL:
        return {}
    many = _measured(bench, bench.corpus(bench.sizes[0]), engine, run, few, MANY_TASKS)
    return per_further_task(few.build, many.build, MANY_TASKS - MEASURED_ON)


def _predictions(
    fitted: Sequence[int],
    rates: Mapping[str, Rates],
    found: Mapping[tuple[str, int], EngineBuild],
) -> Table:
    rows: list[list[Cell]] = []
    targets = []
    for (engine, captures), one in found.items():
        if captures in fitted:
            continue
        said = predicted(rates[engine], one.build.amounts, one.batches)
        name, ratio = f"{captures:,} captures, {engine}", said / one.cpu
        rows.append([name, said, one.cpu, ratio])
        targets += [
            Target(f"{name}: above", ratio, 1.25, unit=TIMES),
            Target(f"{name}: below", ratio, 0.75, at_most=False, unit=TIMES),
        ]
    return Table(
        f"Predicted from {' and '.join(f'{captures:,}' for captures in fitted)} captures",
        ["", "CPU s, predicted", "measured", "predicted by measured"],
        rows,
        targets,
    )


def _measured(
    bench: Bench,
    corpus: Corpus,
    engine: str,
    run: str,
    other: EngineBuild | None,
    tasks: int = MEASURED_ON,
) -> EngineBuild:
    """Return a build's figures from its file of an earlier run, or build and write the file.

    Args:
        bench: Has the file.
        corpus: What is built.
        engine: One of `ENGINES`.
        run: Folder of the engine's settings; not used on one machine.
        other: A build of the same corpus, for Spark.
        tasks: Number of reduce tasks per job.
    """
    name = f"{corpus.name}-{engine}" + (f"-{tasks}" if tasks != MEASURED_ON else "")
    path = bench.folder / "engine_builds" / f"{name}.json"
    if path.exists():
        kept = json.loads(path.read_bytes())
        build = MeasuredBuild(Amounts(*kept["build"]["amounts"]), kept["build"]["seconds"])
        return EngineBuild(**kept | {"build": build})
    builds = [_build(bench, corpus, engine, run, other, tasks) for _ in range(bench.repeat)]
    least = min(builds, key=lambda build: build.cpu)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(asdict(least)), encoding="utf-8")
    return least


def _build(
    bench: Bench, corpus: Corpus, engine: str, run: str, other: EngineBuild | None, tasks: int
) -> EngineBuild:
    """Build a new store on an engine; arguments are those of `_measured`."""
    store = bench.folder / "stores" / f"{corpus.name}-{engine}-{tasks}.db"
    command = build_command(corpus, engine, run, store, tasks)
    with control_group(engine, run) as group:
        figure = bench.run(command, repeat=1, group=group)
        spent = cpu_of(group)
    seconds = bench.seconds(store)
    driver = seconds.pop(DRIVER, 0.0)
    if engine == SPARK and other is not None:  # its JVMs are children of the command, too
        seconds["load"] = other.build.seconds["load"]
    else:
        seconds["load"] = figure.cpu - (sum(seconds.values()) if engine == LOCAL else driver)
    if engine != LOCAL:
        seconds["engine"] = spent - sum(seconds.values())
    stats = bench.stats(store)
    amounts = Amounts(stats["mementos"], stats["contents"], stats["links"])
    return EngineBuild(
        MeasuredBuild(amounts, seconds),
        stats["batches"],
        driver,
        figure.largest,
        figure.wall,
        os.getloadavg()[0],
        bench.run(python("benchmarks.flat_links", "--digest", str(store)), repeat=1).printed,
    )
