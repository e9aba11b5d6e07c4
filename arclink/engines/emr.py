"""Jobs on Amazon EMR: each is a step of a cluster, and files between the stages are in S3.

mrjob's ``emr`` runner is changed to read the counters of a job. mrjob reads them from logs that EMR
copies to S3, and waits ten minutes for each. Here, a step of EMR copies what Hadoop prints about
its job to S3 before it ends.
"""

import arclink.mapreduce  # noqa: F401  # before mrjob: it supplies what newer Pythons lack

# isort: split
from dataclasses import dataclass
from typing import Any

from mrjob.emr import EMRJobRunner
from mrjob.logs.step import _parse_step_syslog

from arclink.counts import Counts
from arclink.engines.engine import JobCall
from arclink.engines.hadoop import MRJOB, HadoopRunner
from arclink.errors import PipelineError

LOGGED = (
    'log=$(mktemp); HADOOP_ROOT_LOGGER=INFO,console "$@" > "$log" 2>&1; status=$?; '
    'cat "$log" >&2; hadoop fs -put -f "$log" "$0"; exit $status'
)
"""Bash script of a step: runs the command in its arguments, and writes what that prints to the
address ``$0``.
"""

_PRINTED = "hadoop.txt"
"""Name of the file with what Hadoop prints about a job, in the folder of the job's scripts."""


class LoggedEmrRunner(EMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs through Hadoop streaming, as steps of a cluster at EMR."""

    alias = "emr"

    def _streaming_step_hadoop_jar_step(self, step_num: int) -> dict[str, Any]:  # Any: boto3's
        step: dict[str, Any] = super()._streaming_step_hadoop_jar_step(step_num)
        return step | {"Args": ["bash", "-c", LOGGED, self._address(), *step["Args"]]}

    def _log_counters(self, log_interpretation: dict[str, Any], step_num: int) -> None:
        """Add what Hadoop printed about its job, which has the counters."""
        lines = self._printed().splitlines(keepends=True)
        log_interpretation["step"] = _parse_step_syslog(lines)

    def _pick_error(self, log_interpretation: dict[str, Any], step_type: str) -> dict[str, Any]:
        """Return all that Hadoop printed: the error of a task can be anywhere in it."""
        return {"hadoop_error": {"message": self._printed()}}

    def _printed(self) -> str:
        return b"".join(self.fs.cat(self._address())).decode(errors="replace")

    def _address(self) -> str:
        return f"{self._cloud_tmp_dir}{_PRINTED}"


@dataclass
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

    def run_job(self, call: JobCall) -> Counts:
        """Run a job as `HadoopRunner` does; the error of a failed one says where its logs are."""
        try:
            return super().run_job(call)
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

    def cluster_options(self) -> list[str]:
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
        return LoggedEmrRunner(conf_paths=[str(self.conf)], cloud_tmp_dir=self._scripts())
