"""Names of Hadoop's properties and of our Java classes (arclink/engines/java)."""

OF_HADOOP = "spark.hadoop."
"""Beginning of a property of Spark that sets one of Hadoop."""

REDUCES = "mapreduce.job.reduces"
"""The number of reduce tasks of a job."""

IN_ONE_CONTAINER = {
    "mapreduce.job.ubertask.enable": "true",
    "mapreduce.job.ubertask.maxbytes": str(1 << 30),
}
"""Properties of a job whose tasks run one after the other in its application master.

Hadoop does so if there are at most nine map tasks and one reduce task.
"""

MASTER_MEMORY, MASTER_OPTIONS = (
    "yarn.app.mapreduce.am.resource.mb",
    "yarn.app.mapreduce.am.command-opts",
)
"""The megabytes of an application master, and the options of its JVM."""

TASK_MEMORY = ("mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb")
"""The megabytes of map and reduce tasks."""

TASK_OPTIONS = "mapreduce.reduce.java.opts"
"""The options of the JVM of a reduce task."""

TAGS = "mapreduce.job.tags"
"""The words by which YARN finds applications; in lower case."""

LEAST_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
"""The minimum number of bytes of a file per map task."""

MOST_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"
"""The maximum number of bytes per map task."""

IGNORES_KEYS = "stream.map.input.ignoreKey"
"""Whether tasks get lines without their offsets, as from the usual input format."""

RELATIONS_APART = "arclink.RelationOutputFormat"
"""Class that writes each relation of a job to its own folder."""

LINES_APART = "arclink.LineRelationOutputFormat"
"""Class that does so for lines of bytes, on Spark."""

FOR_OBJECTS = {
    "mapred.output.committer.class": "arclink.ObjectCommitter",
    "fs.s3a.committer.name": "magic",
    "mapreduce.client.libjars.wildcard": "false",
}
"""Properties for files in an object store.

A task's files become objects when it is committed, and none is renamed. Jars are named one by one:
YARN compares the times of what it hands to tasks, and a folder of jars has none.

Source: https://hadoop.apache.org/docs/stable/hadoop-aws/tools/hadoop-aws/committers.html
"""
