"""A whole build with ``--runner emr``: moto answers as EMR does, and the steps are run for real.

Each step is run on this machine by Hadoop in one process, with files in a real S3 server, as the
command that EMR would start on the cluster's master node.
"""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from arclink.errors import PipelineError
from arclink.mapreduce import job_settings as versions
from arclink.network.engine_files import files_of
from tests.engines.builds import answers, build, counts_of
from tests.engines.conftest import ROOT, engines_folder, needs, run_script, running_moto, running_s3

BUCKET = "arclink-emr"
STREAMING = "hadoop-streaming-3.4.2.jar"


@dataclass(slots=True)
class Emr:
    """Runs the steps that moto holds, one after the other.

    Attributes:
        folder: Settings of Hadoop, and the commands of a master node.
        archive: Folder with the archive that is in the bucket, too.
        conf: Settings of mrjob.
        ran: Names of the jobs that were run.
    """

    folder: Path
    archive: Path
    conf: Path
    ran: list[str] = field(default_factory=list)

    def run_steps(self, stop: threading.Event) -> None:
        """Run steps until the event is set."""
        while not stop.wait(0.1):
            for cluster in self.clusters():
                for application in cluster.applications:
                    application.version = "3.4.2"
                for step in cluster.steps:
                    if step.state not in ("COMPLETED", "FAILED"):
                        step.state = self._run_step(step)

    def clusters(self) -> list[Any]:  # Any: moto's
        """Return the clusters that the account has had."""
        from moto.emr.models import emr_backends

        return [
            cluster
            for account in list(emr_backends.values())
            for backend in list(account.values())
            for cluster in list(backend.clusters.values())
        ]

    def _run_step(self, step: Any) -> str:  # Any: moto's
        assert step.jar == "command-runner.jar"
        self.ran.append(step.name)
        with (self.folder / "steps.log").open("ab") as log:
            done = subprocess.run(
                step.args,
                env={**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
                cwd=self.folder,
                stdout=log,
                stderr=log,
                check=False,
            )
        return "FAILED" if done.returncode else "COMPLETED"

    def build(self, store: Path, root: str) -> list[str]:
        """Build a store of the archive in the bucket; return what the build said."""
        return build(f"s3://{BUCKET}/archive/", store, *self.words(root))

    def words(self, root: str) -> list[str]:
        """Return the options of a build."""
        return ["--runner", "emr", "--engine-conf", str(self.conf), "--engine-folder", root]


def settings(text: str, folder: Path, subnet: str, address: str) -> str:
    """Return conf/emr.conf with what it asks to fill in, for tasks on this machine."""
    changed = {
        "BUCKET": BUCKET,
        "SUBNET": subnet,
        "eu-central-1": "us-east-1",  # the region that the server of S3 has
        "/PATH/TO/relations.jar": str(engines_folder() / "hadoop/relations.jar"),
        "/usr/lib/arclink/relations.jar": str(engines_folder() / "hadoop/relations.jar"),
        "python_bin: python3.11": f"python_bin: {ROOT / '.venv/bin/python'}",
        # This Hadoop has no native libraries.
        "compress.ZStandardCodec": "compress.DefaultCodec",
    }
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    # Packed environments are tested by tests/engines/test_shipping.py.
    lines = [line for line in text.splitlines() if not line.strip().startswith("setup:")]
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    own = {"AWS_ENDPOINT_URL_S3": address} | {name: os.environ[name] for name in names}
    return "\n".join(
        [
            *lines,
            "    check_cluster_every: 0.2",
            "    cloud_fs_sync_secs: 0",
            "    cmdenv:",
            *(f"      {name}: {value}" for name, value in own.items()),
            "",
        ]
    )


@contextmanager
def reaching_both(moto: str, s3: str) -> Iterator[None]:
    """Send requests for S3 to its server, and all others to moto."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", moto)
        patch.setenv("AWS_ENDPOINT_URL_S3", s3)
        yield


@pytest.fixture(scope="module")
def emr(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emr]:
    """An account whose steps are run, and an archive in its bucket."""
    import boto3

    folder = tmp_path_factory.mktemp("emr")
    needs(engines_folder() / "s3a/jars")
    archive = folder / "archive"
    write_demo_archive(archive, captures=60, hosts=4, seed=2)
    with (
        running_moto("us-east-1") as moto,
        running_s3(folder / "s3") as address,
        reaching_both(moto, address),
    ):
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        for file in archive.glob("*.warc*"):
            s3.upload_file(str(file), BUCKET, f"archive/{file.name}")
        subnet = boto3.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        run_script("hadoop.sh", "local", folder, S3=f"{address}/{BUCKET}")
        # As on a cluster of EMR, only what is named as an object is one.
        site = folder / "conf/core-site.xml"
        site.write_text(
            site.read_text().replace(f"<value>s3a://{BUCKET}</value>", "<value>file:///</value>")
        )
        command = folder / "bin/hadoop-streaming"
        jar = engines_folder() / "hadoop/jars" / STREAMING
        command.write_text(f'#!/bin/sh\nexec {folder}/bin/hadoop jar {jar} "$@"\n')
        command.chmod(0o755)
        conf = folder / "emr.conf"
        conf.write_text(settings((ROOT / "conf/emr.conf").read_text(), folder, subnet, address))
        account = Emr(folder, archive, conf)
        stop = threading.Event()
        thread = threading.Thread(target=account.run_steps, args=(stop,), daemon=True)
        thread.start()
        yield account
        stop.set()
        thread.join()


def test_a_build_on_emr_gives_the_store_of_one_here(emr: Emr, tmp_path: Path) -> None:
    local, store, root = tmp_path / "local.db", tmp_path / "emr.db", f"s3a://{BUCKET}/built"
    assert emr.build(store, root) == build(emr.archive, local), "the same counts"
    assert counts_of(store) == counts_of(local)
    assert answers(store) == answers(local)
    (cluster,) = emr.clusters()
    assert cluster.state == "TERMINATED"
    assert len(cluster.steps) == len(emr.ran) >= 4
    files = files_of(root)
    assert [entry.name for entry in files.entries(files.path_of(root))] == ["graph"]


def test_a_cluster_that_the_settings_name_is_used_and_goes_on(
    emr: Emr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task's error is the build's; the cluster stays for whoever started it."""
    import boto3

    client = boto3.client("emr")
    instances = {"MasterInstanceType": "m6i.xlarge", "InstanceCount": 1}
    named = client.run_job_flow(
        Name="named",
        Instances={**instances, "KeepJobFlowAliveWhenNoSteps": True},
        ReleaseLabel="emr-7.13.0",
        Applications=[{"Name": "Hadoop"}],
        JobFlowRole="EMR_EC2_DefaultRole",
    )["JobFlowId"]
    conf = tmp_path / "emr.conf"
    text = emr.conf.read_text().replace("# cluster_id: j-XXXXXXXXXXXXX", f"cluster_id: {named}")
    conf.write_text(text)
    monkeypatch.setattr(emr, "conf", conf)
    monkeypatch.setattr(versions, "versions_here", lambda: {"arclink": "0.0.0"})
    words = emr.words(f"s3a://{BUCKET}/failed")
    done = CliRunner().invoke(
        group, ["build", f"s3://{BUCKET}/archive/", "--store", str(tmp_path / "x.db"), *words]
    )
    assert isinstance(done.exception, PipelineError), done.output
    assert "0.0.0" in str(done.exception)
    (cluster,) = (one for one in emr.clusters() if one.id == named)
    assert cluster.state != "TERMINATED"
    assert [step.state for step in cluster.steps] == ["FAILED"]
