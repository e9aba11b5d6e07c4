"""`arclink.mapreduce` is imported before mrjob, which it mends, whichever test file runs alone."""

import arclink.mapreduce  # noqa: F401
