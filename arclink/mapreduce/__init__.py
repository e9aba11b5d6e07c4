"""How jobs run: their base class, and runners for one machine, Hadoop, EMR and Spark.

Importing any module of this package first supplies what mrjob needs from newer Pythons
(`mrjob_compat`).
"""

from arclink.mapreduce import mrjob_compat

__all__ = ["mrjob_compat"]
