"""Whom ArcLink is measured against.

Each runs as a process of its own, in the environment of requirements/benchmarks.txt or in Java.
"""
