"""Jobs on Hadoop, which also has the files between the stages."""

import os
from dataclasses import dataclass
from typing import Any

from arclink.mapreduce.engine import EngineRunner
from arclink.mapreduce.properties import IGNORES_PLACES, LEAST_SPLIT, MOST_SPLIT, REDUCES
from arclink.mapreduce.runs import JobRunner
from arclink.network.hdfs import AUTHORITY
from arclink.network.object_store import is_object_store

COMBINED = "org.apache.hadoop.mapred.lib.CombineTextInputFormat"
"""Java class that gives one map task several small files."""

USUAL_BLOCK = 128 << 20
"""Bytes of a block in HDFS, unless a cluster has other settings."""

MOST_PARTS = 2048
"""Greatest number of reduce tasks; a store in Cassandra loads at most this number of parts."""

MRJOB = "mrjob"
"""Folder of a build in an object store for mrjob's scripts and settings."""


@dataclass(slots=True)
class HadoopRunner(EngineRunner):
    """Runs jobs on Hadoop."""

    def variables(self) -> list[str]:
        """Return the options for variables and files of tasks, and for mrjob's own files."""
        options = [*EngineRunner.variables(self), *self.places()]
        if authority := os.environ.get(AUTHORITY):  # workers need not have the file
            name = "webhdfs-ca.pem"
            options += ["--files", f"{authority}#{name}", "--cmdenv", f"{AUTHORITY}={name}"]
        return options

    def adapt(self, run: Any) -> None:  # Any: mrjob has no types
        """Set the numbers of tasks, unless the settings of the engine do.

        Hadoop's own defaults are one reduce task, whatever the amount of data, and a map task for
        each file, however small it is.
        """
        JobRunner.adapt(self, run)
        properties = run._opts["jobconf"]
        properties.setdefault(REDUCES, str(min(self.cores, MOST_PARTS)))
        if LEAST_SPLIT not in properties:  # else each file is one task
            run._hadoop_input_format = COMBINED
            properties[IGNORES_PLACES] = "true"
            properties.setdefault(MOST_SPLIT, str(USUAL_BLOCK))
        for name, value in self.committing().items():
            properties.setdefault(name, value)

    def places(self) -> list[str]:
        """Return mrjob's options for the place of its scripts, and for the cluster."""
        return ["--hadoop-tmp-dir", f"{self.root}/{MRJOB}"] if is_object_store(self.root) else []
