"""The machinery around mrjob: base class of all jobs, runners for one machine, Hadoop and Spark.

Importing any module of this package first supplies what mrjob needs from newer Pythons
(`mrjob_compat`).
"""

from arclink.mapreduce import mrjob_compat

__all__ = ["mrjob_compat"]
