"""What the whole graph tells: slices of it as matrices, and what is computed from them.

Needs the extra ``analysis``: ``pip install 'arclink[analysis]'``.
"""
