"""The job gives the ranks of `pagerank`, on every runner of one machine."""

from pathlib import Path

import pytest

from arclink.analysis.matrices.slices import Level
from arclink.jobs.rank_pages import RankPages
from tests.jobs.ranks import assert_near, options_of, ranked, ranks_in


@pytest.mark.parametrize(
    ("runner", "level", "by"),
    [
        ("inline", Level.URI, "month"),
        ("inline", Level.DOMAIN, "2009,20091103/2010-01"),
        pytest.param("local", Level.URI, "month", marks=pytest.mark.long),
    ],
)
def test_the_job_ranks_as_the_analysis_does(
    runner: str, level: Level, by: str, tmp_path: Path
) -> None:
    parts, expected = ranked(level, by, tmp_path)
    job = RankPages(["-r", runner, "--no-conf", *options_of(level, by), *parts])
    job.options.bootstrap_mrjob = False
    with job.make_runner() as run:
        run.run()
        found = ranks_in(b"".join(run.cat_output()).splitlines())
    assert_near(found, expected)
    assert len(found) > 30 or level is Level.DOMAIN
