"""mrjob's ``emr`` runner, changed to read the counters of a job.

mrjob reads them from logs that EMR copies to S3, and waits ten minutes for each. Here, a step of
EMR copies what Hadoop says of its job to S3 before it ends.
"""

from collections.abc import Iterator
from typing import Any

from mrjob.emr import EMRJobRunner
from mrjob.logs.step import _parse_step_syslog

LOGGED = (
    'said=$(mktemp); HADOOP_ROOT_LOGGER=INFO,console "$@" > "$said" 2>&1; status=$?; '
    'cat "$said" >&2; hadoop fs -put -f "$said" "$0"; exit $status'
)
"""Bash script of a step: runs the command in its arguments, and writes what that says to the
address ``$0``.
"""

SAID = "said.txt"
"""Name of the file with what Hadoop says of a job, in the folder of the job's scripts."""


class LoggedEmrRunner(EMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs through Hadoop streaming, as steps of a cluster at EMR."""

    alias = "emr"

    def _streaming_step_hadoop_jar_step(self, step_num: int) -> dict[str, Any]:  # Any: boto3's
        step: dict[str, Any] = super()._streaming_step_hadoop_jar_step(step_num)
        return step | {"Args": ["bash", "-c", LOGGED, self._said(), *step["Args"]]}

    def _log_counters(self, log_interpretation: dict[str, Any], step_num: int) -> None:
        """Add what Hadoop said of its job: counters, and errors of its tasks."""
        log_interpretation["step"] = _parse_step_syslog(self._lines_said())

    def _lines_said(self) -> Iterator[str]:
        said = b"".join(self.fs.cat(self._said()))
        return iter(said.decode(errors="replace").splitlines(keepends=True))

    def _said(self) -> str:
        return f"{self._cloud_tmp_dir}{SAID}"
