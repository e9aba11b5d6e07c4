"""Tests of jobs: `jobs` is imported before mrjob, which it mends for newer Pythons, whichever file is run alone."""

import jobs  # noqa: F401
