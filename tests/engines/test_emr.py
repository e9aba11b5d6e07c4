"""The requests of ``-r emr`` to Amazon, sent to moto on loopback: uploads, cluster, steps.

moto stores requests and runs nothing, so a thread marks each step as done. The first job starts the
cluster, the other jobs use it.
"""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from arclink.engines.emr import LOGGED
from arclink.mapreduce.runs import JOBS
from tests.engines.conftest import ROOT, running_moto

BUCKET = "arclink-tests"
REGION = "eu-central-1"


SETTINGS = {
    "rules": "{}",
    "tasks": 4,
    "archives": f"s3://{BUCKET}/archive",
    "files": f"s3://{BUCKET}/files",
    "store": "cassandra://node/links",
    "folder": f"s3://{BUCKET}/tables/0123456789abcdef",
    "step": 1,
    "loads": [],
    "versions": [],
    "lists": [],
}


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """The address of a moto that answers as Amazon does."""
    with running_moto(REGION) as address:
        yield address


def finish_steps(stop: threading.Event) -> None:
    """Report each step as done, as a cluster would, and the version of Hadoop."""
    from moto.emr.models import emr_backends

    while not stop.wait(0.5):
        for account in list(emr_backends.values()):
            for backend in list(account.values()):
                for cluster in list(backend.clusters.values()):
                    for application in cluster.applications:
                        application.version = "3.4.1"
                    for step in cluster.steps:
                        step.state = "COMPLETED"


def start(job: str, options: Sequence[str]) -> str:
    """Run a job on EMR as its module does when it is called; return the id of its cluster."""
    job_class = JOBS[job].load()
    known = {one.name for one in job_class.SETTINGS}
    settings = json.dumps({name: value for name, value in SETTINGS.items() if name in known})
    started = job_class(["-r", "emr", "--no-cat-output", "--settings", settings, *options])
    with started.make_runner() as run:
        run._opts["cleanup"] = ["NONE"]  # what was uploaded stays to be looked at
        run.run()
        return str(run.get_cluster_id())


@pytest.fixture(scope="module")
def asked(
    aws: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:  # Any: as boto3 gives it
    """What the account has after all jobs: objects in S3, the cluster, its steps by job."""
    import boto3

    folder = tmp_path_factory.mktemp("emr")
    environment = folder / "arclink-environment.tar.gz"
    environment.write_bytes(b"a packed environment")
    rows = folder / "rows.cdx"
    rows.write_bytes(
        b"org,example)/ 20100101000000 http://example.org/ text/html 200 - - - 700 1 a.warc.gz\n"
    )
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    subnet = boto3.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]

    # conf/emr.conf as it is, with what it asks to fill in filled in.
    text = (
        (ROOT / "conf/emr.conf")
        .read_text("utf-8")
        .replace("BUCKET", BUCKET)
        .replace("SUBNET", subnet)
    )
    conf = folder / "emr.conf"
    jar = folder / "relations.jar"
    jar.write_bytes(b"the classes of jobs")
    text = text.replace("/PATH/TO/relations.jar", str(jar))
    conf.write_text(text.replace("arclink-environment.tar.gz#", f"{environment}#"), "utf-8")
    options = ["--conf-path", str(conf), "--check-cluster-every", "1", "--cloud-fs-sync-secs", "0"]

    stop = threading.Event()
    thread = threading.Thread(target=finish_steps, args=(stop,), daemon=True)
    thread.start()
    started = time.monotonic()
    try:
        cluster_id = start("filter", [*options, "--output-dir", f"s3://{BUCKET}/filter", str(rows)])
        for job in JOBS:
            if job != "filter":
                own = [
                    "--cluster-id",
                    cluster_id,
                    "--output-dir",
                    f"s3://{BUCKET}/{job}",
                    f"s3://{BUCKET}/input/{job}/*",
                ]
                assert start(job, [*options, "--no-check-input-paths", *own]) == cluster_id
    finally:
        stop.set()
        thread.join()
    assert time.monotonic() - started < 300
    emr = boto3.client("emr")
    steps = [step["Config"] for step in emr.list_steps(ClusterId=cluster_id)["Steps"]]
    return {
        "objects": {
            one["Key"]: s3.get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read()
            for one in s3.list_objects_v2(Bucket=BUCKET)["Contents"]
        },
        "cluster": emr.describe_cluster(ClusterId=cluster_id)["Cluster"],
        "groups": emr.list_instance_groups(ClusterId=cluster_id)["InstanceGroups"],
        "steps": {
            dict(pairwise(step["Args"]))["-output"].removeprefix(f"s3://{BUCKET}/").strip("/"): step
            for step in steps
        },
        "subnet": subnet,
    }


def test_script_input_and_environment_are_uploaded(asked: dict[str, Any]) -> None:
    objects = {key.rsplit("/", 1)[-1]: data for key, data in asked["objects"].items()}
    assert objects["filter_captures.py"] == (ROOT / "jobs/filter_captures.py").read_bytes()
    assert objects["arclink-environment.tar.gz"] == b"a packed environment"
    assert objects["relations.jar"] == b"the classes of jobs"
    assert objects["rows.cdx"].startswith(b"org,example)/ ")
    assert b"check_environment.py" in objects["setup-wrapper.sh"]
    assert all(key.startswith("arclink/tmp/") for key in asked["objects"])


def test_the_cluster_is_one_that_emr_still_makes(asked: dict[str, Any]) -> None:
    cluster = asked["cluster"]
    assert cluster["ReleaseLabel"] == "emr-7.13.0"
    assert [application["Name"] for application in cluster["Applications"]] == ["Hadoop"]
    assert cluster["ServiceRole"] == "EMR_DefaultRole"
    assert cluster["Ec2InstanceAttributes"]["IamInstanceProfile"] == "EMR_EC2_DefaultRole"
    assert cluster["Ec2InstanceAttributes"]["Ec2SubnetId"] == asked["subnet"]
    assert {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"} in cluster["Tags"]
    assert {
        (one["InstanceGroupType"], one["InstanceType"], one["RequestedInstanceCount"])
        for one in asked["groups"]
    } == {
        ("MASTER", "m6i.xlarge", 1),
        ("CORE", "m6i.xlarge", 2),
    }


IN_ORDER = "stream.num.map.output.key.fields=2"
WHOLE_FILES = f"mapreduce.input.fileinputformat.split.minsize={1 << 50}"


@pytest.mark.parametrize(
    ("job", "has_reducer", "properties"),
    [
        pytest.param("index", False, {WHOLE_FILES, "mapreduce.job.reduces=0"}, id="index"),
        pytest.param("filter", True, {IN_ORDER}, id="filter"),
        pytest.param(
            "extract", True, {WHOLE_FILES, IN_ORDER, "mapreduce.job.reduces=4"}, id="extract"
        ),
        pytest.param("share", True, {WHOLE_FILES, IN_ORDER, "mapreduce.job.reduces=4"}, id="share"),
        pytest.param("tables", False, {WHOLE_FILES, "mapreduce.job.reduces=0"}, id="tables"),
        pytest.param("join", True, {IN_ORDER}, id="join"),
        pytest.param("invert", True, {IN_ORDER}, id="invert"),
    ],
)
def test_each_jobs_step_starts_streaming_with_our_settings(
    asked: dict[str, Any], job: str, has_reducer: bool, properties: set[str]
) -> None:
    assert asked["steps"].keys() == JOBS.keys()
    step = asked["steps"][job]
    assert step["Jar"] == "command-runner.jar"
    assert step["Args"][:3] == ["bash", "-c", LOGGED]
    said, *words = step["Args"][3:]
    assert said.startswith(f"s3://{BUCKET}/arclink/tmp/")
    assert words[0] == "hadoop-streaming"
    following = dict(pairwise(words))
    assert following["-input"].startswith(
        f"s3://{BUCKET}/arclink/tmp/" if job == "filter" else f"s3://{BUCKET}/input/{job}/"
    )
    assert "arclink-environment.tar.gz#" in following["-archives"]
    script = JOBS[job].load().__module__.rpartition(".")[2]
    maps = "cat" if job in ("join", "invert") else f"{script}.py --step-num=0 --mapper"
    assert maps in following["-mapper"]
    assert ("-reducer" in words) == has_reducer
    if has_reducer:
        assert f"{script}.py --step-num=0 --reducer" in following["-reducer"]
    given = {words[number + 1] for number, word in enumerate(words) if word == "-D"}
    assert {
        "mapreduce.map.speculative=false",
        "mapreduce.task.timeout=600000",
        *properties,
    } <= given
