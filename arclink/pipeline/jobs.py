"""The jobs of a build, and of its tables, by name.

A job's class is imported when the job runs, because importing mrjob takes 0.1 s.
"""

from arclink.mapreduce.runs import Job


def _look() -> type:
    from arclink.jobs.look_at_files import LookAtFiles

    return LookAtFiles


def _share() -> type:
    from arclink.jobs.share_rows import ShareRows

    return ShareRows


def _index() -> type:
    from arclink.jobs.index_archives import IndexArchives

    return IndexArchives


def _filter() -> type:
    from arclink.jobs.filter_captures import FilterCaptures

    return FilterCaptures


def _extract() -> type:
    from arclink.jobs.extract_links import ExtractLinks

    return ExtractLinks


def _find() -> type:
    from arclink.jobs.find_captures import FindCaptures

    return FindCaptures


def _awaited() -> type:
    from arclink.jobs.find_awaited import FindAwaited

    return FindAwaited


def _join() -> type:
    from arclink.jobs.join_contents import JoinContents

    return JoinContents


def _invert() -> type:
    from arclink.jobs.invert_links import InvertLinks

    return InvertLinks


def _load() -> type:
    from arclink.jobs.load_graph import LoadGraph

    return LoadGraph


def _tables() -> type:
    from arclink.jobs.write_tables import WriteTables

    return WriteTables


JOBS = {
    job.name: job
    for job in (
        Job("look", _look),
        Job("share", _share),
        Job("index", _index),
        Job("filter", _filter),
        Job("extract", _extract),
        Job("find", _find),
        Job("awaited", _awaited),
        Job("join", _join),
        Job("invert", _invert),
        Job("load", _load),
        Job("tables", _tables),
    )
}
"""Every job that a command runs, by the name used in messages and counts."""
