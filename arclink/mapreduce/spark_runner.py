"""mrjob's ``spark`` runner with the harness `arclink.mapreduce.spark_harness` and two bugs fixed.

* mrjob skips steps whose jobconf differs from that of the first step. It then ends with exit code 0
  and the output of an earlier step, because both its runner and its harness cut the list of steps.
  Here the harness gets the whole list.
* With an output folder on one machine, the job failed after writing its output, because the parent
  folder of its counters did not exist.

With an `application`, the runner sends its job there, and does not start one.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mrjob.bin import MRJobBinRunner
from mrjob.logs.spark import _parse_spark_log
from mrjob.parse import is_uri
from mrjob.spark.runner import SparkMRJobRunner

from arclink.mapreduce.properties import OF_HADOOP, OF_ONE_JOB
from arclink.mapreduce.spark_application import SparkApplication, SparkJob
from arclink.mapreduce.spark_counts import summed


class StreamedSparkRunner(SparkMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs on Spark without Hadoop streaming; reducers read their groups as streams.

    Attributes:
        application: Runs the steps; None if each step is an application of its own.
    """

    alias = "spark"
    application: SparkApplication | None = None

    def use(self, application: SparkApplication) -> None:
        """Run the steps in an application, unless its driver would be on another machine."""
        if self._spark_deploy_mode() != "cluster":
            self.application = application

    def _spark_harness_path(self) -> str:
        return os.path.join(os.path.dirname(__file__), "spark_harness.py")

    def _job_script_module_name(self) -> str:
        """Return the module of the job: mrjob's copy of it, or the installed one."""
        if self.application:
            return str(self._mrjob_cls.__module__)
        return str(super()._job_script_module_name())

    def _py_files(self) -> list[str]:
        """Return the modules to copy to the executors, without the job if it is installed there."""
        modules: list[str] = (
            MRJobBinRunner._py_files(self) if self.application else super()._py_files()
        )
        return modules

    def _counter_output_dir(self, step_num: int) -> str:
        """Return the folder for counters; an application's driver is on this machine."""
        if self.application:
            return os.path.join(self._get_local_tmp_dir(), f"counters-{step_num}")
        return str(super()._counter_output_dir(step_num))

    def _run_spark_submit(
        self,
        arguments: list[str],
        environment: Mapping[str, str],
        record_callback: Callable[[Any], None],
    ) -> tuple[int, dict[str, Any]]:  # Any: records are mrjob's
        """Run a step; return an exit code, and what its log says."""
        if self.application is None:
            done: tuple[int, dict[str, Any]] = super()._run_spark_submit(
                arguments, environment, record_callback
            )
            return done
        program = arguments.index(self._spark_harness_path())
        submit, properties = divided(arguments[:program], self._script_path)
        job = SparkJob(arguments[program + 1 :], properties)
        error = self.application.run(submit, environment, job)
        if error is None:
            return 0, {}
        with self.application.log.open("rb") as log:
            found = _parse_spark_log(log, record_callback)
        described = {"message": error, "num_lines": len(error.splitlines())}
        found["errors"] = [{"spark_error": described}, *found.get("errors", ())]
        return 1, found

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


def divided(submit: Sequence[str], script: str) -> tuple[list[str], dict[str, str]]:
    """Return the part of a ``spark-submit`` command that jobs share, and properties of this job.

    Properties that Spark does not read are left out, and so is the script of the job.

    >>> name = "mapreduce.input.fileinputformat.split.minsize"
    >>> confs = ["--conf", f"spark.hadoop.{name}=9", "--conf", "spark.speculation=false"]
    >>> submit, properties = divided(["spark-submit", *confs, "--files", "job.py"], "job.py")
    >>> submit, properties[name]
    (['spark-submit', '--conf', 'spark.speculation=false'], '9')
    """
    shared: list[str] = []
    properties = {}
    words = iter(submit)
    for word in words:
        if word == "--conf":
            name, _, value = (setting := next(words)).partition("=")
            if name.removeprefix(OF_HADOOP) in OF_ONE_JOB:
                properties[name.removeprefix(OF_HADOOP)] = value
            elif name.startswith("spark."):
                shared += [word, setting]
        elif word == "--files":
            if files := [file for file in next(words).split(",") if file != script]:
                shared += [word, ",".join(files)]
        else:
            shared.append(word)
    return shared, properties
