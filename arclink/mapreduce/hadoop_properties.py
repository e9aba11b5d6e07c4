"""Names of Hadoop's properties that jobs and their runners set."""

REDUCES = "mapreduce.job.reduces"
"""Number of reduce tasks of a job."""

LEAST_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
"""Minimum number of bytes of a file per map task."""

MOST_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"
"""Maximum number of bytes per map task."""

IGNORES_PLACES = "stream.map.input.ignoreKey"
"""Whether tasks get lines without their places, as from the usual input format."""
