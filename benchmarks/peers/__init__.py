"""Whom ArcLink is measured against.

Each runs as a process of its own, in the environment of benchmarks/requirements.txt or in Java.
"""
