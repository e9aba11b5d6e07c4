"""One fixture per engine: started on loopback at its first use, stopped after its last one.

Each engine is started by the script that users start (engines/*.sh, docs/how-to/engines.md), in a
folder of its own and on free ports. A new engine needs a script with `install`, `start` and `stop`,
and a fixture here.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from arclink.engines.hadoop import HadoopRunner
from arclink.engines.hdfs import WebHdfs
from arclink.engines.spark import SparkRunner
from tests.engines.builds import Here, build_here
from tests.mapreduce.contract import Inputs, make_inputs

ROOT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder; what is not marked would start engines in `make test`."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("engine")


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> Here:
    """What a build on this machine makes of an archive."""
    return build_here(tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """What each job reads of a demo archive."""
    return make_inputs(tmp_path_factory.mktemp("jobs"))


def engines_folder() -> Path:
    return Path(os.environ.get("ENGINES", ROOT / ".engines"))


def needs(*paths: Path) -> None:
    """Skip where `make engines` was not run; fail where it must have been (``CI``)."""
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        text = f"engines are not installed ({', '.join(missing)}); run: make engines"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)


def run_script(name: str, *arguments: object, **environment: str) -> None:
    """Run a script of engines/; fail with what it said."""
    command = [str(ROOT / "engines" / name), *map(str, arguments)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def environment_of(folder: Path) -> dict[str, str]:
    """Return the variables that an engine's ``env`` file sets."""
    said = subprocess.run(
        ["bash", "-c", f". {folder}/env && env -0"], capture_output=True, text=True, check=True
    ).stdout
    return dict(line.split("=", 1) for line in said.split("\0") if "=" in line)


@dataclass(frozen=True, slots=True)
class Hadoop:
    """A cluster that runs.

    Attributes:
        folder: Where it keeps everything.
        environment: What a shell that uses it has set.
    """

    folder: Path
    environment: dict[str, str]

    @property
    def conf(self) -> Path:
        """mrjob's settings for it."""
        return self.folder / "mrjob.conf"

    def runner(self, work: Path, conf: Path | None = None, cores: int = 2) -> HadoopRunner:
        """Return a runner with a folder of HDFS of its own."""
        return HadoopRunner(
            "hadoop",
            cores,
            work / "tasks",
            conf=conf or self.conf,
            root=f"hdfs:///tests/{work.name}",
        )

    def put(self, files: Sequence[Path], folder: str) -> str:
        """Write files to a folder of HDFS; return its address."""
        system, path = WebHdfs.of(f"hdfs://{folder}")
        for file in files:
            with file.open("rb") as source:
                system.write(f"{path}/{file.name}", source)
        return f"hdfs://{folder}"

    def read(self, url: str) -> list[str]:
        """Return the lines of the parts in a folder of HDFS."""
        system, path = WebHdfs.of(url)
        parts = [entry.name for entry in system.entries(path) if entry.name.startswith("part-")]
        return [
            line.decode()
            for part in parts
            for line in b"".join(system.read(f"{path}/{part}")).splitlines()
        ]

    def halt(self, part: str, number: int) -> None:
        """Stop one part of it: ``datanode`` or ``nodemanager``."""
        run_script("hadoop.sh", "halt", part, number, self.folder)


@contextmanager
def reaching(variables: Mapping[str, str]) -> Iterator[None]:
    """Have this process send what is meant for Amazon to where the variables say, and nowhere
    else.
    """
    import boto3
    import fsspec  # type: ignore[import-untyped]

    closed = {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**variables, **closed}.items():
            patch.setenv(name, value)
        # The session that clients share keeps the keys with which its first client was made.
        patch.setattr(boto3, "DEFAULT_SESSION", None)
        try:
            yield
        finally:
            fsspec.filesystem("s3").clear_instance_cache()


@contextmanager
def running_moto(region: str) -> Iterator[str]:
    """Run a moto that answers as Amazon does, and have this process use it; yield its address.

    All moto servers of a process share their accounts, so what earlier ones hold is deleted.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")  # read when moto is imported
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        try:
            host, port = server.get_host_and_port()
            variables = {
                "AWS_ENDPOINT_URL": f"http://{host}:{port}",
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_DEFAULT_REGION": region,
            }
            with reaching(variables):
                urlopen(f"{variables['AWS_ENDPOINT_URL']}/moto-api/reset", b"", 60).close()
                yield variables["AWS_ENDPOINT_URL"]
        finally:
            server.stop()


@contextmanager
def running_s3(folder: Path) -> Iterator[str]:
    """Run a server of S3 in a folder, and have this process use it; yield its address."""
    needs(engines_folder() / "s3/versitygw")
    try:
        run_script("s3.sh", "start", folder, MASTER=str(os.getpid()))
        found = environment_of(folder)
        variables = {name: found[name] for name in found if name.startswith("AWS_")}
        with reaching(variables):
            yield variables["AWS_ENDPOINT_URL"]
    finally:
        run_script("s3.sh", "stop", folder)


@contextmanager
def running_hadoop(folder: Path, nodes: int, **options: str) -> Iterator[Hadoop]:
    """Run a cluster in a folder, and point this process to it; ``options`` are further ones of its
    script.
    """
    needs(engines_folder() / "hadoop/cluster.jar")
    with pytest.MonkeyPatch.context() as patch:
        try:
            run_script(
                "hadoop.sh",
                "start",
                folder,
                NODES=str(nodes),
                NODE_MEMORY=str(6144 // nodes + 1024),
                MASTER=str(os.getpid()),
                **options,
            )
            environment = environment_of(folder)
            names = ["ARCLINK_WEBHDFS", "HADOOP_CONF_DIR", "JAVA_HOME"]
            if "SECURED" in options:
                names += ["ARCLINK_WEBHDFS_CA", "KRB5_CONFIG", "KRB5CCNAME"]
            for name in names:
                patch.setenv(name, environment[name])
            yield Hadoop(folder, environment)
        finally:
            run_script("hadoop.sh", "stop", folder)


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    with running_hadoop(tmp_path_factory.mktemp("hadoop"), 1) as cluster:
        yield cluster


@dataclass(frozen=True, slots=True)
class Pig:
    """Runs scripts of pig/, on this machine or on a cluster."""

    folder: Path
    cluster: Hadoop | None

    def run(self, script: str, rules: Path | None = None, **parameters: str) -> None:
        """Run a script; fail with what Pig said."""
        where = "mapreduce" if self.cluster else "local"
        given = [
            word for name, value in parameters.items() for word in ("-param", f"{name}={value}")
        ]
        command = [
            str(ROOT / "engines/pig.sh"),
            "run",
            "-x",
            where,
            *(["-param_file", str(rules)] if rules else []),
            *given,
        ]
        command += [
            "-param",
            f"PYTHON={ROOT / '.venv/bin/python'}",
            "-param",
            f"SCRIPTS={ROOT / 'pig'}",
            str(ROOT / "pig" / script),
        ]
        environment = self.cluster.environment if self.cluster else dict(os.environ)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**environment, "ENGINES": str(engines_folder())},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (
            f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
        )

    def address(self, name: str) -> str:
        """Return a path for a script's output."""
        return f"hdfs:///tests/pig/{name}" if self.cluster else str(self.folder / name)

    def put(self, file: Path) -> str:
        """Return the path of a file for a script's input."""
        return (
            f"{self.cluster.put([file], '/tests/pig-input')}/{file.name}"
            if self.cluster
            else str(file)
        )

    def read(self, name: str) -> list[str]:
        """Return the lines of an output."""
        if self.cluster:
            return self.cluster.read(self.address(name))
        return [
            line.decode()
            for part in sorted((self.folder / name).glob("part-*"))
            for line in part.read_bytes().splitlines()
        ]


@pytest.fixture(scope="module")
def pig_here(tmp_path_factory: pytest.TempPathFactory) -> Pig:
    """Pig in one process."""
    needs(engines_folder() / "pig/jars")
    return Pig(tmp_path_factory.mktemp("pig"), None)


@pytest.fixture(params=["local", pytest.param("mapreduce", marks=pytest.mark.slow)], scope="module")
def pig(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pig:
    """Pig twice: in one process, and on the cluster."""
    needs(engines_folder() / "pig/jars")
    cluster = request.getfixturevalue("hadoop") if request.param == "mapreduce" else None
    return Pig(tmp_path_factory.mktemp("pig"), cluster)


@dataclass(frozen=True, slots=True)
class Spark:
    """Spark, which starts with each runner: two workers of one core and 1024 MB."""

    folder: Path

    @property
    def conf(self) -> Path:
        """mrjob's settings for it."""
        return self.folder / "mrjob.conf"

    def runner(self, work: Path) -> SparkRunner:
        return SparkRunner("spark", 2, work / "tasks", conf=self.conf)


@contextmanager
def running_spark(folder: Path, **options: str) -> Iterator[Spark]:
    """Write settings of Spark to a folder, and point this process to it; ``options`` are further
    ones of its script.
    """
    needs(ROOT / ".venv/bin/spark-submit")
    with pytest.MonkeyPatch.context() as patch:
        run_script("spark.sh", "start", folder, **options)
        environment = environment_of(folder)
        names = ["JAVA_HOME", "SPARK_LOCAL_IP", "SPARK_SCALA_VERSION"]
        if options:
            names += ["SPARK_HOME", "SPARK_DIST_CLASSPATH"]
        for name in names:
            patch.setenv(name, environment[name])
        yield Spark(folder)
        run_script("spark.sh", "stop", folder)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    with running_spark(tmp_path_factory.mktemp("spark")) as found:
        yield found


@dataclass(slots=True)
class Cassandra:
    """A cluster that runs.

    Attributes:
        folder: Where it keeps everything.
        hosts: The part of the URL between ``cassandra://`` and the keyspace.
    """

    folder: Path
    hosts: str
    _made: int = 0
    _given_up: int = 0

    def keyspace(self, options: str = "") -> str:
        """Return the URL of a new store, with tables."""
        from arclink.engines.cassandra.addresses import parse_address
        from arclink.engines.cassandra.schema import apply_schema

        self._made += 1
        url = f"cassandra://{self.hosts}/test{self._made}{options}"
        assert apply_schema(parse_address(url))
        return url

    def give_up(self, url: str) -> None:
        """Make a store look empty: all that was loaded is of steps that never were finished. From
        time to time it is emptied.
        """
        from arclink.engines.cassandra.addresses import parse_address
        from arclink.engines.cassandra.schema import empty_store, open_database

        address = parse_address(url)
        self._given_up += 1
        if self._given_up % 40 == 0:
            empty_store(address)
        database = open_database(address)
        for step, is_finished in database.ask(
            "SELECT step, is_finished FROM steps WHERE store = 0"
        ):
            if is_finished:
                database.agree(
                    "UPDATE steps SET is_finished = false, identity = 0x00 WHERE store = 0 "
                    "AND step = ? IF EXISTS",
                    (step,),
                )

    def pid(self, node: int) -> int:
        """Return the process of a node: 1, 2, 3."""
        return int((self.folder / f"node-{node}/pid").read_text())


@contextmanager
def running_cassandra(
    folder: Path, nodes: int, commitlog: str = "batch", **options: str
) -> Iterator[Cassandra]:
    """Run a cluster in a folder; ``options`` are further ones of its script."""
    needs(engines_folder() / "cassandra/jars")
    try:
        run_script(
            "cassandra.sh",
            "start",
            folder,
            NODES=str(nodes),
            MASTER=str(os.getpid()),
            COMMITLOG=commitlog,
            SHORT="1",
            **options,
        )
        yield Cassandra(folder, environment_of(folder)["CASSANDRA"])
    finally:
        run_script("cassandra.sh", "stop", folder)


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cassandra]:
    """One node. With ``CASSANDRA`` set to the address of one that runs, that one, which keeps what
    is made here.
    """
    if running := os.environ.get("CASSANDRA"):
        yield Cassandra(tmp_path_factory.mktemp("cassandra"), running, os.getpid() * 1000)
        return
    with running_cassandra(tmp_path_factory.mktemp("cassandra"), 1, "periodic") as cluster:
        yield cluster
