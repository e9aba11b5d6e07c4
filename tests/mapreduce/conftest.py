"""Imports `arclink.mapreduce` before mrjob, even if one test file runs alone.

The package repairs what mrjob needs.
"""

import arclink.mapreduce  # noqa: F401
