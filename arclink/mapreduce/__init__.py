"""How jobs run: their base class, and what runs them on this machine.

Importing any module of this package first supplies what mrjob needs from newer Pythons
(`mrjob_compat`).
"""

from arclink.mapreduce import mrjob_compat

__all__ = ["mrjob_compat"]
