"""Settings of a build: rules, limits, runner, batch size.

The settings that shape the graph are stored with it, so that a later build can check that it uses
the same ones.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import orjson

from arclink.extract.settings import ExtractSettings
from arclink.filter.rules import Rules
from arclink.model import Forgotten, Surt
from arclink.shares import BYTES_OF_CORE
from arclink.store.key_rules import FIRST_RULES, KEYS_SETTING
from arclink.uris.surts import KEY_RULES, wide_cdx_prefixes

_EXTRACTOR_VERSION = "4"
"""Increased whenever the same payload would give other links than before."""

WAYBACK_SETTING = "unwrapped wayback"
"""Store setting that unwraps pages of a Wayback Machine to their originals; its value is JSON."""

OF_OLDER_STORES = {WAYBACK_SETTING: "null", KEYS_SETTING: FIRST_RULES}
"""Values of settings that older stores do not record, as these stores were built."""

_OUTLINKS_SETTING = "heritrix outlinks"
"""Store setting that adds the links which the crawler recorded."""

BATCH_BYTES = 4 << 30
"""Least archive bytes per batch, if not given; on an engine, `BYTES_OF_CORE` per core may be more.
"""


def usual_batch_bytes(cores: int) -> int:
    """Return the archive bytes of a batch on an engine with this number of cores, if not given.

    >>> usual_batch_bytes(8) == BATCH_BYTES, usual_batch_bytes(800)
    (True, 200000000000)
    """
    return max(BATCH_BYTES, cores * BYTES_OF_CORE)


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Settings of one build.

    Attributes:
        forgotten: Takedowns of the store; no row of the graph may match them. The store records
            them separately, not as a setting.
        batch_bytes: Archive bytes per batch; a batch goes through all stages at once.
        runner: ``local`` (all cores) or ``inline`` (one process).
        cores: Tasks at a time.
    """

    rules: Rules = field(default_factory=Rules)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    forgotten: tuple[Forgotten, ...] = ()
    batch_bytes: int = BATCH_BYTES
    runner: str = "local"
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    def key_prefixes(self) -> tuple[str, ...]:
        """Return the SURT prefixes of the CDX rows to read.

        Empty if any key may match: keys of wrapped URIs do not begin with the prefix of their
        original.
        """
        return (
            wide_cdx_prefixes(map(Surt, self.rules.prefixes))
            if self.extract.wayback is None
            else ()
        )

    def for_jobs(self) -> Mapping[str, object]:
        """Return the settings of the jobs that read pages."""
        return {"rules": self.rules.to_json(), "extract": asdict(self.extract)}

    def for_filter(self) -> Mapping[str, object]:
        """Return the settings of the job that chooses pages."""
        forgotten = [[what.prefix, what.span.first, what.span.last] for what in self.forgotten]
        return {**self.for_jobs(), "forgotten": forgotten}

    def for_store(self) -> dict[str, str]:
        """Return the settings that shape the graph, as a store records them: one value per name."""
        limits = asdict(self.extract)
        lazy = limits.pop("lazy")
        adds_recorded = limits.pop("heritrix_outlinks")
        wayback = limits.pop("wayback")
        return {
            "extractor version": _EXTRACTOR_VERSION,
            KEYS_SETTING: KEY_RULES,
            "rules": _stored(self.rules),
            "lazy links": "yes" if lazy else "no",
            "limits": " ".join(f"{name}={limits[name]}" for name in sorted(limits)),
            _OUTLINKS_SETTING: "on" if adds_recorded else "off",
            WAYBACK_SETTING: orjson.dumps(None if wayback is None else sorted(wayback)).decode(),
        }


def _stored(rules: Rules) -> str:
    """Return rules in the form that a store records.

    `Rules.mime_before_extension` is left out where it is off, and `Rules.attachments` where it is
    on, because older stores do not have them.
    """
    values = orjson.loads(rules.to_json())
    if not rules.mime_before_extension:
        del values["mime_before_extension"]
    if rules.attachments:
        del values["attachments"]
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()
