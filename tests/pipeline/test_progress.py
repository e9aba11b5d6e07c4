"""The progress that a build shows to its user."""

import io
from collections import Counter

import pytest

from arclink.pipeline.settings import SHARES, ShownProgress
from arclink.progress import PlainLines
from arclink.reasons import Reason


def test_the_shares_of_the_stages_add_up_to_one() -> None:
    assert sum(SHARES.values()) == pytest.approx(1.0)


def test_lines_say_batch_stage_captures_links_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = ShownProgress(PlainLines(stream))
    progress.begin(2, 20_000_000)
    for batch in (1, 2):
        for name in SHARES:
            progress.stage(batch, 10_000_000, name)
            progress.tasks(1, 2)
            now[0] += 10
            progress.counts(
                Counter({Reason.ROW_KEPT: 500, Reason.LINK_KEPT: 4000} if name == "filter" else {})
            )
        progress.stored()
    progress.end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "batch 1/2 · index · 0:00 passed"
    assert lines[2] == (
        "batch 1/2 · extract · 500 captures · 4,000 links · 0.1 MB/s · 0:20 passed · about "
        "4:06 left"
    )
    assert lines[6] == (
        "batch 1/2 · stored · 500 captures · 4,000 links · 0.2 MB/s · 1:00 passed · about 1:00 left"
    )
    assert lines[-1] == "batch 2/2 · stored · 1,000 captures · 8,000 links · 0.2 MB/s · 2:00 passed"


def test_a_long_stage_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = ShownProgress(PlainLines(stream))
    progress.begin(1, 100)
    progress.stage(1, 100, "extract")
    for done in range(8):
        now[0] += 10
        progress.tasks(done, 8)
    assert [line.split(" · ")[1] for line in stream.getvalue().splitlines()] == [
        "extract",
        "extract 3/8",
        "extract 7/8",
    ]
