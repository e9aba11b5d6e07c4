"""The end of a build on EMR: what is left of the cluster and of its logs."""

from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from arclink.engines.emr import EmrRunner
from arclink.engines.engine import JobCall
from arclink.engines.hadoop import HadoopRunner
from arclink.errors import PipelineError
from arclink.mapreduce.runs import JOBS


class Bucket:
    """Files in S3, and the client of a cluster, as far as the end of a build needs them."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.ended: list[str] = []
        self.created: list[str] = []

    def path_of(self, url: str) -> str:
        return url.partition("://")[2]

    def create(self, path: str, data: bytes) -> bool:
        self.created.append(path)
        return True

    def remove(self, path: str) -> None:
        self.removed.append(path)

    def make_emr_client(self) -> "Bucket":
        return self

    def terminate_job_flows(self, JobFlowIds: list[str]) -> None:  # noqa: N803  boto's name
        self.ended += JobFlowIds


@pytest.mark.parametrize("fails", [False, True])
def test_the_logs_of_a_failed_job_are_kept(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = Bucket()

    def run_job(*_: Any) -> dict[str, int]:
        if fails:
            raise PipelineError("filter: a task failed")
        return {}

    monkeypatch.setattr(HadoopRunner, "run_job", run_job)
    monkeypatch.setattr(EmrRunner, "_client", lambda _: bucket)
    monkeypatch.setattr(EmrRunner, "_files", lambda _: bucket)
    runner = EmrRunner("emr", 2, tmp_path, root="s3a://bucket/work", started="j-1")
    said = "^filter: a task failed; EMR's logs: s3://bucket/work/build-.*/mrjob/$"
    folders = []

    def build() -> None:
        with runner.building("links.db", tmp_path / "links.db"), closing(runner):
            folders.append(runner.root.removeprefix("s3a://"))
            runner.run_job(JobCall(JOBS["filter"], [], "out"))

    with pytest.raises(PipelineError, match=said) if fails else nullcontext():
        build()
    assert bucket.ended == ["j-1"]
    assert bucket.removed == ([] if fails else [*folders, *bucket.created])
