"""Analyses of the whole graph: slices of it as matrices, and computations on them.

They need the extra ``analysis``: ``pip install 'arclink[analysis]'``.
"""
