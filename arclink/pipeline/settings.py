"""Settings of a build: rules, limits, runner, batch size.

The settings that shape the graph are stored with it, so that a later build can check that it uses
the same ones. The progress of a build, as its user sees it, is below.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

import orjson

from arclink.counts import Counts
from arclink.extract.settings import ExtractSettings
from arclink.filter.rules import PLAIN_TEXT, Rules
from arclink.model import Forgotten, Surt
from arclink.progress import Display, clock
from arclink.reasons import Reason
from arclink.store.layouts import (
    EXTRACTOR,
    EXTRACTOR_SETTING,
    KEYS,
    KEYS_SETTING,
    HasSettings,
    setting_of,
)
from arclink.uris.surts import wide_cdx_prefixes

# Progress of a build for its user: stage, rate and time left, in one line.

SHARES = {"index": 0.1, "filter": 0.05, "extract": 0.4, "join": 0.25, "invert": 0.05, "load": 0.15}
"""Approximate share of a batch's time per stage; used for the remaining time only."""


class Progress(Protocol):
    """Receives the events of a build. Every method returns immediately."""

    def begin(self, batches: int, size: int) -> None:
        """The build begins, with its number of batches and bytes of archive files."""

    def stage(self, batch: int, size: int, name: str) -> None:
        """A stage of a batch of ``size`` bytes begins; its name is a key of `SHARES`."""

    def tasks(self, done: int, total: int) -> None:
        """``done`` of the ``total`` tasks of the stage are finished."""

    def counts(self, counts: Counts) -> None:
        """A stage of the batch has ended with these counts."""

    def stored(self) -> None:
        """The batch is in the store."""

    def end(self) -> None:
        """The build has ended, with or without an error."""


class ShownProgress:
    """Keeps the state of a build, and describes it in one line of a display."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._started = time.monotonic()
        self._batches = self._batch = 0
        self._size = self._batch_size = self._stored = 0
        self._stage = ""
        self._stages_over = 0.0
        self._tasks = (0, 0)
        self._counts: Counts = Counts()

    def begin(self, batches: int, size: int) -> None:
        self._started = time.monotonic()
        self._batches, self._size = batches, size

    def stage(self, batch: int, size: int, name: str) -> None:
        self._stages_over += SHARES.get(self._stage, 0.0)
        self._batch, self._batch_size, self._stage, self._tasks = batch, size, name, (0, 0)
        self._show(is_news=True)

    def tasks(self, done: int, total: int) -> None:
        self._tasks = (done, total)
        self._show(is_news=False)

    def counts(self, counts: Counts) -> None:
        self._counts += counts

    def stored(self) -> None:
        self._stored += self._batch_size
        self._batch_size, self._stages_over, self._stage, self._tasks = 0, 0.0, "stored", (0, 0)
        self._show(is_news=True)

    def end(self) -> None:
        self._display.close()

    def _show(self, *, is_news: bool) -> None:
        self._display.show(self.line, is_news=is_news)

    def line(self) -> str:
        """Return one line: batch, stage, captures, links, rate, elapsed and remaining time."""
        passed = max(time.monotonic() - self._started, 0.001)
        done, total = self._tasks
        parts = [
            f"batch {self._batch}/{self._batches}",
            self._stage + (f" {done}/{total}" if total else ""),
        ]
        if captures := self._counts[Reason.ROW_KEPT]:
            parts.append(f"{captures:,} captures")
        if links := self._counts[Reason.LINK_KEPT]:
            parts.append(f"{links:,} links")
        share = self._stages_over + SHARES.get(self._stage, 0.0) * (done / total if total else 0.0)
        read = self._stored + self._batch_size * share
        if read:
            parts.append(f"{read / passed / 1e6:,.1f} MB/s")
        parts.append(f"{clock(passed)} passed")
        if read and self._stored < self._size:
            parts.append(f"about {clock(passed * (self._size - read) / read)} left")
        return " · ".join(parts)


WAYBACK_SETTING = "unwrapped wayback"
"""Store setting that unwraps pages of a Wayback Machine to their originals; its value is JSON."""

_RULES_SETTING = "rules"
_LAZY_SETTING = "lazy links"
_OUTLINKS_SETTING = "heritrix outlinks"
"""Store setting that adds the links which the crawler recorded."""

BATCH_BYTES = 4 << 30
"""Archive bytes per batch on one machine, and the least on an engine, if not given."""

_BATCH_OF_CORE = 25 * 10**9
"""Archive bytes per batch and core of an engine, if not given.

The starts of the jobs and tasks of a batch take 2.5 minutes on Hadoop. With captures of 100 kB, the
rest of the work takes ten times as long at this size, and with smaller captures longer
(docs/decisions/20261128-batches-by-work.md; `arclink plan` shows the starts).
"""

_BATCH_OF_DRIVER = 64 << 30
"""Most archive bytes per batch for a store that the driver loads, if not given.

The driver keeps 300 bytes per payload of a batch in memory: 0.4 GB for captures of 20 kB.
"""


def usual_batch_bytes(cores: int, *, tasks_load: bool = True) -> int:
    """Return the archive bytes of a batch on an engine with this number of cores, if not given.

    Args:
        cores: Cores of the engine.
        tasks_load: Whether tasks load the store, as they do with Cassandra.

    >>> usual_batch_bytes(800), usual_batch_bytes(800, tasks_load=False) == 64 << 30
    (20000000000000, True)
    """
    most = cores * _BATCH_OF_CORE
    return max(BATCH_BYTES, most if tasks_load else min(most, _BATCH_OF_DRIVER))


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

    @classmethod
    def from_store(cls, store: HasSettings) -> "BuildSettings":
        """Return the settings that a store was built with, of those that a user can choose."""
        wayback = orjson.loads(setting_of(store, WAYBACK_SETTING) or "null")
        return cls(
            rules=_rules_in(setting_of(store, _RULES_SETTING)),
            extract=ExtractSettings(
                lazy=setting_of(store, _LAZY_SETTING) == "yes",
                heritrix_outlinks=setting_of(store, _OUTLINKS_SETTING) == "on",
                wayback=None if wayback is None else tuple(wayback),
            ),
        )

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
        """Return the settings of the jobs that read pages, and perhaps plain text."""
        rules = self.rules
        if self.extract.plain and rules.mimes:
            rules = replace(rules, mimes=(*rules.mimes, PLAIN_TEXT))
        return {"rules": rules.to_json(), "extract": asdict(self.extract)}

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
        del limits["plain"], limits["texts"]
        return {
            EXTRACTOR_SETTING: EXTRACTOR,
            KEYS_SETTING: KEYS,
            _RULES_SETTING: _stored(self.rules),
            _LAZY_SETTING: "yes" if lazy else "no",
            "limits": " ".join(f"{name}={limits[name]}" for name in sorted(limits)),
            _OUTLINKS_SETTING: "on" if adds_recorded else "off",
            WAYBACK_SETTING: orjson.dumps(None if wayback is None else sorted(wayback)).decode(),
        }


def settings_of_store(store: HasSettings, settings: BuildSettings) -> BuildSettings:
    """Return settings that read pages as the builds of a store did.

    Args:
        store: The store.
        settings: Gives what a store does not record.
    """
    found = BuildSettings.from_store(store).extract
    recorded = dict(part.split("=") for part in (store.setting("limits") or "").split())
    names = recorded.keys() & {"payload_bytes", "links", "text"}
    limits = {name: int(recorded[name]) for name in names}
    return replace(settings, extract=replace(found, **limits))  # type: ignore[arg-type]


def _rules_in(text: str | None) -> Rules:
    """Return the rules that `_stored` wrote; the default rules if it wrote none."""
    if text is None:
        return Rules()
    left_out = {"mime_before_extension": False, "attachments": True}
    return Rules.from_json(orjson.dumps({**left_out, **orjson.loads(text)}))


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
