"""mrjob's ``spark`` runner with the harness `arclink.mapreduce.spark_harness` and two bugs fixed.

* mrjob skips steps whose jobconf differs from that of the first step. It then ends with exit code 0
  and the output of an earlier step, because both its runner and its harness cut the list of steps.
  Here the harness gets the whole list.
* With an output folder on one machine, the job failed after writing its output, because the parent
  folder of its counters did not exist.
"""

import json
import os
from typing import Any

from mrjob.parse import is_uri
from mrjob.spark.runner import SparkMRJobRunner

from arclink.mapreduce.spark_counts import summed


class StreamedSparkRunner(SparkMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs on Spark without Hadoop streaming; reducers read their groups as streams."""

    alias = "spark"

    def _spark_harness_path(self) -> str:
        return os.path.join(os.path.dirname(__file__), "spark_harness.py")

    def _spark_script_args(self, step_num: int, last_step_num: int | None = None) -> list[str]:
        args: list[str] = super()._spark_script_args(step_num, last_step_num)
        if "--steps-desc" in args:
            args[args.index("--steps-desc") + 1] = json.dumps(self._get_steps())
        return args

    def _run_step_on_spark(
        self, step: dict[str, Any], step_num: int, last_step_num: int | None = None
    ) -> None:
        folder = self._counter_output_dir(step_num)
        if not is_uri(folder):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
        super()._run_step_on_spark(step, step_num, last_step_num)
        self._counters[step_num:] = map(summed, self._counters[step_num:])
