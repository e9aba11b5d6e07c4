"""mrjob's ``spark`` runner, with its harness replaced by `jobs.spark_harness`, and two of its faults mended.

* Steps whose jobconf differs from the first's were skipped, with exit code 0 and the output of an earlier step: the
  runner hands the harness a part of the list of steps, and the harness takes the same part of that part. It is given
  the whole list.
* With an output folder on one machine the job failed after having written it, because the folder above its counters was
  not there.
"""

import json
import os
from typing import Any

from mrjob.parse import is_uri
from mrjob.spark.runner import SparkMRJobRunner

from jobs.spark_counts import summed


class StreamedSparkRunner(SparkMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Run jobs on Spark without Hadoop streaming; reducers see their groups as streams."""

    alias = "spark"

    def _spark_harness_path(self) -> str:
        import jobs

        return os.path.join(os.path.dirname(jobs.__file__), "spark_harness.py")

    def _spark_script_args(self, step_num: int, last_step_num: int | None = None) -> list[str]:
        args: list[str] = super()._spark_script_args(step_num, last_step_num)
        if "--steps-desc" in args:
            args[args.index("--steps-desc") + 1] = json.dumps(self._get_steps())
        return args

    def _run_step_on_spark(self, step: dict[str, Any], step_num: int, last_step_num: int | None = None) -> None:
        folder = self._counter_output_dir(step_num)
        if not is_uri(folder):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
        super()._run_step_on_spark(step, step_num, last_step_num)
        self._counters[step_num:] = map(summed, self._counters[step_num:])
