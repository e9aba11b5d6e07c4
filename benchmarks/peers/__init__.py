"""The programs that ArcLink is compared with.

Each runs in a process of its own, in the environment of requirements/benchmarks.txt or in Java.
"""
