"""mrjob's ``emr`` runner, changed to read the counters of a job.

mrjob reads them from logs that EMR copies to S3, and waits ten minutes for each. Here, a step of
EMR copies what Hadoop prints about its job to S3 before it ends.
"""

from typing import Any

from mrjob.emr import EMRJobRunner
from mrjob.logs.step import _parse_step_syslog

LOGGED = (
    'log=$(mktemp); HADOOP_ROOT_LOGGER=INFO,console "$@" > "$log" 2>&1; status=$?; '
    'cat "$log" >&2; hadoop fs -put -f "$log" "$0"; exit $status'
)
"""Bash script of a step: runs the command in its arguments, and writes what that prints to the
address ``$0``.
"""

PRINTED = "hadoop.txt"
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
        return f"{self._cloud_tmp_dir}{PRINTED}"
