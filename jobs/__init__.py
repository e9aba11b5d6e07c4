"""The MapReduce jobs: one class per file, one thin shell each around functions of `arclink`.

Importing any of them mends mrjob's surroundings first (`jobs.compat`).
"""

from jobs import compat

__all__ = ["compat"]
