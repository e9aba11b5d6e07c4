"""Jobs on Amazon EMR: each is a step of a cluster, and files between the stages are in S3."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arclink.counts import Counts
from arclink.errors import PipelineError
from arclink.mapreduce.hadoop import MRJOB, HadoopRunner
from arclink.mapreduce.runs import Job


@dataclass(slots=True)
class EmrRunner(HadoopRunner):
    """Runs jobs on a cluster at EMR.

    It is the cluster that the settings name (``cluster_id``), or one that the first job starts and
    `close` ends.

    Attributes:
        started: Id of the cluster that a job has started; empty before, and if the settings name
            one.
        has_failed: Whether a job failed: then the scripts and logs of mrjob are kept.
    """

    started: str = ""
    has_failed: bool = False

    def run_job(
        self,
        job: Job,
        inputs: Sequence[str],
        output: str,
        settings: Mapping[str, object],
        options: Sequence[str],
    ) -> Counts:
        """Run a job as `HadoopRunner` does; the error of a failed one says where its logs are."""
        try:
            return HadoopRunner.run_job(self, job, inputs, output, settings, options)
        except PipelineError as error:
            self.has_failed = True
            raise PipelineError(f"{error}; EMR's logs: {self._scripts()}") from error

    def close(self) -> None:
        """End the cluster that a job has started."""
        if self.started:
            self._client().make_emr_client().terminate_job_flows(JobFlowIds=[self.started])
            self.started = ""

    @property
    def keeps_files(self) -> bool:
        """Whether scripts and logs are kept: a job failed."""
        return self.has_failed

    def end_jobs(self, folder: str) -> None:
        """Do nothing: a cluster that this build started ends with it, and its jobs end, too."""

    def places(self) -> list[str]:
        """Return mrjob's options for its scripts and for the cluster, which is started first."""
        if not self.started:
            client = self._client()
            if not client.get_cluster_id():
                self.started = client.make_persistent_cluster()
        options = ["--cloud-tmp-dir", self._scripts()]
        return [*options, "--cluster-id", self.started] if self.started else options

    def _scripts(self) -> str:
        """Return the folder for scripts and logs, under the name that EMR itself has for S3."""
        return f"s3://{self._files().path_of(self.root)}/{MRJOB}/"

    def _client(self) -> Any:  # Any: mrjob has no types
        """Return mrjob's client of EMR, with the settings of the engine."""
        from arclink.mapreduce.emr_runner import LoggedEmrRunner

        return LoggedEmrRunner(conf_paths=[str(self.conf)], cloud_tmp_dir=self._scripts())
