"""What a build is told: rules, limits, runner, size of a batch. What shapes the graph is stored with it."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from arclink.extract.extracting import ExtractSettings
from arclink.filter.rules import Rules
from arclink.model import Forgotten

EXTRACTOR_VERSION = "2"
"""Raised whenever the same payload would give other links than before."""

OUTLINKS_SETTING = "heritrix outlinks"
"""What a store calls the setting that adds links which the crawler recorded."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Settings of one build.

    Attributes:
        forgotten: What the store was told to forget: never a row of the graph. It is no setting of the store, which has its own record.
        batch_bytes: Archive bytes that go through all stages together.
        runner: ``local`` (all cores) or ``inline`` (one process).
        cores: Tasks at a time.
    """

    rules: Rules = field(default_factory=Rules)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    forgotten: tuple[Forgotten, ...] = ()
    batch_bytes: int = 4 << 30
    runner: str = "local"
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    def for_jobs(self) -> Mapping[str, object]:
        """Return what the jobs' ``--settings`` hold."""
        forgotten = [[what.prefix, what.span.first, what.span.last] for what in self.forgotten]
        return {"rules": self.rules.to_json(), "extract": asdict(self.extract), "forgotten": forgotten}

    def for_store(self) -> dict[str, str]:
        """Return what decides which graph comes out: a store holds one answer to each."""
        limits = asdict(self.extract)
        lazy = limits.pop("lazy")
        adds_recorded = limits.pop("heritrix_outlinks")
        return {
            "extractor version": EXTRACTOR_VERSION,
            "rules": self.rules.to_json(),
            "lazy links": "yes" if lazy else "no",
            "limits": " ".join(f"{name}={limits[name]}" for name in sorted(limits)),
            OUTLINKS_SETTING: "on" if adds_recorded else "off",
        }
