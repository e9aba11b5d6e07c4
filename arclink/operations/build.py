"""Archive files, turned into a store."""

import re
import shutil
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arclink.access.declarations import (
    FROM,
    PATH,
    STORE,
    TEXT,
    TO,
    AnyParameter,
    Given,
    Parameter,
    field_parameter,
    switch,
)
from arclink.access.queries import prefixes_meant
from arclink.counts import Report
from arclink.errors import ArclinkError, UsageError
from arclink.extract.settings import ExtractSettings
from arclink.extras import analysis_extra
from arclink.filter.rules import DEFAULT_RULES, Rules
from arclink.mapreduce.runs import FAILED_TASK, ON_THIS_MACHINE
from arclink.operations.engine import ENGINE, RUNNER, runner_of
from arclink.operations.operation import (
    CORES,
    HERITRIX_OUTLINKS,
    INPUTS,
    LAZY,
    QUIET,
    SOURCES,
    Operation,
    Say,
    size,
    words_of,
)
from arclink.operations.tables import WITH_TEXT, read_texts_at
from arclink.pipeline.settings import BATCH_BYTES, BuildSettings, ShownProgress, usual_batch_bytes
from arclink.progress import display_for
from arclink.timestamps import TimestampError, first_of, last_of

if TYPE_CHECKING:
    from arclink.captures.texts import TextsRead
    from arclink.pipeline.build import BuildReport
    from arclink.pipeline.rebuild import PresentStore
    from arclink.store.protocols import StoreSums

# The options that select captures, shared by ``build`` and ``filter``.

_LARGEST = 16 << 20
"""Bytes of a rules file; more are not read, such as those of a device."""

RULES = Parameter(
    "rules",
    "JSON file of filter rules.",
    PATH,
    metavar="FILE",
    otherwise="HTML, feeds and sitemaps with status 200",
    see="reference/filter.md#rules",
    keeps_empty=True,
)
PREFIXES = Parameter(
    "prefix",
    "Only captures of this part of the web: *.example.org, http://example.org/news*, or a "
    "beginning of SURTs such as 'org,example)/'.",
    TEXT,
    is_list=True,
    metavar="PART",
    keeps_empty=True,
)
NO_REDIRECTS = switch("no-redirects", "Do not read redirects to learn their targets.")
SELECTION: tuple[AnyParameter, ...] = (RULES, PREFIXES, FROM, TO, NO_REDIRECTS)
"""The parameters that select captures."""

_UNWRAP = switch(
    "unwrap-wayback",
    "Treat captures of a Wayback Machine's pages as captures of the original pages.",
    "reference/fetching.md#unwrapped-captures",
)
_WAYBACK_PREFIXES = Parameter(
    "wayback-prefix",
    "With --unwrap-wayback: only pages below this prefix, such as web.archive.org/web.",
    TEXT,
    is_list=True,
    metavar="PREFIX",
    otherwise="any host",
    keeps_empty=True,
)
WAYBACK: tuple[AnyParameter, ...] = (_UNWRAP, _WAYBACK_PREFIXES)


def wayback_of(given: Given) -> tuple[str, ...] | None:
    """Return the value of `ExtractSettings.wayback` for the options.

    Raises:
        UsageError: A prefix is not the beginning of a URI with a host.
    """
    prefixes = _WAYBACK_PREFIXES.many(given)
    for prefix in prefixes:
        if not re.fullmatch(r"(?:https?://)?[^/?#\s]+(?:/[^?#\s]*)?", prefix.strip()):
            raise UsageError(
                f"--wayback-prefix {prefix!r}: not the beginning of a URI such as "
                "web.archive.org/web"
            )
    return prefixes if _UNWRAP.required(given) or prefixes else None


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise UsageError(
            f"--rules {path}: has more than {_LARGEST >> 20} MiB, so it is no file of rules"
        )
    return text


def rules_from(given: Given, default: Rules = DEFAULT_RULES) -> Rules:
    """Return the rules of a file, or the default rules, with the changes of the options.

    Args:
        given: The options.
        default: The rules without a file.

    Raises:
        UsageError: The file cannot be read, or a value is invalid.
    """
    rules, path = default, RULES.optional(given)
    if path:
        try:
            rules = Rules.from_json(_read(path))
        except OSError as error:
            raise UsageError(f"--rules {path}: cannot be read: {error.strerror}") from error
    rules = replace(
        rules,
        prefixes=tuple(
            prefix for text in PREFIXES.many(given) for prefix in prefixes_meant(text) or (text,)
        )
        or rules.prefixes,
        read_redirects=rules.read_redirects and not NO_REDIRECTS.required(given),
    )
    try:
        if first := given.text(FROM):
            rules = replace(rules, first=first_of(first))
        if last := given.text(TO):
            rules = replace(rules, last=last_of(last))
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    return rules


CDX = Parameter(
    "cdx",
    "CDX or CDXJ file, ZipNum index, WACZ or pywb collection.",
    PATH,
    is_list=True,
    metavar="FILE",
    otherwise="archives are indexed",
    see="reference/filter.md#rows",
    keeps_empty=True,
)
_BATCH_SIZE = field_parameter(
    BuildSettings,
    "batch_bytes",
    size("batch-size"),
    name="batch-size",
    metavar="SIZE",
    otherwise="4G; on an engine 25 GB per core, with a store in a file at most 64G",
    see="reference/settings.md#build",
)
_WORK = Parameter(
    "work",
    "Folder for files between the stages.",
    PATH,
    metavar="FOLDER",
    otherwise="next to the store, or the current folder for Cassandra",
)
_KEEP_GRAPH = Parameter(
    "keep-graph",
    "Folder that keeps the graph files of each batch, for `arclink backup`; files in HDFS or "
    "S3 stay there.",
    PATH,
    metavar="FOLDER",
    otherwise="they are removed",
    see="how-to/operations.md#backup-of-a-store-in-cassandra",
)
_REBUILD = switch(
    "rebuild",
    "Build a new store, and replace the present one when it is complete. Without INPUT, read the "
    "archive files that the store names. Settings that are not given are those of the store.",
    "how-to/build.md#rebuild-a-store",
)

_INPUTS = replace(INPUTS, is_required=False, metavar="[INPUT]...")
_OPTIONS: tuple[AnyParameter, ...] = (
    *SELECTION,
    *SOURCES,
    *WAYBACK,
    _BATCH_SIZE,
    *ENGINE,
    CORES,
    _WORK,
    _KEEP_GRAPH,
    WITH_TEXT,
)


@dataclass(frozen=True, slots=True)
class Built(Report):
    """A store to which archive files were added.

    Attributes:
        store: Its path or URL.
        report: What this build did: batches, counts by reason, damaged files.
        rules: The filter rules of this build.
        sums: Counts of the store.
        captures: Number of its captures before and now; before, None if a damaged store was
            replaced. None if the store does not count them.
        texts: What became of pages whose text was missing; None if none were looked for, because
            texts are not kept, or were read with the links.
    """

    store: str
    report: "BuildReport"
    rules: Rules
    sums: "StoreSums"
    captures: tuple[int | None, int] | None
    texts: "TextsRead | None"


def _run(given: Given, say: Say) -> Built:
    from arclink.analysis.relations.folder import have_texts
    from arclink.analysis.relations.state import keep_texts
    from arclink.pipeline.build import BuildReport, build, check_settings
    from arclink.pipeline.inputs import (
        FileMarks,
        describe,
        find_archives,
        leave_out_foreign,
        looked_at_by_tasks,
    )
    from arclink.pipeline.records_read import known_damage, leave_out_described
    from arclink.rows.cdx_files import find_cdx
    from arclink.store.archive_paths import ArchivePaths
    from arclink.store.layouts import check_present
    from arclink.store.location import (
        exists,
        identity_of,
        local_path_of,
        open_store,
        remove_if_empty,
        takedowns_path,
        work_folder,
    )
    from arclink.store.locks import only_build, only_change
    from arclink.store.takedown_files import take_back

    store, inputs, cdx = STORE.required(given), _INPUTS.many(given), CDX.many(given)
    is_quiet = QUIET.required(given)
    had_texts = have_texts(store)
    reads_texts = WITH_TEXT.required(given) or had_texts
    work = _WORK.optional(given)
    folder = Path(work) if work else work_folder(store)
    runner = _settings(given)
    run = runner_of(given, runner.cores, folder, local_path_of(store).name)
    if graph_folder := _KEEP_GRAPH.optional(given):
        run.kept = Path(graph_folder)
    with (
        only_build(local_path_of(store)),
        run.building(identity_of(store), local_path_of(store)),
        closing(run),
        ExitStack() as beginning,
    ):
        present = _present(given) if _REBUILD.required(given) else None
        settings = _settings(given, present.settings) if present else runner
        if not (inputs or present):
            raise UsageError("Missing argument 'INPUT...': name archive files or folders.")
        complete: frozenset[str] = frozenset()  # paths of files that no index shall name
        if present and not inputs:
            inputs = present.at_hand()
            if not cdx:
                cdx, complete = present.indexes_at_hand(), present.complete
        found, marks = find_archives(inputs), FileMarks()
        cdx_paths = find_cdx(cdx)
        looks = looked_at_by_tasks(found, run, folder / "look")
        paths, complaints = leave_out_foreign(found, marks, looks)
        for complaint in complaints:
            say(f"skipped: {complaint}")
        target = store
        change = partial(only_change, local_path_of(store))
        beginning.enter_context(change())
        if present:
            free = present.begin(describe(paths, {}, marks=marks), settings)
            target = str(present.new)
            if not is_quiet:
                say(present.announcement(free))
        is_new = not exists(target)
        progress = ShownProgress(display_for(is_quiet=is_quiet))
        report = BuildReport()
        keeps_texts = reads_texts and not run.is_on_engine
        # No other process changes the new store of a rebuild.
        loading = nullcontext if present else change
        try:
            with open_store(target, create=True) as opened:
                check_present(opened, target)
                take_back(opened, takedowns_path(target))
                beginning.close()
                check_settings(opened, settings, target)
                before = opened.known().captures
                known = {file.name: file for file in opened.files()}
                paths, described = leave_out_described(paths, known)
                for complaint in described:
                    say(f"skipped: {complaint}")
                files = describe(paths, known, known_damage(opened), marks)
                for some, index in (
                    ([file for file in files if file.path not in complete], cdx_paths),
                    ([file for file in files if file.path in complete], ()),
                ):
                    if some:
                        report.add(
                            build(
                                *(some, index, opened, settings, folder, progress, run, loading),
                                partial(keep_texts, target, opened) if reads_texts else None,
                            )
                        )
                after = opened.known().captures
        except ArclinkError:
            # No store is better than one that answers "not captured" to every query. The log of a
            # failed task is kept.
            if is_new and remove_if_empty(target):
                if not (folder / "tasks" / FAILED_TASK).exists():
                    shutil.rmtree(folder, ignore_errors=True)
                if present:
                    shutil.rmtree(present.new.parent, ignore_errors=True)
            raise
        with change():
            replaced = present.finish(report) if present else None
    captures = replaced or (None if before is None or after is None else (before, after))
    with open_store(store) as built:  # reopened: its size is that of the closed file
        texts = None
        # Those that engines left out, and those of a store that took the place of another one.
        if reads_texts and (present or not (keeps_texts and (is_new or had_texts))):
            addresses = built.tables_at() if run.is_on_engine and built.shared_url else ()
            texts = (
                read_texts_at(addresses[0], store, built, given)
                if addresses
                else _texts().read_texts(store, built, ArchivePaths())
            )
        return Built(store, report, settings.rules, built.sums(), captures, texts)


def _texts() -> Any:  # Any: a module
    """Return the module that reads texts."""
    with analysis_extra():
        from arclink.captures import texts
    return texts


def _present(given: Given) -> "PresentStore | None":
    """Return the store to replace; None if it does not exist yet.

    Raises:
        InputError: The input lacks archive files of the store.
        StoreError: It cannot be read, or is in Cassandra, where no store replaces another one.
    """
    from arclink.pipeline.rebuild import PresentStore, in_cassandra
    from arclink.store.location import exists, is_remote

    store = STORE.required(given)
    if not exists(store):
        return None
    if is_remote(store):
        in_cassandra(store, _INPUTS.many(given))
        return None
    options = words_of(given, _OPTIONS)
    return PresentStore.of(store, _INPUTS.many(given), [*words_of(given, (CDX,)), *options])


def _settings(given: Given, stored: BuildSettings | None = None) -> BuildSettings:
    """Return the settings of a build; those that were not given are those of a store."""
    from arclink.store.location import is_remote

    default = stored or BuildSettings()
    runner, wayback = RUNNER.required(given), wayback_of(given)
    cores = 1 if runner == "inline" else CORES.optional(given) or BuildSettings().cores
    usual = (
        BATCH_BYTES
        if runner in ON_THIS_MACHINE
        else usual_batch_bytes(cores, tasks_load=is_remote(STORE.required(given)))
    )
    return BuildSettings(
        rules=rules_from(given, default.rules),
        extract=ExtractSettings(
            lazy=LAZY.required(given) or default.extract.lazy,
            heritrix_outlinks=HERITRIX_OUTLINKS.required(given)
            or default.extract.heritrix_outlinks,
            wayback=default.extract.wayback if wayback is None else wayback,
        ),
        batch_bytes=_BATCH_SIZE.optional(given) or usual,
        runner=runner,
        cores=cores,
    )


BUILD = Operation((_INPUTS, STORE, CDX, *_OPTIONS, _REBUILD, QUIET), _run)
