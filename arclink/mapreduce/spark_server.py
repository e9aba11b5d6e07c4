"""Program of a Spark application that runs one job after the other.

`arclink.mapreduce.spark_application` starts it with ``spark-submit`` and sends it jobs over a Unix
socket, one line of JSON each: the arguments of mrjob's harness, and the Hadoop properties of this
job. The program says at once that it takes the job, with an empty line, so that it is known not to
have ended. The answer is one line as well: the error, or null. Counters are in the folder that the
arguments name.

The end of the connection ends the application, even in the middle of a job: the process at its
other end may have been killed.
"""

import gc
import json
import os
import socket
import sys
import traceback
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from arclink.mapreduce.spark_harness import run

GRACE = 1
"""Seconds that the end of a job may take after its answer."""


def main(address: str) -> None:
    """Run the jobs that arrive at a socket."""
    import pyspark

    with socket.socket(socket.AF_UNIX) as connection, ThreadPoolExecutor(1) as thread:
        connection.connect(address)
        context = pyspark.SparkContext()
        pyspark.SparkContext = lambda: context  # for the harness
        running: list[Future[None]] = []
        for request in connection.makefile("rb"):
            if _has_stopped(context):  # between two jobs, for example by YARN
                os._exit(1)
            connection.sendall(b"\n")
            # Spark's own thread, so that this one sees when the connection ends.
            running = [thread.submit(_answer, connection, context, json.loads(request))]
        if wait(running, GRACE).not_done:
            os._exit(1)
        context.stop()


def _answer(
    connection: socket.socket, context: Any, job: dict[str, Any]
) -> None:  # Any: Spark's Java objects have no types
    error = None
    try:
        _run(context, job)
    except BaseException:  # includes the SystemExit of an argument parser
        error = traceback.format_exc()
    with suppress(Exception):  # there may be no JVM any more
        _forget(context)
    connection.sendall(json.dumps({"error": error}).encode() + b"\n")


def _has_stopped(context: Any) -> bool:  # Any: as above
    """Return whether no job can run in a context."""
    try:
        return bool(context._jsc.sc().isStopped())
    except Exception:  # there is no JVM any more
        return True


def _run(context: Any, job: dict[str, Any]) -> None:  # Any: as above
    """Run a job, with properties that end with it."""
    properties = context._jsc.hadoopConfiguration()
    for name, value in job["properties"].items():
        properties.set(name, value)
    try:
        run(job["arguments"])
    finally:
        for name in job["properties"]:
            properties.unset(name)


def _forget(context: Any) -> None:  # Any: as above
    """Release what a job leaves: counts in this process, files of shuffles on all workers.

    pyspark keeps all accumulators, because late tasks may still add to them: these are emptied.
    Spark removes the files of a shuffle when its own objects for it are collected, which takes up
    to half an hour without a request.
    """
    from pyspark import accumulators

    for accumulator in accumulators._accumulatorRegistry.values():
        accumulator.value = {}
    gc.collect()
    context._jvm.System.gc()


if __name__ == "__main__":
    main(*sys.argv[1:])
